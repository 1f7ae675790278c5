package state

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// FolderID identifies a folder by its device, its inode and, because inode numbers are reused, its creation time if the file
// system has it. It returns "" for a missing folder.
func FolderID(path string) string {
	var s unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &s) != nil {
		return ""
	}
	born := ""
	if s.Mask&unix.STATX_BTIME != 0 {
		born = fmt.Sprintf("@%d.%09d", s.Btime.Sec, s.Btime.Nsec)
	}
	return fmt.Sprintf("%d.%d:%d%s", s.Dev_major, s.Dev_minor, s.Ino, born)
}
