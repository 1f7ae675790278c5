package disk

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// born asks for the birth time of an open file, which not every file system keeps.
func born(file *os.File) (t time.Time, ok bool) {
	var st unix.Statx_t
	err := unix.Statx(int(file.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 || st.Btime.Sec <= 0 {
		return time.Time{}, false
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)), true
}
