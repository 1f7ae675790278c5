//go:build unix

package state

import (
	"io/fs"
	"os"
	"syscall"
)

// planted reports whether a file belongs to somebody who may not speak for this state directory: neither this user, nor the
// directory's owner, nor root.
func planted(dir string, info fs.FileInfo) bool {
	file, known := info.Sys().(*syscall.Stat_t)
	if !known || file.Uid == 0 || int(file.Uid) == os.Geteuid() {
		return false
	}
	folder, err := os.Stat(dir)
	if err != nil {
		return true
	}
	owner, known := folder.Sys().(*syscall.Stat_t)
	return known && owner.Uid != file.Uid
}
