package sandbox

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the processor time that a process has taken, or false if it is not known.
func processorTime(pid int) (time.Duration, bool) {
	const ofProcess = 2 // CPUCLOCK_SCHED; the other bits of the clock's number are those of the process
	var t unix.Timespec
	if err := unix.ClockGettime(^int32(pid)<<3|ofProcess, &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
