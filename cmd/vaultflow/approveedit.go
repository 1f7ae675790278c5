package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

// readWith takes the content of a file in place of what is proposed.
func (y *yes) readWith(list []engine.Proposal, o *control.ApproveOrder) error {
	if err := fitsAll(list); err != nil {
		return err
	}
	data, err := readEdited(y.with)
	if err == nil {
		o.Edited = &data
	}
	return err
}

// fitsAll refuses to edit what writes no file.
func fitsAll(list []engine.Proposal) error {
	for _, p := range list {
		if err := p.Fits(); err != nil {
			return exit(exitUsage, err)
		}
	}
	return nil
}

func readEdited(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, exit(exitUsage, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, control.MaxEdited+1))
	if err == nil && len(data) > control.MaxEdited {
		err = fmt.Errorf("%s is larger than 16 MiB", path)
	}
	return data, err
}

// edits opens what is proposed in the person's editor, and takes what is in the file when the editor has ended.
func (y *yes) edits(ctx context.Context, j *journal.Journal, list []engine.Proposal, o *control.ApproveOrder) error {
	if err := fitsAll(list); err != nil || len(list) == 0 {
		return err
	}
	proposed, err := j.Blobs.Get(ctx, list[0].After)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "vaultflow-approve-*") // for the user alone
	if err != nil {
		return err
	}
	y.edited = filepath.Join(dir, "proposal"+path.Ext(list[0].Name))
	if err := os.WriteFile(y.edited, proposed, 0o600); err != nil {
		return err
	}
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	if editor == "" {
		return y.done(usagef("set EDITOR, or write the file yourself and use --with FILE"))
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", y.edited) // as git and crontab do: EDITOR may hold arguments
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return y.done(fmt.Errorf("the editor %q failed, and nothing was decided: %w", editor, err))
	}
	data, err := readEdited(y.edited)
	if err != nil {
		return y.done(err)
	}
	if string(data) != string(proposed) {
		o.Edited = &data
	}
	return nil
}

// done removes the edited file, unless something went wrong: then it prints the file's name.
func (y *yes) done(err error) error {
	if y.edited == "" {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return exit(exitCancelled, fmt.Errorf("cancelled, and nothing was decided (what you wrote is in %s)", y.edited))
	}
	if code := exitCode(err); code != exitDone && code != exitOmissions { // also when the run asks again: perhaps about this file
		return fmt.Errorf("%w (what you wrote is in %s)", err, y.edited)
	}
	_ = os.RemoveAll(filepath.Dir(y.edited)) // a temporary file that stays does no harm
	return err
}
