//go:build !linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// confine does nothing here: only Linux lets a program take such rights away from itself.
func confine(_ options, errs io.Writer) string {
	fmt.Fprintln(errs, "this system has no confinement for the worker")
	return extract.ConfinedNot
}

// claimStdout gives standard output. What a library prints would disturb the frames and end the session.
func claimStdout() (*os.File, error) { return os.Stdout, nil }

// documentBytes reads the whole document.
func documentBytes(fd uintptr) ([]byte, error) {
	data, err := io.ReadAll(os.NewFile(fd, "document"))
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	if len(data) == 0 {
		return nil, errors.New("it is empty")
	}
	return data, nil
}
