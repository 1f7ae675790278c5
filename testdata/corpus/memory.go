package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// memory holds the peaks of resident memory in bytes, as Linux counts them. Elsewhere they stay 0.
type memory struct {
	daemon   atomic.Int64 // of the daemon, since it started
	worker   atomic.Int64 // of a worker, since the last call of reset
	together atomic.Int64 // of the daemon and all workers at one moment
}

// watch samples every 50 ms until the daemon is gone. The kernel keeps each process's peak, so only memory that a worker
// takes in its last 50 ms is missed.
func (m *memory) watch(daemon int, gone <-chan struct{}) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-gone:
			return
		case <-ticker.C:
			peak, now := resident(daemon)
			raise(&m.daemon, peak)
			for _, pid := range workers(daemon) {
				peak, rss := resident(pid)
				raise(&m.worker, peak)
				now += rss
			}
			raise(&m.together, now)
		}
	}
}

// reset returns the workers' peak and starts a new one.
func (m *memory) reset() int64 { return m.worker.Swap(0) }

func raise(to *atomic.Int64, v int64) {
	for {
		old := to.Load()
		if v <= old || to.CompareAndSwap(old, v) {
			return
		}
	}
}

// workers lists the daemon's worker processes, without forked copies of the daemon that have not become workers yet.
func workers(daemon int) []int {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", daemon))
	if err != nil {
		return nil
	}
	var found []int
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			continue // the thread ended
		}
		for field := range strings.FieldsSeq(string(data)) {
			name, err := os.ReadFile("/proc/" + field + "/comm")
			if pid, bad := strconv.Atoi(field); err == nil && bad == nil && strings.HasPrefix(string(name), "vaultflow-work") {
				found = append(found, pid)
			}
		}
	}
	return found
}

// resident returns a process's peak and present memory in bytes, or 0 if it is gone.
func resident(pid int) (peak, now int64) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(line, ":")
		if key != "VmHWM" && key != "VmRSS" {
			continue
		}
		kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
		if err != nil {
			continue
		}
		if key == "VmHWM" {
			peak = kb << 10
		} else {
			now = kb << 10
		}
	}
	return peak, now
}
