//go:build unix && !linux

package trust

import (
	"fmt"
	"os"
	"syscall"
)

// folderOf identifies a folder by its device and inode. It returns "" for a missing folder.
func folderOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", s.Dev, s.Ino)
}
