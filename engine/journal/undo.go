package journal

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/engine"
)

// Undo finds what a run left in the vault and in the journal, and takes back what is in the journal.
type Undo struct {
	db   *database
	runs *Runs
}

// Run returns a run with its batches, like [Runs.Run].
func (u *Undo) Run(ctx context.Context, id string) (engine.RunRecord, error) {
	return u.runs.Run(ctx, id)
}

// family names a run and all that its tools have started, and those in turn: their keys begin with the run that asked.
const family = `WITH RECURSIVE family (id) AS (VALUES (?) UNION
	SELECT r.id FROM family f JOIN runs r ON r.key >= 'tool:' || f.id || '/' AND r.key < 'tool:' || f.id || '0') `

// Trail returns what a run, and the runs that its tools have started, did to files of the vault, in the order in which it
// happened.
func (u *Undo) Trail(ctx context.Context, run string) ([]engine.RunChange, error) {
	list, err := query(ctx, u.db.read, func(r row) (c engine.RunChange, err error) {
		var view []byte
		var made bool
		if err = r.Scan(&c.Run, &c.Workflow, &view, &made); err == nil {
			err = json.Unmarshal(view, &c.Change)
		}
		c.Change.Doubt = c.Change.Doubt || !made
		return c, err
	}, family+`SELECT c.run, r.workflow, c.view, c.made FROM family f JOIN changes c ON c.run = f.id JOIN runs r ON r.id = c.run ORDER BY c.rowid`, run)
	if err != nil {
		return nil, fmt.Errorf("read the changes of run %s: %w", run, err)
	}
	return list, nil
}

// Memories returns what a run, and the runs that its tools have started, left behind for later runs, in order.
func (u *Undo) Memories(ctx context.Context, run string) ([]engine.Memory, error) {
	list, err := query(ctx, u.db.read, func(r row) (m engine.Memory, err error) {
		var origins string
		var before, after []byte
		err = r.Scan(&m.Run, &m.Workflow, &m.Step, &m.Directive, &m.Variable, &m.Name, &before, &after, &origins)
		m.Before, m.After, m.Origins = recalled(m, before), recalled(m, after), lines(origins)
		return m, err
	}, family+`SELECT m.run, m.workflow, m.step, m.directive, m.variable, m.name, m.before, m.after, m.origins
		FROM family f JOIN memories m ON m.run = f.id ORDER BY m.rowid`, run)
	if err != nil {
		return nil, fmt.Errorf("read the memories of run %s: %w", run, err)
	}
	return list, nil
}

// WriterSince returns the run after the given one that wrote a content to a file, or "". It orders runs by their place in the
// journal: many runs begin within a second, and clocks are set back.
func (u *Undo) WriterSince(ctx context.Context, run, name, digest string) (writer string, err error) {
	err = one(ctx, u.db.read, `SELECT w.run FROM writes w JOIN runs r ON r.id = w.run WHERE w.file = (SELECT id FROM names WHERE name = ?)
		AND w.sha256 = ? AND r.rowid > (SELECT rowid FROM runs WHERE id = ?) ORDER BY r.rowid DESC LIMIT 1`, name, packed(digest), run).Scan(&writer)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("look up who wrote %q: %w", name, err)
	}
	return writer, nil
}

// remember keeps a memory of a run, so that it can be undone, unless it changes nothing.
func remember(ctx context.Context, tx *sql.Tx, m engine.Memory) error {
	if m.Before == m.After {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO memories (run, workflow, step, directive, variable, name, before, after, origins) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.Run, m.Workflow, m.Step, m.Directive, m.Variable, m.Name, stored(m, m.Before), stored(m, m.After), strings.Join(m.Origins, "\n"))
	return err
}

// stored is a digest as a memory keeps it: those of files, which are no blobs, must not look as if they named one.
func stored(m engine.Memory, digest string) any {
	if m.Variable {
		return digest
	}
	return packed(digest)
}

func recalled(m engine.Memory, digest []byte) string {
	if m.Variable || len(digest) != sha256.Size {
		return string(digest)
	}
	return hex.EncodeToString(digest)
}

func rememberMark(ctx context.Context, tx *sql.Tx, ref engine.StepRef, m engine.Mark) error {
	before, err := markOf(ctx, tx, engine.Memory{Workflow: ref.Workflow, Step: ref.Step, Directive: m.Directive, Name: m.Name})
	if err != nil {
		return err
	}
	return remember(ctx, tx, engine.Memory{
		Run: ref.Run, Workflow: ref.Workflow, Step: ref.Step, Directive: m.Directive, Name: m.Name, Before: before, After: m.SHA256,
	})
}

// markOf is the content in which a file was processed; empty when it was not.
func markOf(ctx context.Context, tx handle, m engine.Memory) (digest string, err error) {
	err = tx.QueryRowContext(ctx, `SELECT sha256 FROM pending WHERE workflow = ? AND step = ? AND directive = ? AND name = ?`,
		m.Workflow, m.Step, m.Directive, m.Name).Scan(&digest)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return digest, err
}

// Standing returns those memories of which nothing has come in the place since: those that TakeBack would take back now.
func (u *Undo) Standing(ctx context.Context, list []engine.Memory) (standing []engine.Memory, err error) {
	for _, m := range list {
		now := ""
		if m.Variable {
			var v engine.Var
			v, _, err = readVariable(ctx, u.db.read, m.Workflow, m.Name)
			now = v.Digest
		} else {
			now, err = markOf(ctx, u.db.read, m)
		}
		if err != nil {
			return nil, fmt.Errorf("look up what a run left for later ones: %w", err)
		}
		if now == m.After {
			standing = append(standing, m)
		}
	}
	return standing, nil
}

// TakeBack takes memories back, last ones first, and returns those it took: what a later run has left in their place stays.
// A file that was processed is pending again, whatever it held when it was processed before. What is done is a memory of the
// run itself. Repeating it changes nothing and returns the same memories.
func (u *Undo) TakeBack(ctx context.Context, run string, list []engine.Memory) (taken []engine.Memory, err error) {
	err = inTx(ctx, u.db.write, func(tx *sql.Tx) error {
		for _, m := range slices.Backward(list) {
			does := takeBackMark
			if m.Variable {
				does = takeBackVariable
			}
			done, err := tookBack(ctx, tx, run, m)
			if err == nil && !done {
				done, err = does(ctx, tx, run, m)
			}
			if err != nil {
				return err
			}
			if done {
				taken = append(taken, m)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("undo what the run left for later ones: %w", err)
	}
	return taken, nil
}

// tookBack reports whether the run took a memory back before: its process died then.
func tookBack(ctx context.Context, tx *sql.Tx, run string, m engine.Memory) (did bool, err error) {
	err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM memories WHERE run = ? AND workflow = ? AND step = ? AND directive = ? AND variable = ?
		AND name = ? AND before = ?)`, run, m.Workflow, m.Step, m.Directive, m.Variable, m.Name, stored(m, m.After)).Scan(&did)
	return did, err
}

func takeBackMark(ctx context.Context, tx *sql.Tx, run string, m engine.Memory) (bool, error) {
	now, err := markOf(ctx, tx, m)
	if err != nil || now != m.After {
		return false, err
	}
	back := engine.Memory{Run: run, Workflow: m.Workflow, Step: m.Step, Directive: m.Directive, Name: m.Name, Before: now}
	if m.After == "" {
		back.After = m.Before
		_, err = tx.ExecContext(ctx, `INSERT INTO pending (workflow, step, directive, name, sha256, run) VALUES (?, ?, ?, ?, ?, ?)`,
			m.Workflow, m.Step, m.Directive, m.Name, m.Before, run)
	} else {
		_, err = tx.ExecContext(ctx, `DELETE FROM pending WHERE workflow = ? AND step = ? AND directive = ? AND name = ?`,
			m.Workflow, m.Step, m.Directive, m.Name)
	}
	return true, errors.Join(err, remember(ctx, tx, back))
}

func takeBackVariable(ctx context.Context, tx *sql.Tx, run string, m engine.Memory) (bool, error) {
	now, _, err := readVariable(ctx, tx, m.Workflow, m.Name)
	if err != nil || now.Digest != m.After {
		return false, err
	}
	if m.Before == "" {
		_, err = tx.ExecContext(ctx, `DELETE FROM variables WHERE workflow = ? AND name = ?`, m.Workflow, m.Name)
	} else {
		_, err = tx.ExecContext(ctx, `INSERT INTO variables (workflow, name, digest, run, origins) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET digest = excluded.digest, run = excluded.run, origins = excluded.origins`,
			m.Workflow, m.Name, m.Before, run, strings.Join(m.Origins, "\n"))
	}
	return true, errors.Join(err, remember(ctx, tx, engine.Memory{
		Run: run, Workflow: m.Workflow, Step: m.Step, Directive: m.Directive, Variable: true, Name: m.Name, Before: now.Digest, After: m.Before, Origins: now.Origins,
	}))
}
