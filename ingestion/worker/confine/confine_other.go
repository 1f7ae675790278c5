//go:build !linux

package confine

import (
	"fmt"
	"io"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// Reader does nothing here: only Linux lets a program take such rights away from itself.
func Reader(_ Task, errs io.Writer) string {
	fmt.Fprintln(errs, "this system has no confinement for the worker")
	return extract.ConfinedNot
}

// Office does nothing here.
func Office(t Task, _, _ string, errs io.Writer) string { return Reader(t, errs) }

// DropCalls does nothing here.
func DropCalls(level string, _ io.Writer) string { return level }

// DropOfficeCalls does nothing here.
func DropOfficeCalls(level string, _ io.Writer) string { return level }

// WatchTime does nothing here: the processor time is not limited.
func WatchTime(io.Writer) {}

// EndGroup does nothing here: the sandbox kills the group.
func EndGroup() {}
