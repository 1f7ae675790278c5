//go:build unix

package pdf

import (
	"syscall"
	"time"
)

// used returns the processor time that this process has taken. Unlike the time of day, it is the same on a busy machine.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano())
}
