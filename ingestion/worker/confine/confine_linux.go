package confine

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// Reader confines a process that reads documents. It takes the rights away and starts the program again, because Landlock binds
// the calling thread and what it executes, and the runtime and the libraries have other threads by now. It returns only if
// that failed, with the level that was reached.
func Reader(t Task, errs io.Writer) string {
	grants := []grant{{"/dev/null", unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE}}
	for _, path := range t.Reads {
		grants = append(grants, grant{path, readRights})
	}
	return startAgain(t, limit(t.Memory, t.CPU), grants, errs)
}

// startAgain starts this program again with nothing but these grants and what the program itself needs.
func startAgain(t Task, limits error, grants []grant, errs io.Writer) string {
	level := extract.ConfinedLimits
	if limits != nil {
		fmt.Fprintln(errs, "resource limits:", limits)
		level = extract.ConfinedNot
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(errs, "find this program:", err)
		return level
	}
	for _, path := range append([]string{self}, libraries...) {
		grants = append(grants, grant{path, readRights})
	}
	abi, err := landlock(t.Newest, grants)
	if err != nil {
		fmt.Fprintln(errs, "landlock:", err)
		return level
	}
	args := append([]string{self}, t.Again(landlocked(level, abi, t.Isolated))...)
	// This thread is confined whatever happens, so the process must end if it cannot start again.
	fmt.Fprintln(errs, "start again:", syscall.Exec(self, args, os.Environ())) //nolint:gosec // this very program
	os.Exit(extract.ExitBroken)
	return ""
}

// landlocked returns the level that is reached with Landlock.
func landlocked(level string, abi int, isolated bool) string {
	switch {
	case level != extract.ConfinedLimits:
		return level
	case abi >= tcpABI || isolated:
		return extract.ConfinedLandlock
	}
	return extract.ConfinedFiles
}

// DropCalls forbids the system calls that reading a document does not need, and returns the level reached with that. Call it
// after the libraries are loaded and standard output is claimed: what follows needs fewer calls.
func DropCalls(level string, errs io.Writer) string { return without(level, filterCalls, errs) }

// DropOfficeCalls forbids the system calls that reach networks, other processes and the kernel, for this process and for
// LibreOffice, which it starts.
func DropOfficeCalls(level string, errs io.Writer) string {
	return without(level, filterOfficeCalls, errs)
}

func without(level string, filter func() error, errs io.Writer) string {
	if err := filter(); err != nil {
		fmt.Fprintln(errs, "seccomp:", err)
		return level
	}
	switch level {
	case extract.ConfinedLandlock, extract.ConfinedFiles:
		return extract.ConfinedFull // no sockets: no network, however old Landlock is
	case extract.ConfinedLimits:
		return extract.ConfinedCalls
	}
	return level
}

// limit limits memory, processor time, files and core dumps. RLIMIT_AS would not work: the libraries reserve far more than they
// use.
func limit(memory int64, cpu time.Duration) error {
	// When memory runs out, the system ends this process and not the daemon, which starts another one.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // without /proc, the system chooses
	return setLimits(memory, cpu, map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 64, unix.RLIMIT_FSIZE: 0})
}

// setLimits sets these limits, and those of memory and processor time where they are positive.
func setLimits(memory int64, cpu time.Duration, limits map[int]uint64) error {
	if memory > 0 {
		limits[unix.RLIMIT_DATA] = uint64(memory)
	}
	if cpu > 0 {
		limits[unix.RLIMIT_CPU] = uint64(cpu.Seconds())
	}
	for resource, most := range limits {
		l := unix.Rlimit{Cur: most, Max: most}
		if resource == unix.RLIMIT_CPU {
			l.Max += 5 // seconds from the signal to the kill
		}
		if err := unix.Setrlimit(resource, &l); err != nil {
			return fmt.Errorf("set limit %d to %d: %w", resource, most, err)
		}
	}
	return nil
}

// WatchTime ends the process with its own exit code when its processor time is used up.
func WatchTime(errs io.Writer) {
	spent := make(chan os.Signal, 1)
	signal.Notify(spent, unix.SIGXCPU)
	go func() {
		<-spent
		fmt.Fprintln(errs, "the allowed processor time is used up")
		os.Exit(extract.ExitSpent)
	}()
}

// libraries is where the dynamic linker looks.
var libraries = []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/nix/store", hugePages}

// hugePages is where the C library finds out whether it may ask for huge pages (GLIBC_TUNABLES in package sandbox).
const hugePages = "/sys/kernel/mm/transparent_hugepage"
