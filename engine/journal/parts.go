package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
)

// partRow names what a step did of a part of a document.
type partRow struct{ workflow, step, document, part string }

func rowOf(ref engine.StepRef, p engine.PartState) partRow {
	return partRow{ref.Workflow, ref.Step, p.Document, p.Name}
}

// read returns the record of a part, "" if there is none.
func (p partRow) read(ctx context.Context, tx *sql.Tx) (view string, err error) {
	err = tx.QueryRowContext(ctx, `SELECT view FROM parts WHERE workflow = ? AND step = ? AND document = ? AND part = ?`, p.workflow, p.step, p.document, p.part).Scan(&view)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return view, err
}

// set replaces the record of a part, with "" for none, and keeps the one before, so that the run can be undone.
func (p partRow) set(ctx context.Context, tx *sql.Tx, run, view string) error {
	before, err := p.read(ctx, tx)
	if err != nil || before == view {
		return err
	}
	if view == "" {
		_, err = tx.ExecContext(ctx, `DELETE FROM parts WHERE workflow = ? AND step = ? AND document = ? AND part = ?`, p.workflow, p.step, p.document, p.part)
	} else {
		_, err = tx.ExecContext(ctx, `INSERT INTO parts (workflow, step, document, part, view, run) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET view = excluded.view, run = excluded.run`, p.workflow, p.step, p.document, p.part, view, run)
	}
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO part_memories (run, workflow, step, document, part, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		run, p.workflow, p.step, p.document, p.part, before, view)
	return err
}

// keepPart stores what a step did of a document.
func keepPart(ctx context.Context, tx *sql.Tx, ref engine.StepRef, p engine.PartState) error {
	view, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return rowOf(ref, p).set(ctx, tx, ref.Run, string(view))
}

// ForgetPart forgets a part that a document does not have any more.
func (mem *Memory) ForgetPart(ctx context.Context, ref engine.StepRef, p engine.PartState) error {
	err := inTx(ctx, mem.db.write, func(tx *sql.Tx) error { return rowOf(ref, p).set(ctx, tx, ref.Run, "") })
	if err != nil {
		return fmt.Errorf("forget the part %q: %w", p.Key(), err)
	}
	return nil
}

// Parts returns the parts of a document that a step has done, by name.
func (mem *Memory) Parts(ctx context.Context, workflow, step, document string) ([]engine.PartState, error) {
	list, err := query(ctx, mem.db.read, func(r row) (p engine.PartState, err error) {
		var view []byte
		if err = r.Scan(&view); err == nil {
			err = json.Unmarshal(view, &p)
		}
		return p, err
	}, `SELECT view FROM parts WHERE workflow = ? AND step = ? AND document = ? ORDER BY part`, workflow, step, document)
	if err != nil {
		return nil, fmt.Errorf("look up the parts of %q: %w", document, err)
	}
	return list, nil
}

// TakeBackParts makes the records of parts what they were before a run, and the runs that its tools have started. What a later run
// has recorded stays, and so does the record of a part with a file that kept what the run wrote. What is done is a memory of the
// run of the undo. Repeating it changes nothing.
func (u *Undo) TakeBackParts(ctx context.Context, run, of string, kept []string) error {
	type memory struct {
		partRow
		before, after string
	}
	list, err := query(ctx, u.db.read, func(r row) (m memory, err error) {
		return m, r.Scan(&m.workflow, &m.step, &m.document, &m.part, &m.before, &m.after)
	}, family+`SELECT m.workflow, m.step, m.document, m.part, m.before, m.after FROM family f JOIN part_memories m ON m.run = f.id ORDER BY m.rowid`, of)
	if err == nil {
		err = inTx(ctx, u.db.write, func(tx *sql.Tx) error {
			var did bool
			if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM part_memories WHERE run = ?)`, run).Scan(&did); err != nil || did {
				return err
			}
			for _, m := range slices.Backward(list) {
				now, err := m.read(ctx, tx)
				if err == nil && now == m.after && !names(m.before, kept) && !names(m.after, kept) {
					err = m.set(ctx, tx, run, m.before)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("undo what is known of parts of documents: %w", err)
	}
	return nil
}

// names reports whether a record of a part has one of these files.
func names(view string, files []string) bool {
	var p engine.PartState
	if view == "" || json.Unmarshal([]byte(view), &p) != nil {
		return false
	}
	return slices.ContainsFunc(files, func(name string) bool {
		_, own := p.Files[name]
		return own || slices.Contains(p.Others, name)
	})
}
