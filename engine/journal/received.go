package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/vaultflow/vaultflow/engine"
)

// Received opens the place of the answer to a question of a step, before it is asked. held is the answer when one was put
// there and its record never came: the process was killed in between, or the disk was full. Otherwise keep puts the answer there
// when it arrives, before anything else is stored of it, by one write of a file that is open already: a process that is
// killed behind that write has the answer. shut is to be called when the answer was dealt with. The places of a run are
// cleared when it has succeeded, and when a retry is to ask anew.
func (a *Answers) Received(ref engine.StepRef, question string) (held []byte, keep func(answer []byte) error, shut func() error, err error) {
	path := a.receivedAt(ref.Run, ref.Index, ref.Batch)
	file, err := openReceived(path)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("make room for the answer to step %q of %s: %w", ref.Step, ref.Workflow, err)
	}
	stored, err := io.ReadAll(file)
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("look for an answer to step %q of %s: %w", ref.Step, ref.Workflow, err), file.Close())
	}
	if seal, answer, ok := bytes.Cut(stored, []byte("\n")); ok && string(seal) == sealOf(question, answer) {
		held = answer
	}
	keep = func(answer []byte) error {
		whole := append([]byte(sealOf(question, answer)+"\n"), answer...)
		_, err := file.WriteAt(whole, 0)
		if err == nil && len(stored) > len(whole) { // of another question, and longer
			err = file.Truncate(int64(len(whole)))
		}
		return errors.Join(err, file.Sync())
	}
	return held, keep, file.Close, nil
}

// openReceived makes the folder of a run's answers when it is the first.
func openReceived(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if !errors.Is(err, os.ErrNotExist) {
		return file, err
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

// sealOf tells a whole answer to a question from a torn one, and from the answer to another question.
func sealOf(question string, answer []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s", len(question), question)
	h.Write(answer)
	return hex.EncodeToString(h.Sum(nil))
}

func (a *Answers) receivedAt(run string, step, batch int) string {
	return filepath.Join(a.receivedDir(run), strconv.Itoa(step)+"-"+strconv.Itoa(batch))
}

func (a *Answers) receivedDir(run string) string {
	return filepath.Join(a.db.dir, "received", filepath.Base(run))
}

// forgetReceived clears all places of a run.
func (a *Answers) forgetReceived(run string) error {
	if err := os.RemoveAll(a.receivedDir(run)); err != nil {
		return fmt.Errorf("remove the answers that run %s received: %w", run, err)
	}
	return nil
}

// forgetCut clears the places of a run of which records of answers are to be forgotten: those questions are asked anew. An
// answer that never got a record, since storing it failed, stays for the retry.
func (a *Answers) forgetCut(ctx context.Context, run string, cuts []engine.Cut) error {
	for _, c := range cuts {
		var answered bool
		if err := one(ctx, a.db.read, `SELECT EXISTS (SELECT 1 FROM records WHERE run = ? AND branch = ? AND seq >= ? AND activity = ? AND output IS NOT NULL)`,
			run, c.Branch, c.Seq, engine.ActivityGenerate).Scan(&answered); err != nil {
			return err
		}
		if answered {
			return a.forgetReceived(run)
		}
	}
	return nil
}

// sweepReceived clears the places of runs that have succeeded or are gone: a process that was killed may have left them.
func (a *Answers) sweepReceived(ctx context.Context) error {
	entries, err := os.ReadDir(filepath.Join(a.db.dir, "received"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		var status engine.Status
		err := found(one(ctx, a.db.read, `SELECT status FROM runs WHERE id = ?`, entry.Name()).Scan(&status))
		switch {
		case err != nil && !errors.Is(err, engine.ErrNotFound):
			return err
		case err == nil && (!status.Finished() || status.Incomplete()):
			continue
		}
		if err := a.forgetReceived(entry.Name()); err != nil {
			return err
		}
	}
	return nil
}
