//go:build !linux

package sandbox

import "time"

// processorTime returns the processor time that a process has taken. It is known on Linux alone.
func processorTime(int) (time.Duration, bool) { return 0, false }

// groupTime returns the processor time of a group of processes, likewise.
func groupTime(int) (time.Duration, bool) { return 0, false }
