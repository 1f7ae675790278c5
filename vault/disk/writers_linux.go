package disk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// writersOf asks for a lease. Where there is none to be had (the file is somebody else's, the file system knows no leases)
// it looks at what the programs have open that this one may look at.
func writersOf(file *os.File) writers {
	free, known := lease(file)
	if known && free {
		return writers{sure: true}
	}
	by := writerIn("/proc", file)
	return writers{open: known || by != "", by: by, sure: known}
}

// lease reports whether nobody has a file open for writing, if the kernel says so: it refuses a lease for reading as long
// as somebody has. The lease is given back at once. Whoever opens the file within these microseconds waits for that long,
// and the kernel's word of it comes as SIGURG, which Go's runtime ignores.
func lease(file *os.File) (free, known bool) {
	raw, err := file.SyscallConn()
	if err != nil {
		return false, false
	}
	err = errors.Join(raw.Control(func(fd uintptr) {
		if _, err := unix.FcntlInt(fd, unix.F_SETSIG, int(unix.SIGURG)); err != nil {
			return
		}
		switch _, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK); {
		case errors.Is(err, unix.EAGAIN):
			known = true
		case err == nil:
			_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
			free, known = err == nil, err == nil
		}
	}))
	return free, known && err == nil
}

// writerIn names another program that has a file open for writing, empty when none is found. proc is where the system
// shows its processes; those of other users do not show what they have open.
func writerIn(proc string, file *os.File) string {
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	found, err := filepath.Glob(proc + "/[0-9]*/fd/*")
	if err != nil {
		return ""
	}
	own := filepath.Join(proc, strconv.Itoa(os.Getpid()))
	for _, fd := range found {
		// The name is looked at first: to ask for the file behind a descriptor may block where its file system hangs.
		target, err := os.Readlink(fd)
		if err != nil || filepath.Base(target) != filepath.Base(file.Name()) || strings.HasPrefix(fd, own+"/") {
			continue
		}
		if other, err := os.Stat(fd); err != nil || !os.SameFile(info, other) {
			continue
		}
		process := filepath.Dir(filepath.Dir(fd))
		if writable(filepath.Join(process, "fdinfo", filepath.Base(fd))) {
			return programOf(process)
		}
	}
	return ""
}

// writable reports whether a descriptor can be written to, by what the system reports about it.
func writable(fdinfo string) bool {
	data, err := os.ReadFile(fdinfo)
	if err != nil {
		return false
	}
	for line := range bytes.Lines(data) {
		if flags, ok := bytes.CutPrefix(line, []byte("flags:")); ok {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(flags)), 8, 64)
			return err == nil && n&unix.O_ACCMODE != unix.O_RDONLY
		}
	}
	return false
}

func programOf(process string) string {
	id := filepath.Base(process)
	name, err := os.ReadFile(filepath.Join(process, "comm"))
	if err != nil {
		return "process " + id
	}
	return fmt.Sprintf("%s (process %s)", bytes.TrimSpace(name), id)
}
