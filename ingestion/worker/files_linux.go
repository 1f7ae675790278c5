package worker

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ClaimStdout returns standard output for frames alone. What a library prints goes to standard error.
func ClaimStdout() (*os.File, error) {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 10)
	if err != nil {
		return nil, fmt.Errorf("copy standard output: %w", err)
	}
	if err := unix.Dup3(2, 1, 0); err != nil {
		return nil, fmt.Errorf("redirect standard output: %w", err)
	}
	return os.NewFile(uintptr(fd), "frames"), nil
}

// documentBytes maps the document into memory: it takes no private memory, and parts are read when they are needed.
func documentBytes(fd uintptr) ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(fd), &st); err != nil {
		return nil, fmt.Errorf("look at the document: %w", err)
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size <= 0:
		return nil, errors.New("it is empty or not a file")
	case st.Size > maxDocument:
		return nil, tooLarge(st.Size)
	}
	data, err := unix.Mmap(int(fd), 0, int(st.Size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", st.Size, err)
	}
	return data, nil
}
