package journal

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/vault"
)

// Memory keeps what a workflow remembers between its runs: the files that its pending inputs have processed, the contents
// that it wrote, and its variables.
type Memory struct {
	db    *database
	blobs *Blobs
}

var _ directives.Pending = (*Memory)(nil)

// Done reports whether a step's pending input has processed a file in this content. A content that the workflow itself
// wrote over a processed one counts as processed. It is directives.Pending.
func (mem *Memory) Done(ctx context.Context, key directives.PendingKey, name, sha256 string) (bool, error) {
	var marked string
	err := one(ctx, mem.db.read, `SELECT sha256 FROM pending WHERE workflow = ? AND step = ? AND directive = ? AND name = ?`,
		key.Workflow, key.Step, key.Directive, name).Scan(&marked)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look up whether %q is pending: %w", name, err)
	case marked == sha256:
		return true, nil
	}
	own, err := mem.OwnWrite(ctx, key.Workflow, name, sha256)
	if err != nil || !own {
		return false, err
	}
	earlier, err := mem.byEarlierStep(ctx, key, name, sha256)
	return !earlier, err
}

// byEarlierStep reports whether a step before this one wrote this content: to this step it is new. What this step or a later one wrote
// never is, or two steps that write to one file would find work for each other for ever. Once the record of the run is gone, nobody
// knows the step.
func (mem *Memory) byEarlierStep(ctx context.Context, key directives.PendingKey, name, sha256 string) (bool, error) {
	type written struct {
		step int
		run  engine.RunRecord
	}
	list, err := query(ctx, mem.db.read, func(r row) (w written, err error) {
		var view []byte
		if err := r.Scan(&w.step, &view); err != nil {
			return w, err
		}
		return w, json.Unmarshal(view, &w.run)
	}, `SELECT c.step, r.view FROM writes w CROSS JOIN changes c ON c.run = w.run CROSS JOIN runs r ON r.id = w.run
		WHERE w.file = (SELECT id FROM names WHERE name = ?) AND w.sha256 = ? AND w.workflow = (SELECT id FROM names WHERE name = ?)
		AND json_extract(CAST(c.view AS TEXT), '$.name') = ? AND json_extract(CAST(c.view AS TEXT), '$.after') = ? ORDER BY c.rowid DESC LIMIT 1`,
		name, packed(sha256), key.Workflow, name, sha256)
	if err != nil {
		return false, fmt.Errorf("look up which step wrote %q: %w", name, err)
	}
	if len(list) == 0 {
		return false, nil
	}
	by := list[0]
	own := slices.IndexFunc(by.run.Steps, func(s engine.StepRecord) bool { return s.Step == key.Step })
	if own < 0 {
		return by.run.Finished.IsZero(), nil // it comes later, or was not part of that run
	}
	return by.step < by.run.Steps[own].Index, nil
}

// LastSeen returns the content in which a step's input last processed a file, "" if it never did.
func (mem *Memory) LastSeen(ctx context.Context, key directives.PendingKey, name string) (sha256 string, err error) {
	sha256, err = markOf(ctx, mem.db.read, engine.Memory{Workflow: key.Workflow, Step: key.Step, Directive: key.Directive, Name: name})
	if err != nil {
		return "", fmt.Errorf("look up what %q last contained: %w", name, err)
	}
	return sha256, nil
}

// Committed stores what a step's commit leaves behind: the marks of its pending inputs and its shared variables.
func (mem *Memory) Committed(ctx context.Context, ref engine.StepRef, marks []engine.Mark, shared []engine.Var) error {
	err := inTx(ctx, mem.db.write, func(tx *sql.Tx) error {
		for _, m := range marks {
			if err := rememberMark(ctx, tx, ref, m); err != nil {
				return err
			}
			if m.Part != nil {
				if err := keepPart(ctx, tx, ref, *m.Part); err != nil {
					return err
				}
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO pending (workflow, step, directive, name, sha256, run) VALUES (?, ?, ?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET sha256 = excluded.sha256, run = excluded.run`, ref.Workflow, ref.Step, m.Directive, m.Name, m.SHA256, ref.Run); err != nil {
				return err
			}
		}
		for _, v := range shared {
			if err := keepVariable(ctx, tx, ref, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store what step %q of %s processed: %w", ref.Step, ref.Workflow, err)
	}
	return nil
}

// Writing records that a workflow is about to write these contents. It comes before the write, so that the watcher never sees
// the content first. The latest run that wrote a content is its origin. These rows are kept forever, so they are small: names
// have a table of their own.
func (mem *Memory) Writing(ctx context.Context, ref engine.StepRef, files []engine.StagedFile) error {
	err := inTx(ctx, mem.db.write, func(tx *sql.Tx) error {
		for _, f := range files {
			if _, err := tx.ExecContext(ctx, `INSERT INTO names (name) VALUES (?), (?) ON CONFLICT DO NOTHING`, f.Name, ref.Workflow); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO writes (file, sha256, workflow, run) SELECT f.id, ?, w.id, ? FROM names f, names w
				WHERE f.name = ? AND w.name = ? ON CONFLICT DO UPDATE SET run = excluded.run`, packed(f.New), ref.Run, f.Name, ref.Workflow); err != nil {
				return err
			}
			if err := keepSubject(ctx, tx, ref.Workflow, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store the writes of step %q of %s: %w", ref.Step, ref.Workflow, err)
	}
	return nil
}

// OwnWrite reports whether the workflow has ever written this content to this file.
func (mem *Memory) OwnWrite(ctx context.Context, workflow, name, sha256 string) (bool, error) {
	var own bool
	err := one(ctx, mem.db.read, `SELECT EXISTS (SELECT 1 FROM writes WHERE file = (SELECT id FROM names WHERE name = ?) AND sha256 = ?
		AND workflow = (SELECT id FROM names WHERE name = ?))`, name, packed(sha256), workflow).Scan(&own)
	if err != nil {
		return false, fmt.Errorf("look up who wrote %q: %w", name, err)
	}
	return own, nil
}

// WrittenBy returns the workflows that have written this content to this file.
func (mem *Memory) WrittenBy(ctx context.Context, name, sha256 string) ([]string, error) {
	list, err := query(ctx, mem.db.read, func(r row) (w string, err error) { return w, r.Scan(&w) },
		`SELECT w.name FROM writes o JOIN names w ON w.id = o.workflow
		WHERE o.file = (SELECT id FROM names WHERE name = ?) AND o.sha256 = ? ORDER BY w.name`, name, packed(sha256))
	if err != nil {
		return nil, fmt.Errorf("look up who wrote %q: %w", name, err)
	}
	return list, nil
}

// keepSubject stores what a file is about, by the name in the form in which the vault compares names.
func keepSubject(ctx context.Context, tx *sql.Tx, workflow string, f engine.StagedFile) error {
	if f.About == "" {
		return nil
	}
	name := vault.Fold(f.Name)
	if _, err := tx.ExecContext(ctx, `INSERT INTO names (name) VALUES (?) ON CONFLICT DO NOTHING`, name); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO subjects (workflow, file, about) SELECT w.id, f.id, ? FROM names f, names w WHERE f.name = ? AND w.name = ?
		ON CONFLICT DO UPDATE SET about = excluded.about`, f.About, name, workflow)
	return err
}

// About returns what a workflow wrote a file about; "" if that is not known.
func (mem *Memory) About(ctx context.Context, workflow, name string) (about string, err error) {
	err = one(ctx, mem.db.read, `SELECT about FROM subjects WHERE file = (SELECT id FROM names WHERE name = ?)
		AND workflow = (SELECT id FROM names WHERE name = ?)`, vault.Fold(name), workflow).Scan(&about)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("look up what %q is about: %w", name, err)
	}
	return about, nil
}

// Moved stores that a file, or a document's folder, has another name now, for what is written about it.
func (mem *Memory) Moved(ctx context.Context, from, to string) error {
	err := inTx(ctx, mem.db.write, func(tx *sql.Tx) error {
		list, err := query(ctx, tx, func(r row) (about string, err error) { return about, r.Scan(&about) },
			`SELECT DISTINCT about FROM subjects WHERE instr(about, ?) > 0`, from)
		if err != nil {
			return err
		}
		for _, about := range list {
			if is := aboutAfter(about, from, to); is != about {
				if _, err := tx.ExecContext(ctx, `UPDATE subjects SET about = ? WHERE about = ?`, is, about); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store that %q is %q now: %w", from, to, err)
	}
	return nil
}

// Linked stores that the links in a file are about to be rewritten. Whoever has seen the file or processed it needs not do so again.
func (mem *Memory) Linked(ctx context.Context, name, before, after string) error {
	err := inTx(ctx, mem.db.write, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE watched SET sha256 = ? WHERE name = ? AND sha256 = ?`, packed(after), name, packed(before)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `UPDATE pending SET sha256 = ? WHERE name = ? AND sha256 = ?`, after, name, before)
		return err
	})
	if err != nil {
		return fmt.Errorf("store that the links in %q change: %w", name, err)
	}
	return nil
}

// aboutAfter returns what a file is about, one subject in each line, after a move of one of them, or of a folder with it. A subject may
// be a part, which follows the name of its file and a comma.
func aboutAfter(about, from, to string) string {
	lines := strings.Split(about, "\n")
	for i, line := range lines {
		if rest, has := strings.CutPrefix(line, from); has && (rest == "" || strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, ", ")) {
			lines[i] = to + rest
		}
	}
	return strings.Join(lines, "\n")
}

// EverWrote reports whether the workflow has ever written to this file.
func (mem *Memory) EverWrote(ctx context.Context, workflow, name string) (bool, error) {
	var own bool
	err := one(ctx, mem.db.read, `SELECT EXISTS (SELECT 1 FROM writes WHERE file = (SELECT id FROM names WHERE name = ?)
		AND workflow = (SELECT id FROM names WHERE name = ?))`, name, workflow).Scan(&own)
	if err != nil {
		return false, fmt.Errorf("look up who wrote %q: %w", name, err)
	}
	return own, nil
}

// lastWrites is how many changes Written looks back.
const lastWrites = 20

// Written returns what the runs of a workflow did to a file and nobody has undone since, oldest first, the latest of them; and of all
// other runs, which links in the file they changed.
func (mem *Memory) Written(ctx context.Context, workflow, name string) ([]engine.Change, error) {
	type made struct {
		engine.Change
		undoes bool
	}
	list, err := query(ctx, mem.db.read, func(r row) (m made, err error) {
		var view []byte
		if err = r.Scan(&view, &m.undoes); err == nil {
			err = json.Unmarshal(view, &m.Change)
		}
		return m, err
	}, `SELECT c.view, r.kind = ? FROM changes c JOIN runs r ON r.id = c.run WHERE c.made = 1 AND json_extract(c.view, '$.name') = ?
		AND (r.workflow = ? OR json_extract(c.view, '$.links') > 0) ORDER BY c.rowid DESC LIMIT ?`, string(engine.KindUndo), name, workflow, 2*lastWrites)
	if err != nil {
		return nil, fmt.Errorf("look up what %s wrote to %q: %w", workflow, name, err)
	}
	var stand, undone []engine.Change
	for _, m := range slices.Backward(list) {
		last := len(stand) - 1
		switch {
		case !m.undoes:
			stand, undone = append(stand, m.Change), nil
		case last >= 0 && stand[last].After == m.Before && stand[last].Before == m.After:
			stand, undone = stand[:last], append(undone, stand[last])
		case len(undone) > 0 && undone[len(undone)-1].After == m.After: // the undo of an undo
			stand, undone = append(stand, undone[len(undone)-1]), undone[:len(undone)-1]
		}
	}
	return stand[max(0, len(stand)-lastWrites):], nil
}

// packed is a digest in half as many bytes.
func packed(digest string) []byte {
	if raw, err := hex.DecodeString(digest); err == nil {
		return raw
	}
	return []byte(digest)
}

// keepVariable stores a variable. The origins of the value before stay with it: the new value may be that one and more.
func keepVariable(ctx context.Context, tx *sql.Tx, ref engine.StepRef, v engine.Var) error {
	before, _, err := readVariable(ctx, tx, ref.Workflow, v.Name)
	if err != nil {
		return err
	}
	if err := remember(ctx, tx, engine.Memory{
		Run: ref.Run, Workflow: ref.Workflow, Step: ref.Step, Variable: true, Name: v.Name, Before: before.Digest, After: v.Digest, Origins: before.Origins,
	}); err != nil {
		return err
	}
	for _, origin := range v.Origins {
		if !slices.Contains(before.Origins, origin) {
			before.Origins = append(before.Origins, origin)
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO variables (workflow, name, digest, run, origins) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET digest = excluded.digest, run = excluded.run, origins = excluded.origins`,
		ref.Workflow, v.Name, v.Digest, ref.Run, strings.Join(before.Origins, "\n"))
	return err
}

// Variable returns a variable that is kept between the runs of a workflow; set reports whether it exists.
func (mem *Memory) Variable(ctx context.Context, workflow, name string) (v engine.Var, set bool, err error) {
	if v, set, err = readVariable(ctx, mem.db.read, workflow, name); err != nil {
		return v, false, fmt.Errorf("read variable %q of %s: %w", name, workflow, err)
	}
	if set {
		mem.blobs.holds(v.Digest) // a run is about to use it, and may still need it after the variable has changed
	}
	return v, set, nil
}

func readVariable(ctx context.Context, from handle, workflow, name string) (engine.Var, bool, error) {
	v, origins := engine.Var{Name: name}, ""
	err := from.QueryRowContext(ctx, `SELECT digest, origins FROM variables WHERE workflow = ? AND name = ?`, workflow, name).Scan(&v.Digest, &origins)
	if errors.Is(err, sql.ErrNoRows) {
		return v, false, nil
	}
	v.Origins = lines(origins)
	return v, err == nil, err
}

// Writers returns the workflows whose runs wrote this content to this file, each with the workflows to which its run goes
// back: those that wrote what started it, and those of the runs that asked for it. A run that retention has removed goes
// back to nothing.
func (mem *Memory) Writers(ctx context.Context, name, sha256 string) ([]engine.Writer, error) {
	type written struct{ workflow, run string }
	list, err := query(ctx, mem.db.read, func(r row) (w written, err error) { return w, r.Scan(&w.workflow, &w.run) },
		`SELECT w.name, o.run FROM writes o JOIN names w ON w.id = o.workflow
		WHERE o.file = (SELECT id FROM names WHERE name = ?) AND o.sha256 = ? ORDER BY w.name`, name, packed(sha256))
	var writers []engine.Writer
	for _, w := range list {
		var causes []string
		if causes, err = mem.causes(ctx, w.run); err != nil {
			break
		}
		writers = append(writers, engine.Writer{Workflow: strings.TrimSuffix(w.workflow, engine.Moved), Causes: causes})
	}
	if err != nil {
		return nil, fmt.Errorf("look up who wrote %q: %w", name, err)
	}
	return writers, nil
}

// causes are the workflows to which a run goes back.
func (mem *Memory) causes(ctx context.Context, run string) ([]string, error) {
	var causes []string
	for run != "" {
		var raw []byte
		var trigger engine.Trigger
		err := one(ctx, mem.db.read, `SELECT json_extract(view, '$.trigger') FROM runs WHERE id = ?`, run).Scan(&raw)
		if errors.Is(err, sql.ErrNoRows) {
			break
		}
		if err == nil {
			err = json.Unmarshal(raw, &trigger)
		}
		if err != nil {
			return nil, err
		}
		causes = append(causes, trigger.Causes...)
		if run = trigger.Parent; run != "" {
			var asked string
			err := one(ctx, mem.db.read, `SELECT workflow FROM runs WHERE id = ?`, run).Scan(&asked)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return nil, err
			}
			causes = append(causes, asked)
		}
	}
	slices.Sort(causes)
	return slices.DeleteFunc(slices.Compact(causes), func(name string) bool { return name == "" }), nil
}
