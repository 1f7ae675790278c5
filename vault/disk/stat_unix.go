//go:build unix

package disk

import (
	"io/fs"
	"os"
	"syscall"
)

// nonblock keeps an open from waiting for the other end of a pipe.
const nonblock = syscall.O_NONBLOCK

// inode identifies the file behind a name, 0 when the system does not tell.
func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

// keepOwner sets a file's owner to that of the file it replaces. Only root may, and nobody else needs it.
func keepOwner(file *os.File, like fs.FileInfo) {
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return
	}
	_ = file.Chown(int(want.Uid), int(want.Gid)) // best effort: the content matters more
}

// noLinks reports whether an error means that this file system, or these permissions, allow no hard link.
func noLinks(err error) bool {
	return isErrno(err, syscall.EPERM, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EMLINK, syscall.EACCES, syscall.EINVAL)
}

// crossDevice reports whether an error means that two names are on different file systems.
func crossDevice(err error) bool { return isErrno(err, syscall.EXDEV) }
