//go:build unix && !linux

package state

import (
	"fmt"
	"os"
	"syscall"
)

// FolderID identifies a folder by its device and inode. It returns "" for a missing folder.
func FolderID(path string) string {
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
