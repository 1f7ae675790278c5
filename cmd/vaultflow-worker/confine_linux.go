package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// confine takes rights away and starts the program anew: Landlock binds the calling thread and what it executes, and the
// runtime and the libraries have started threads already. It returns only when that was not possible, with the level
// that was reached.
func confine(o options, errs io.Writer) string {
	level := extract.ConfinedLimits
	if err := limit(o.memory, o.cpu); err != nil {
		fmt.Fprintln(errs, "resource limits:", err)
		level = extract.ConfinedNot
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(errs, "find this program:", err)
		return level
	}
	abi, err := landlock(o.newest, workerGrants(self, o))
	if err != nil {
		fmt.Fprintln(errs, "landlock:", err)
		return level
	}
	level = landlocked(level, abi, o.isolated)
	args := []string{self, "-serve", "-memory=" + strconv.FormatInt(o.memory, 10), "-tessdata=" + o.tessdata, "-pdfium-cache=" + o.cache, "-confined=" + level}
	if o.require {
		args = append(args, "-require-confinement")
	}
	// The thread is bound now whatever happens: it must go.
	fmt.Fprintln(errs, "start anew:", syscall.Exec(self, args, os.Environ())) //nolint:gosec // this very program
	os.Exit(exitBroken)
	return ""
}

// landlocked is the level that Landlock brings.
func landlocked(level string, abi int, isolated bool) string {
	switch {
	case level != extract.ConfinedLimits:
		return level
	case abi >= tcpABI || isolated:
		return extract.ConfinedLandlock
	}
	return extract.ConfinedFiles
}

// withoutCalls gives up system calls, those that reading a document does not take, and says which level is reached with
// that. The libraries are loaded and standard output is claimed already; what comes later takes fewer calls.
func withoutCalls(level string, filter func() error, errs io.Writer) string {
	if err := filter(); err != nil {
		fmt.Fprintln(errs, "seccomp:", err)
		return level
	}
	switch level {
	case extract.ConfinedLandlock, extract.ConfinedFiles:
		return extract.ConfinedFull // no sockets: the network is out of reach however old Landlock is
	case extract.ConfinedLimits:
		return extract.ConfinedCalls
	}
	return level
}

// limit bounds memory, processor time, files and traces. RLIMIT_AS would not do: the libraries reserve far more than they
// use.
func limit(memory int64, cpu time.Duration) error {
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

// watchTime ends the process with its own exit code when its processor time is used up.
func watchTime(errs io.Writer) {
	spent := make(chan os.Signal, 1)
	signal.Notify(spent, unix.SIGXCPU)
	go func() {
		<-spent
		fmt.Fprintln(errs, "the processor time that is allowed was used up")
		os.Exit(exitSpent)
	}()
}

// claimStdout keeps the frames to themselves: what a library prints goes to standard error.
func claimStdout() (*os.File, error) {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 10)
	if err != nil {
		return nil, fmt.Errorf("copy standard output: %w", err)
	}
	if err := unix.Dup3(2, 1, 0); err != nil {
		return nil, fmt.Errorf("turn standard output: %w", err)
	}
	return os.NewFile(uintptr(fd), "frames"), nil
}

// documentBytes maps the document: its pages are no private memory, and are read when they are needed.
func documentBytes(fd uintptr) ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(fd), &st); err != nil {
		return nil, fmt.Errorf("look at the document: %w", err)
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size <= 0:
		return nil, errors.New("it is empty or no file")
	case st.Size > maxDocument:
		return nil, tooLarge(st.Size)
	}
	data, err := unix.Mmap(int(fd), 0, int(st.Size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", st.Size, err)
	}
	return data, nil
}

// libraries are where the dynamic linker looks.
var libraries = []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/nix/store"}

// needed lists what the program reads when it starts and when it recognises text.
func needed(self, tessdata string) []string {
	paths := append([]string{self}, libraries...)
	if tessdata != "" {
		paths = append(paths, tessdata)
		if real, err := filepath.EvalSymlinks(tessdata); err == nil && real != tessdata {
			paths = append(paths, real)
		}
	}
	return paths
}
