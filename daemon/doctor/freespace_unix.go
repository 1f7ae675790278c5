//go:build linux || darwin

package doctor

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// freeSpace returns how many bytes can be written to the file system of a folder, which need not exist yet.
func freeSpace(dir string) (free int64, known bool) {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
