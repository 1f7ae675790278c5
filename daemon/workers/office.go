package workers

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

// officePrograms are the usual places of LibreOffice outside PATH.
var officePrograms = []string{
	"/usr/lib/libreoffice/program/soffice", "/usr/lib64/libreoffice/program/soffice", "/opt/libreoffice*/program/soffice",
	"/Applications/LibreOffice.app/Contents/MacOS/soffice",
}

// findOffice returns the path of LibreOffice's program: the configured one, or else an installed one. It returns "" if
// LibreOffice is off or not installed, and an error if the configured one does not exist.
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

// LibreOffice converts documents of the vault as the settings say.
type LibreOffice struct {
	vault *disk.Vault
	by    sandbox.Office
}

var _ ingestion.Office = (*LibreOffice)(nil)

// LibreOffice finds LibreOffice. It returns nil if there is none to use.
func (w *Starter) LibreOffice() (*LibreOffice, error) {
	in := w.settings.Ingestion
	path, err := findOffice(in.Office.LibreOffice)
	if err != nil || path == "" {
		return nil, err
	}
	return &LibreOffice{w.vault, sandbox.Office{
		Program: path, Worker: w.path(), Dir: w.officeDir(), Timeout: in.Office.Timeout.Std(), MaxPages: in.Office.MaxPages,
		RequireConfinement: in.RequireConfinement, Logger: w.log,
	}}, nil
}

// officeDir returns LibreOffice's working folder.
func (w *Starter) officeDir() string { return filepath.Join(w.stateDir, "office") }

// Sweep removes what killed processes left in LibreOffice's working folder.
func (w *Starter) Sweep() { sandbox.Office{Dir: w.officeDir()}.Sweep() }

// Office returns LibreOffice for imports. If it cannot be used it returns nil, and why, with what to do.
func (w *Starter) Office(untrusted bool) (ingestion.Office, string) {
	office, err := w.LibreOffice()
	switch {
	case untrusted:
		return nil, "LibreOffice is not started, because this vault is not trusted yet: run vaultflow trust"
	case err != nil:
		w.log.Warn("libreoffice not used", "err", err)
		return nil, err.Error() + ": correct this setting, or set it to auto"
	case w.settings.Ingestion.Office.LibreOffice == "off":
		return nil, "LibreOffice is switched off: set ingestion.office.libreoffice to auto"
	case office == nil:
		return nil, "LibreOffice is not installed: install it (Debian: libreoffice-writer, libreoffice-calc and libreoffice-impress)"
	}
	return office, ""
}

// Program returns the path of LibreOffice's program.
func (l *LibreOffice) Program() string { return l.by.Program }

// Lacks returns the packages of LibreOffice that are not installed beside others.
func (l *LibreOffice) Lacks() []string { return l.by.Lacks() }

// Start starts LibreOffice and returns its version.
func (l *LibreOffice) Start(ctx context.Context) (string, error) { return l.by.Version(ctx) }

// Convert implements ingestion.Office.
func (l *LibreOffice) Convert(ctx context.Context, name, from, to string) ([]byte, error) {
	f, err := l.vault.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return l.by.Convert(ctx, f, from, to)
}

// MaxPages implements ingestion.Office.
func (l *LibreOffice) MaxPages() int { return l.by.MaxPages }

// Version implements ingestion.Office. It starts LibreOffice once for each version of its program file.
func (l *LibreOffice) Version(ctx context.Context) string {
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
