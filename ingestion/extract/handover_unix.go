//go:build unix

package extract

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Handover returns the two ends through which a document reaches a worker that runs already. The worker gets its end as file descriptor 3.
func Handover() (ours, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make sockets for the document: %w", err)
	}
	for _, fd := range pair {
		unix.CloseOnExec(fd)
	}
	return os.NewFile(uintptr(pair[0]), "to the worker"), os.NewFile(uintptr(pair[1]), "to the daemon"), nil
}

// Hand sends the open document to the worker, which gets a descriptor of its own.
func Hand(to, doc *os.File) error {
	rights := unix.UnixRights(int(doc.Fd()))
	if err := unix.Sendmsg(int(to.Fd()), []byte{0}, rights, nil, unix.MSG_NOSIGNAL); err != nil {
		return fmt.Errorf("hand the document over: %w", err)
	}
	return nil
}

// Receive waits for the document at the worker's end, which is closed then.
func Receive(end uintptr) (doc uintptr, err error) {
	defer unix.Close(int(end))
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(int(end), make([]byte, 1), rights, 0)
	if err != nil {
		return 0, fmt.Errorf("receive the document: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return 0, errors.New("no document was handed over")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return 0, errors.New("no document was handed over")
	}
	return uintptr(fds[0]), nil
}
