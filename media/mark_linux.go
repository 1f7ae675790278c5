package media

import (
	"io/fs"
	"syscall"
)

// markOf returns the mark of a file, or false if the file system does not tell.
func markOf(info fs.FileInfo) (mark, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return mark{}, false
	}
	return mark{st.Size, st.Mtim.Nano(), st.Ctim.Nano(), int64(st.Ino)}, st.Ino != 0
}
