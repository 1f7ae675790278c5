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

// withoutCalls does nothing here.
func withoutCalls(level string, _ func() error, _ io.Writer) string { return level }

// filterCalls has nothing to filter with.
func filterCalls() error { return errors.ErrUnsupported }

// filterOfficeCalls has nothing to filter with.
func filterOfficeCalls() error { return errors.ErrUnsupported }

// confineOffice does nothing here, as confine.
func confineOffice(o options, _ []string, errs io.Writer) string { return confine(o, errs) }

// watchTime does nothing here: the processor time is not bounded.
func watchTime(io.Writer) {}

// claimStdout gives standard output. What a library prints would disturb the frames and end the session.
func claimStdout() (*os.File, error) { return os.Stdout, nil }

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

// endGroup ends nothing: the sandbox kills the group.
func endGroup() {}
