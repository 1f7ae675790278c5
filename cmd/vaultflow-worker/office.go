package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// runOffice runs LibreOffice on behalf of package sandbox, which has made the folder -work with a private copy of the
// document. All rights are given up before it starts. When standard input ends, whoever asked is gone, and so is
// everything that was started here. The exit code is LibreOffice's.
func runOffice(o options, args []string, out, errs io.Writer) int {
	if o.confined == "" {
		o.confined = confineOffice(o, args, errs) // does not return when it starts the program anew
	}
	o.confined = withoutCalls(o.confined, filterOfficeCalls, errs)
	if o.require && o.confined != extract.ConfinedFull {
		fmt.Fprintf(errs, "confinement is required, but only %q could be had\n", o.confined)
		return exitUnconfined
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // nothing is said, until it ends
		endGroup()
		os.Exit(exitBroken)
	}()
	program := officeBinary(o.office)
	err := startOffice(program, o.work, args, out, errs)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == exitAnew {
		err = startOffice(program, o.work, args, out, errs)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() >= 0 {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(errs, "LibreOffice:", err) // it did not start, or a signal ended it
		return exitBroken
	}
	return 0
}

// exitAnew is how LibreOffice asks to be started again, after it has set up a profile (EXITHELPER_NORMAL_RESTART in its
// desktop/source/inc/exithelper.h).
const exitAnew = 81

func startOffice(program, dir string, args []string, out, errs io.Writer) error {
	cmd := exec.Command(program, args...) //nolint:gosec,noctx // the user's own setting; its end is that of this process
	cmd.Dir, cmd.Env = dir, os.Environ()
	cmd.Stdout, cmd.Stderr = out, errs
	return cmd.Run()
}

// officeBinary is LibreOffice itself where it stands beside its start script, which looks for Java and a socket's place in
// /tmp that there is no access to.
func officeBinary(program string) string {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return program
	}
	binary := filepath.Join(filepath.Dir(real), "soffice.bin")
	if info, err := os.Stat(binary); err != nil || !info.Mode().IsRegular() {
		return program
	}
	return binary
}
