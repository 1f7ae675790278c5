package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// Exit codes. Scripts depend on them: a code never gets a second meaning.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitInvalid   = 3
	exitOmissions = 4
	exitRefused   = 5
	exitApproval  = 6
	exitProvider  = 7

	exitModelRefused  = 8 // from here to exitUnseen: the answer could not be written
	exitEmpty         = 9
	exitTruncated     = 10
	exitInvalidAnswer = 11
	exitUnseen        = 12

	exitCancelled = 130
)

// exits is the one table of exit codes; `vaultflow help` prints it.
var exits = []struct {
	code    int
	meaning string
}{
	{exitDone, "done"},
	{exitFailed, "failed"},
	{exitUsage, "wrong usage: unknown command, flag or argument"},
	{exitInvalid, "invalid workflow or settings"},
	{exitOmissions, "done, but something was left out; see the run's record"},
	{exitRefused, "refused by a budget or a permission, or not allowed yet (vaultflow trust)"},
	{exitApproval, "waiting for approval"},
	{exitProvider, "the model's provider failed"},
	{exitModelRefused, "the model refused to answer; with 8 to 12, nothing was written"},
	{exitEmpty, "the answer was empty"},
	{exitTruncated, "the answer was cut off"},
	{exitInvalidAnswer, "the answer does not have the required form, even after repairs"},
	{exitUnseen, "the model answered without seeing the pictures or documents that it was sent"},
	{exitCancelled, "cancelled"},
}

// exitHelp renders the table for the root command's help.
func exitHelp() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, e := range exits {
		fmt.Fprintf(&b, "  %-4d %s\n", e.code, e.meaning)
	}
	return b.String()
}

// runExit returns the exit code for a run's outcome.
func runExit(r engine.RunRecord) int {
	switch r.Status {
	case engine.Skipped:
		if r.Kind == engine.KindImport { // its file is gone
			return exitFailed
		}
		return exitDone
	case engine.Done:
		return exitDone
	case engine.DoneWithOmissions:
		return exitOmissions
	case engine.AwaitingApproval:
		return exitApproval
	case engine.Cancelled:
		return exitCancelled
	case engine.Refused:
		return exitModelRefused
	case engine.Empty:
		return exitEmpty
	case engine.Truncated:
		return exitTruncated
	case engine.Invalid:
		return exitInvalidAnswer
	case engine.Unseen:
		return exitUnseen
	}
	if r.Failure == nil {
		return exitFailed
	}
	switch r.Failure.Code {
	case failure.Budget, failure.Permission, failure.ModelNotSuitable:
		return exitRefused
	case failure.Provider, failure.ToolRounds:
		return exitProvider
	case failure.Retry:
		return exitUsage
	case failure.InvalidWorkflow, failure.InvalidSettings, failure.UnknownModel:
		return exitInvalid
	}
	return exitFailed
}

// exitError carries an exit code up to main. Without an error, everything has been printed already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exit wraps err with the code to leave the process with; a nil err is silent.
func exit(code int, err error) error { return &exitError{code: code, err: err} }

// usagef returns an error about the command line.
func usagef(format string, args ...any) error {
	return exit(exitUsage, fmt.Errorf(format, args...))
}

// exitCode finds the code for an error that reached main.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	if code, ok := refusals[control.ClassOf(err)]; ok {
		return code
	}
	if f, ok := errors.AsType[*failure.Error](err); ok { // a running serve refused for the reason with which a run would end
		return runExit(engine.RunRecord{Status: engine.Failed, Failure: f})
	}
	return exitFailed
}

// refusals are the exit codes for what the daemon refuses before a run begins.
var refusals = map[control.Class]int{control.Usage: exitUsage, control.Invalid: exitInvalid, control.Denied: exitRefused}
