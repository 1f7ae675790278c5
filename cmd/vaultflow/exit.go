package main

import (
	"errors"
	"fmt"
	"strings"
)

// Exit codes. Scripts and CI depend on them: a code is never given a second meaning.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitInvalid   = 3
	exitOmissions = 4
	exitRefused   = 5
	exitApproval  = 6
	exitProvider  = 7
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
	{exitOmissions, "done, with images left out; the receipt says which and why"},
	{exitRefused, "refused by a budget or a permission"},
	{exitApproval, "waiting for approval"},
	{exitProvider, "the model's provider refused, cut off or failed"},
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

// exitError carries an exit code with an error up to main. An empty message means that everything worth saying was
// printed already.
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

// usagef is an error of the person's command line.
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
	return exitFailed
}
