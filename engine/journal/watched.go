package journal

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/vault"
)

// Watches keeps changes of files until the run that they start is stored, and what watched files held when they were last
// seen. Digests are packed, since they name no blobs.
type Watches struct{ db *database }

// Notice stores news of watched files in one transaction. The file itself is kept for workflows that Watch was called for.
func (ws *Watches) Notice(ctx context.Context, news []engine.Notice) error {
	err := inTx(ctx, ws.db.write, func(tx *sql.Tx) error {
		for _, n := range news {
			if err := notice(ctx, tx, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store %d changes: %w", len(news), err)
	}
	return nil
}

func notice(ctx context.Context, tx *sql.Tx, n engine.Notice) error {
	if n.Batch != "" {
		if _, err := tx.ExecContext(ctx, `INSERT INTO noticed (batch, name, workflow, time, causes, import) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET causes = excluded.causes`, n.Batch, n.File.Name, n.Workflow, micros(n.Time), strings.Join(n.Causes, "\n"), n.Import); err != nil {
			return err
		}
	}
	if n.Import != "" {
		return nil // the note is no watched file
	}
	if n.Gone {
		_, err := tx.ExecContext(ctx, `DELETE FROM watched WHERE workflow = ? AND name = ?`, n.Workflow, n.File.Name)
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO watched (workflow, name, sha256, size, modified) SELECT workflow, ?, ?, ?, ? FROM watches WHERE workflow = ?
		ON CONFLICT DO UPDATE SET sha256 = excluded.sha256, size = excluded.size, modified = excluded.modified`,
		n.File.Name, packed(n.File.SHA256), n.File.Size, n.File.Modified.UnixNano(), n.Workflow)
	return err
}

// Noticed returns the news of batches that were not delivered, in the order in which they came.
func (ws *Watches) Noticed(ctx context.Context) ([]engine.Notice, error) {
	news, err := query(ctx, ws.db.read, func(r row) (n engine.Notice, err error) {
		var at int64
		var causes string
		err = r.Scan(&n.Batch, &n.File.Name, &n.Workflow, &at, &causes, &n.Import)
		n.Time, n.Causes = moment(at), lines(causes)
		return n, err
	}, `SELECT batch, name, workflow, time, causes, import FROM noticed ORDER BY time, batch, name`)
	if err != nil {
		return nil, fmt.Errorf("read changes that wait: %w", err)
	}
	return news, nil
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// Delivered forgets a batch: its run is stored.
func (ws *Watches) Delivered(ctx context.Context, batch string) error {
	if _, err := change(ctx, ws.db.write, `DELETE FROM noticed WHERE batch = ?`, batch); err != nil {
		return fmt.Errorf("forget changes that were delivered: %w", err)
	}
	return nil
}

// Watch keeps what files hold from now on for a workflow, in place of what was kept before.
func (ws *Watches) Watch(ctx context.Context, workflow, globs string, files []vault.File) error {
	err := inTx(ctx, ws.db.write, func(tx *sql.Tx) error {
		if err := unwatch(ctx, tx, workflow); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO watches (workflow, globs) VALUES (?, ?)`, workflow, globs); err != nil {
			return err
		}
		for _, f := range files {
			if err := notice(ctx, tx, engine.Notice{Workflow: workflow, File: f}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("keep what %s watches: %w", workflow, err)
	}
	return nil
}

// Unwatch keeps no files for a workflow any more.
func (ws *Watches) Unwatch(ctx context.Context, workflow string) error {
	var kept bool
	err := one(ctx, ws.db.read, `SELECT EXISTS (SELECT 1 FROM watches WHERE workflow = ?)`, workflow).Scan(&kept)
	if err == nil && kept {
		err = inTx(ctx, ws.db.write, func(tx *sql.Tx) error { return unwatch(ctx, tx, workflow) })
	}
	if err != nil {
		return fmt.Errorf("forget what %s watches: %w", workflow, err)
	}
	return nil
}

func unwatch(ctx context.Context, tx *sql.Tx, workflow string) error {
	for _, forget := range []string{`DELETE FROM watched WHERE workflow = ?`, `DELETE FROM watches WHERE workflow = ?`} {
		if _, err := tx.ExecContext(ctx, forget, workflow); err != nil {
			return err
		}
	}
	return nil
}

// Watched returns the files that are kept for a workflow, by name; ok is false when they are not kept for these globs.
func (ws *Watches) Watched(ctx context.Context, workflow, globs string) (files map[string]vault.File, ok bool, err error) {
	err = one(ctx, ws.db.read, `SELECT EXISTS (SELECT 1 FROM watches WHERE workflow = ? AND globs = ?)`, workflow, globs).Scan(&ok)
	if err != nil || !ok {
		return nil, false, wrapWatched(workflow, err)
	}
	list, err := query(ctx, ws.db.read, func(r row) (f vault.File, err error) {
		var at int64
		err = r.Scan(&f.Name, &f.SHA256, &f.Size, &at)
		f.Modified = time.Unix(0, at)
		return f, err
	}, `SELECT name, lower(hex(sha256)), size, modified FROM watched WHERE workflow = ?`, workflow)
	files = make(map[string]vault.File, len(list))
	for _, f := range list {
		files[f.Name] = f
	}
	return files, true, wrapWatched(workflow, err)
}

// Holds reports whether a file is kept with this content for a workflow.
func (ws *Watches) Holds(ctx context.Context, workflow, name, sha256 string) (held bool, err error) {
	err = one(ctx, ws.db.read, `SELECT EXISTS (SELECT 1 FROM watched WHERE workflow = ? AND name = ? AND sha256 = ?)`,
		workflow, name, packed(sha256)).Scan(&held)
	return held, wrapWatched(workflow, err)
}

func wrapWatched(workflow string, err error) error {
	if err != nil {
		return fmt.Errorf("read what %s watches: %w", workflow, err)
	}
	return nil
}
