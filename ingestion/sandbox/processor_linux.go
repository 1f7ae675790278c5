package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
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

// ticks is how many units of /proc's times there are in a second (USER_HZ), on all systems that Go supports.
const ticks = 100

// groupTime returns the processor time that the processes of a group have taken, ended ones included if one of the group waited for them.
func groupTime(group int) (total time.Duration, known bool) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, false
	}
	for _, name := range stats {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:]) // from the third field on: the name before may hold spaces
		if len(fields) < 15 || string(fields[2]) != strconv.Itoa(group) {
			continue
		}
		known = true
		for _, field := range fields[11:15] { // user and system time, its own and that of its ended children
			n, err := strconv.ParseInt(string(field), 10, 64)
			if err != nil {
				return 0, false
			}
			total += time.Duration(n) * time.Second / ticks
		}
	}
	return total, known
}
