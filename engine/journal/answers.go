package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// Answers keeps the answers of models: those of steps with @cache, and those that arrived and have no record yet.
type Answers struct {
	db    *database
	blobs *Blobs
}

// maxAnswers is how many answers of a step are kept for @cache; the oldest ones go first. An @for_each over the largest
// selection (500 files) fits twice.
const maxAnswers = 1000

// Keep stores an answer for @cache under its key with the present time, in place of an older one. Doing it twice changes
// nothing but the time.
func (a *Answers) Keep(ctx context.Context, ref engine.StepRef, c engine.CacheEntry) error {
	entry, err := json.Marshal(c)
	if err != nil {
		return err
	}
	err = inTx(ctx, a.db.write, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO answers (key, workflow, step, run, entry, stored) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET workflow = excluded.workflow, step = excluded.step, run = excluded.run, entry = excluded.entry,
			stored = excluded.stored`, c.Key, ref.Workflow, ref.Step, ref.Run, entry, micros(time.Now())); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM answers WHERE rowid IN (SELECT rowid FROM answers WHERE workflow = ? AND step = ?
			ORDER BY stored DESC, rowid DESC LIMIT -1 OFFSET ?)`, ref.Workflow, ref.Step, maxAnswers)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep the answer of step %q of %s: %w", ref.Step, ref.Workflow, err)
	}
	return nil
}

// Cached returns the answer with a key if it was stored at the moment since or later. The reader decides how long an answer
// is good for, so that a step whose @cache was shortened obeys at once. An answer whose blob is gone is not found.
func (a *Answers) Cached(ctx context.Context, key string, since time.Time) (c engine.CacheEntry, found bool, err error) {
	var entry []byte
	err = one(ctx, a.db.read, `SELECT entry FROM answers WHERE key = ? AND stored >= ?`, key, micros(since)).Scan(&entry)
	if errors.Is(err, sql.ErrNoRows) {
		return engine.CacheEntry{}, false, nil
	}
	if err == nil {
		err = json.Unmarshal(entry, &c)
	}
	if err != nil {
		return engine.CacheEntry{}, false, fmt.Errorf("look up a kept answer: %w", err)
	}
	for _, digest := range []string{c.Answer, c.Raw} {
		if digest != "" && !a.blobs.holds(digest) {
			return engine.CacheEntry{}, false, nil
		}
	}
	return c, true, nil
}

// Received opens the place of the answer to a question of a step, before it is asked. held is the answer when one was put
// there and its record never came: the process was killed in between, or the disk was full. Otherwise keep puts the answer there
// when it arrives, before anything else is stored of it, by one write of a file that is open already: a process that is
// killed behind that write has the answer. Its room on the disk is reserved before the question, where the system can: on a full disk nothing is asked, and a disk
// that fills up meanwhile does not lose what is paid for. shut is to be called when the answer was dealt with. The places of a run are
// cleared when it has succeeded, and when a retry is to ask again.
func (a *Answers) Received(ref engine.StepRef, question string) (held []byte, keep func(answer []byte) error, shut func() error, err error) {
	path := a.receivedAt(ref.Run, ref.Index, ref.Batch)
	file, err := openReceived(path)
	if err == nil {
		if err = reserve(file, answerRoom); err != nil {
			err = errors.Join(err, file.Close())
		}
	}
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
	shut = func() error {
		info, err := file.Stat()
		if err == nil {
			err = file.Truncate(info.Size()) // the rest of the room is free again
		}
		return errors.Join(err, file.Close())
	}
	return held, keep, shut, nil
}

// answerRoom is how many bytes are reserved for an answer as it arrived. Few are longer.
const answerRoom = 512 << 10

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

// sealOf distinguishes a whole answer to a question from a torn one and from the answer to another question.
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

// forgetCut clears the places of a run of which records of answers are to be forgotten: those questions are asked again. An
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
