package daemon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// officePrograms is where LibreOffice lies when PATH does not say so.
var officePrograms = []string{
	"/usr/lib/libreoffice/program/soffice", "/usr/lib64/libreoffice/program/soffice", "/opt/libreoffice*/program/soffice",
	"/Applications/LibreOffice.app/Contents/MacOS/soffice",
}

// findOffice returns the path of LibreOffice's program: the setting's, or the one that is installed; empty when it is off or
// there is none. The error is about a path that was set.
func findOffice(setting string) (string, error) {
	switch setting {
	case "off":
		return "", nil
	case "auto", "":
	default:
		path, err := exec.LookPath(setting)
		if err != nil {
			return "", fmt.Errorf("ingestion.office.libreoffice: %w", err)
		}
		return path, nil
	}
	for _, name := range []string{"soffice", "libreoffice"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	for _, pattern := range officePrograms {
		found, err := filepath.Glob(pattern)
		if err == nil && len(found) > 0 {
			return slices.Max(found), nil // the newest of several
		}
	}
	return "", nil
}

// libreOffice is LibreOffice as the settings have it. It implements ingestion.Office.
type libreOffice struct {
	vault *disk.Vault
	by    sandbox.Office
}

// LibreOffice finds LibreOffice. It returns nil if there is none to use.
func (w *Workers) LibreOffice() (*libreOffice, error) {
	in := w.settings.Ingestion
	path, err := findOffice(in.Office.LibreOffice)
	if err != nil || path == "" {
		return nil, err
	}
	return &libreOffice{w.vault, sandbox.Office{
		Program: path, Worker: w.path(), Dir: w.officeDir(), Timeout: in.Office.Timeout.Std(), MaxPages: in.Office.MaxPages,
		RequireConfinement: in.RequireConfinement, Logger: w.log,
	}}, nil
}

// officeDir is where LibreOffice works.
func (w *Workers) officeDir() string { return filepath.Join(w.stateDir, "office") }

// importOffice is LibreOffice for imports: none when it cannot be found, which `doctor` tells.
func (w *Workers) importOffice() ingestion.Office {
	office, err := w.LibreOffice()
	if err != nil {
		w.log.Warn("libreoffice not used", "err", err)
	}
	if office == nil {
		return nil
	}
	return office
}

// Program returns the path of LibreOffice's program.
func (l *libreOffice) Program() string { return l.by.Program }

// Start starts LibreOffice and returns its version.
func (l *libreOffice) Start(ctx context.Context) (string, error) { return l.by.Version(ctx) }

// Convert implements ingestion.Office.
func (l *libreOffice) Convert(ctx context.Context, name, from, to string) ([]byte, error) {
	f, err := l.vault.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return l.by.Convert(ctx, f, from, to)
}

// MaxPages implements ingestion.Office.
func (l *libreOffice) MaxPages() int { return l.by.MaxPages }

// Version implements ingestion.Office. LibreOffice is asked once for each state in which its program's file is.
func (l *libreOffice) Version(ctx context.Context) string {
	info, err := os.Stat(l.by.Program)
	if err != nil {
		return ""
	}
	key := fmt.Sprint(l.by.Program, info.Size(), info.ModTime())
	if known, ok := officeVersions.Load(key); ok {
		return known.(string) //nolint:forcetypeassert // stored below
	}
	version, err := l.by.Version(ctx)
	if err != nil {
		return ""
	}
	officeVersions.Store(key, version)
	return version
}

var officeVersions sync.Map // by program, size and time
