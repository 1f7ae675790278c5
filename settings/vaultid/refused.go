package vaultid

import (
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
)

// RefusedError is a state directory that this vault may not use, or only read.
type RefusedError struct{ State State }

var _ failure.Reporter = (*RefusedError)(nil)

// Readable returns an error if the state directory is not this vault's.
func (s State) Readable() error {
	switch s.Standing {
	case New, Own, Moved:
		return nil
	}
	return &RefusedError{s}
}

// Usable returns an error if nothing may be stored in the state directory: it is not this vault's, or this vault has moved.
func (s State) Usable() error {
	if s.Standing == Moved {
		return &RefusedError{s}
	}
	return s.Readable()
}

// Error implements error.
func (e *RefusedError) Error() string {
	s := e.State
	switch s.Standing {
	case Moved:
		return fmt.Sprintf("this vault was at %s before; its history in %s can only be read until you confirm the move", s.Record.Path, s.Dir)
	case Copied:
		return fmt.Sprintf("this vault is a copy of %s, and the history in %s belongs to the original", s.Record.Path, s.Dir)
	case Replaced:
		return fmt.Sprintf("another folder was at %s when %s was used last, and this one does not have its id", s.Vault.Path, s.Dir)
	}
	return fmt.Sprintf("the state directory %s belongs to another vault, %s", s.Dir, s.Record.Path)
}

// Failure implements [failure.Reporter].
func (e *RefusedError) Failure() failure.Error {
	return failure.Error{Code: failure.State, Hint: e.hint()}
}

func (e *RefusedError) hint() string {
	s := e.State
	fresh := fmt.Sprintf("`%s` starts a history of its own", s.command("move --new"))
	if s.Named && s.Standing != Moved {
		fresh = fmt.Sprintf("`%s` starts a history of its own there", State{Dir: "FOLDER", Named: true, Vault: s.Vault}.command("move --new"))
	}
	switch s.Standing {
	case Copied:
		return fresh + fmt.Sprintf("; to continue here with the history of the original, move the original away, then run `%s`", s.command("move"))
	case Foreign:
		return "name another folder with --state-dir, or none: each vault finds its own"
	}
	if s.Named {
		fresh = "another --state-dir starts a new one"
	}
	return fmt.Sprintf("`%s` continues its history here; %s", s.command("move"), fresh)
}

// command returns a command line for this vault and state directory.
func (s State) command(verb string) string {
	line := "vaultflow " + verb + " --vault " + quoted(s.Vault.Path)
	if s.Named {
		line += " --state-dir " + quoted(s.Dir)
	}
	return line
}

// quoted quotes a path for a shell if it must be.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t\n\"'\\$`&|;<>()*?[]{}#!~") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
