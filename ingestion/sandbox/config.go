// Package sandbox starts document workers and talks to them: one process for one document, without environment, in a
// process group of its own, killed when it takes too long.
//
// It trusts nothing that a worker says beyond what package extract checks, and turns every way in which a worker can die
// into an [extract.Error]. It reads no document itself and writes none.
package sandbox

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"time"
)

// Config names the worker and its limits. It is a value: many goroutines may use copies.
type Config struct {
	Worker             string        // path of the program
	Tessdata           string        // folder of language data; empty: the worker looks where systems put it
	Cache              string        // folder of machine code that the worker may read; see Warm. Empty: none
	PageTimeout        time.Duration // of the processor, for one request; 0 = 20 s. A request with recognition gets three times that
	OpenTimeout        time.Duration // of the processor, to start and to open the document; 0 = 20 s each
	MemoryBytes        int64         // most memory of the process; 0 = 1.5 GiB
	RequireConfinement bool          // no worker below extract.ConfinedFull
	Logger             *slog.Logger  // nil: nothing is logged

	env      []string // of a fake worker in tests
	patience int      // 0 = 6; see limit
}

func (c Config) withDefaults() Config {
	if c.PageTimeout <= 0 {
		c.PageTimeout = 20 * time.Second
	}
	if c.OpenTimeout <= 0 {
		c.OpenTimeout = 20 * time.Second
	}
	if c.patience == 0 {
		c.patience = 6
	}
	if c.MemoryBytes <= 0 {
		c.MemoryBytes = 1536 << 20
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// sameAs reports whether a worker of one config can do what one of the other can. The logs may differ.
func (c Config) sameAs(o Config) bool {
	c.Logger, o.Logger = nil, nil
	return reflect.DeepEqual(c, o)
}

// warmTime is the most that making PDFium's machine code may take. It takes seconds; a loaded machine takes longer.
const warmTime = 2 * time.Minute

// Warm fills the folder Cache with the machine code of PDFium, once for each build of the worker, so that workers that need
// it start it in 0.1 s and not in seconds. It runs the worker without a document and without confinement, before there
// is anything to mistrust; workers with a document may only read the folder. Nothing is done without a Cache. Workers go
// without when this fails.
func (c Config) Warm(ctx context.Context) error {
	if c.Cache == "" {
		return nil
	}
	path, err := exec.LookPath(c.Worker)
	if err != nil {
		return missing(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return missing(err)
	}
	ready := filepath.Join(c.Cache, fmt.Sprintf("%d-%d.ready", info.Size(), info.ModTime().UnixNano()))
	if _, err := os.Stat(ready); err == nil {
		return nil
	}
	if err := os.MkdirAll(c.Cache, 0o700); err != nil {
		return fmt.Errorf("make the folder of machine code: %w", err)
	}
	c = c.withDefaults()
	c.Logger.Info("PDFium is compiled for this machine, once for each build of the worker; the first PDF waits for it", "at_most", warmTime)
	ctx, cancel := context.WithTimeout(ctx, warmTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-warm", "-pdfium-cache="+c.Cache)
	cmd.Env, cmd.Dir, cmd.WaitDelay = c.env, "/", reapDelay
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make machine code of PDFium: %w: %s", err, firstLine(string(out)))
	}
	return os.WriteFile(ready, nil, 0o600)
}
