package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

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
	ctx, cancel := context.WithTimeout(ctx, warmTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-warm", "-pdfium-cache="+c.Cache)
	cmd.Env, cmd.Dir, cmd.WaitDelay = c.env, "/", reapDelay
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make machine code of PDFium: %w: %s", err, firstLine(string(out)))
	}
	return os.WriteFile(ready, nil, 0o600)
}
