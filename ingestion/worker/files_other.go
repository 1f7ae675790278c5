//go:build !linux

package worker

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ClaimStdout returns standard output. What a library prints would break the frames and end the session.
func ClaimStdout() (*os.File, error) { return os.Stdout, nil }

// documentBytes reads the whole document, from its beginning: another worker may share the descriptor's position.
func documentBytes(fd uintptr) ([]byte, error) {
	data, err := io.ReadAll(io.NewSectionReader(os.NewFile(fd, "document"), 0, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the document: %w", err)
	case len(data) == 0:
		return nil, errors.New("it is empty")
	case len(data) > maxDocument:
		return nil, tooLarge(int64(len(data)))
	}
	return data, nil
}
