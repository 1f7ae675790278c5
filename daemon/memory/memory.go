// Package memory finds how much memory vaultflow may use, and divides it between the daemon and its workers.
package memory

import (
	"bufio"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// Found is what the system allows.
type Found struct {
	Bytes int64  // 0: unknown
	From  string // where that was read
}

// Find reads the limits of this process's control groups, of both versions, and the memory of the machine. system is the root of the
// file system. The lowest value counts. Of a machine, a quarter is left to others; of a control group, almost nothing.
func Find(system fs.FS) Found {
	best := Found{}
	take := func(bytes int64, from string) {
		if bytes > 0 && (best.Bytes == 0 || bytes < best.Bytes) {
			best = Found{bytes, from}
		}
	}
	if total := machine(system); total > 0 {
		take(total/4*3, "three quarters of the machine's memory")
	}
	for _, name := range limits(system) {
		if n, ok := number(system, name); ok {
			take(n/16*15, "/"+name)
		}
	}
	return best
}

// machine returns the machine's memory, or 0.
func machine(system fs.FS) int64 {
	f, err := system.Open("proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "MemTotal:"); ok {
			kB, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				return 0
			}
			return kB << 10
		}
	}
	return 0
}

// limits lists the files that may limit this process: those of its group and of the groups above. A container often shows its own
// group as the root, so that the root is always among them.
func limits(system fs.FS) []string {
	data, err := fs.ReadFile(system, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	var names []string
	add := func(mount, group string, files ...string) {
		for dir := path.Join("/", group); ; dir = path.Dir(dir) {
			for _, file := range files {
				names = append(names, strings.TrimPrefix(path.Join(mount, dir, file), "/"))
			}
			if dir == "/" {
				return
			}
		}
	}
	for line := range strings.Lines(string(data)) { // number:controllers:group
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, found := strings.Cut(rest, ":")
		switch {
		case !found:
		case controllers == "":
			add("sys/fs/cgroup", group, "memory.max", "memory.high")
			add("sys/fs/cgroup/unified", group, "memory.max", "memory.high")
		case strings.Contains(","+controllers+",", ",memory,"):
			add("sys/fs/cgroup/memory", group, "memory.limit_in_bytes")
		}
	}
	return names
}

// number reads a limit. Version 2 writes "max" for none, version 1 a number near the largest.
func number(system fs.FS, name string) (int64, bool) {
	data, err := fs.ReadFile(system, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return n, err == nil && n > 0 && n < math.MaxInt64/4096*1024
}

// Share is how the memory is divided.
type Share struct {
	Daemon  int64 // the Go runtime's soft limit
	Worker  int64 // the hard limit of one worker
	Workers int   // at once
}

const (
	leastDaemon = 96 << 20  // the daemon with its database, at rest
	leastWorker = 384 << 20 // with less, a worker cannot read a large page: what it reserves counts, and not only what it uses
	usualWorker = 512 << 20 // enough for almost all pages
)

// Split divides memory: a quarter is the daemon's, the rest is for workers, at least two if there is room for them. Their limits
// together are no more than the rest, unless not even one has room. More than two for each processor would only wait for each other. No
// worker gets more than most.
func Split(bytes, most int64, processors int) Share {
	useful := int64(max(2, 2*processors))
	if bytes <= 0 {
		return Share{Daemon: math.MaxInt64, Worker: most, Workers: int(useful)}
	}
	s := Share{Daemon: max(leastDaemon, min(bytes/4, bytes-leastWorker))}
	rest := max(bytes-s.Daemon, leastWorker)
	workers := min(useful, max(1, min(2, rest/leastWorker), rest/min(most, usualWorker)))
	s.Workers, s.Worker = int(workers), min(most, rest/workers)
	return s
}
