//go:build unix && !linux

package disk

import (
	"context"
	"os"
	"os/exec"
	"time"
)

// lsofTime is the most that lsof may take. A file system that does not answer must not stop the watcher.
const lsofTime = 5 * time.Second

// writersOf asks lsof, which macOS has and most other systems can have. It sees the programs of other users only as root, so
// that its silence proves nothing for others.
func writersOf(file *os.File) writers {
	path, err := exec.LookPath("lsof")
	if err != nil {
		return writers{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), lsofTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "-w", "-n", "-P", "-F", "pcan", "--", file.Name()).Output()
	if ctx.Err() != nil {
		return writers{}
	}
	by := lsofWriter(string(out), os.Getpid())
	return writers{open: by != "", by: by, sure: os.Geteuid() == 0 && (err == nil || len(out) == 0)}
}
