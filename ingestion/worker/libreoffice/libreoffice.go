// Package libreoffice runs LibreOffice confined, to convert one document.
package libreoffice

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/worker/confine"
)

// Job is one conversion. Package sandbox has made the folder Work with a private copy of the document.
type Job struct {
	Program  string // LibreOffice
	Work     string // the only folder that it may write in
	Args     []string
	Task     confine.Task
	Confined string // the level that was reached, in the second run of this program; see confine.Office
	Require  bool   // do not start LibreOffice unless it is fully confined
}

// Run runs LibreOffice and returns its exit code. It drops all rights before that. When standard input ends, nobody waits for the
// document any more, and everything that was started here ends too.
func (j Job) Run(out, errs io.Writer) int {
	if j.Confined == "" {
		j.Confined = confine.Office(j.Task, j.Program, j.Work, errs) // does not return if it starts the program again
	}
	j.Confined = confine.DropOfficeCalls(j.Confined, errs)
	if j.Require && j.Confined != extract.ConfinedFull {
		fmt.Fprintf(errs, "confinement is required, but only %q was reached\n", j.Confined)
		return extract.ExitUnconfined
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // nothing is sent, it only ends
		confine.EndGroup()
		os.Exit(extract.ExitBroken)
	}()
	program := binary(j.Program)
	err := start(program, j.Work, j.Args, out, errs)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == exitRestart {
		err = start(program, j.Work, j.Args, out, errs)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() >= 0 {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(errs, "LibreOffice:", err) // it did not start, or a signal ended it
		return extract.ExitBroken
	}
	return 0
}

// exitRestart is how LibreOffice asks to be started again after it has set up a profile (EXITHELPER_NORMAL_RESTART in its
// desktop/source/inc/exithelper.h).
const exitRestart = 81

func start(program, dir string, args []string, out, errs io.Writer) error {
	cmd := exec.Command(program, args...) //nolint:gosec,noctx // the user's own setting; it ends with this process
	cmd.Dir, cmd.Env = dir, os.Environ()
	cmd.Stdout, cmd.Stderr = out, errs
	return cmd.Run()
}

// binary returns LibreOffice itself if it is beside its start script, which looks for Java and a socket in /tmp, both out of
// reach.
func binary(program string) string {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return program
	}
	found := filepath.Join(filepath.Dir(real), "soffice.bin")
	if info, err := os.Stat(found); err != nil || !info.Mode().IsRegular() {
		return program
	}
	return found
}
