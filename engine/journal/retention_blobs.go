package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	// blobGrace is how old a blob must be to be removed.
	blobGrace = time.Hour
	// sweepFiles is how many blobs are removed while nothing can be stored.
	sweepFiles = 100
)

// unmarked are tables that hold no digests of blobs. The digests of own writes, of pending marks, of parts, of subjects and of
// approved prompts are those of files and texts of the vault.
const unmarked = `('writes', 'names', 'pending', 'approved_prompts', 'parts', 'part_memories', 'subjects', 'blob_links', 'upkeep')`

// sweepBlobs removes the blobs that no row refers to, and no blob that stays.
//
// Candidates are listed first and the rows are read after that, in one snapshot. What refers to a candidate later comes
// from [Blobs.Put] or from a row that is read for use, and both make the blob a new one: its age is looked at again just
// before it goes. Blobs that were stored since the oldest run at work began are no candidates, because an activity may hold
// their digests for hours before its outcome is a row.
func (sw *sweeper) sweepBlobs(ctx context.Context, expired, now time.Time, s *Swept) error {
	before := now.Add(-blobGrace)
	since, err := sw.active(ctx)
	if err != nil {
		return err
	}
	if !since.IsZero() && since.Before(before) {
		before = since.Add(-time.Minute)
	}
	candidates := map[blobID]bool{}
	err = sw.blobs.each(ctx, func(id blobID, info fs.FileInfo) error {
		if info.ModTime().Before(before) {
			candidates[id] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(candidates) > 0 {
		if err := sw.spareMarked(ctx, candidates, expired); err != nil {
			return err
		}
		if err := sw.spareLinked(ctx, candidates); err != nil {
			return err
		}
	}
	return errors.Join(sw.removeBlobs(ctx, candidates, before, s), sw.removeLeftovers())
}

// spareMarked takes blobs off the list that rows refer to.
func (sw *sweeper) spareMarked(ctx context.Context, candidates map[blobID]bool, expired time.Time) (err error) {
	tx, err := sw.db.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	dropped, err := droppedContents(ctx, tx, expired)
	if err != nil {
		return err
	}
	tables, err := query(ctx, tx, func(r row) (name string, err error) { return name, r.Scan(&name) },
		`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN `+unmarked)
	if err != nil {
		return err
	}
	for _, table := range tables {
		if err := spareOf(ctx, tx, table, dropped, candidates); err != nil {
			return fmt.Errorf("look for blobs in %s: %w", table, err)
		}
	}
	return nil
}

// spareOf reads the rows of one table. The contents before of a run that has ended long ago are not spared by its rows.
func spareOf(ctx context.Context, tx *sql.Tx, table string, dropped map[string]map[blobID]bool, candidates map[blobID]bool) (err error) {
	rows, err := tx.QueryContext(ctx, `SELECT * FROM `+table)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, into, run := make([]sql.RawBytes, len(columns)), make([]any, len(columns)), -1
	for i, c := range columns {
		into[i] = &values[i]
		if c == "run" || c == "id" && table == "runs" {
			run = i
		}
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		var own map[blobID]bool
		if run >= 0 {
			own = dropped[string(values[run])]
		}
		for _, v := range values {
			digestsIn(v, func(id blobID) {
				if !own[id] {
					delete(candidates, id)
				}
			})
		}
	}
	return rows.Err()
}

// spareLinked takes blobs off the list that are named by blobs which stay.
func (sw *sweeper) spareLinked(ctx context.Context, candidates map[blobID]bool) error {
	for spared := true; spared; {
		spared = false
		for id := range candidates {
			by, err := query(ctx, sw.db.read, func(r row) (by []byte, err error) { return by, r.Scan(&by) }, `SELECT blob FROM blob_links WHERE refers = ?`, id[:])
			if err != nil {
				return err
			}
			for _, raw := range by {
				outer := blobID(raw)
				if candidates[outer] {
					continue
				}
				if _, err := os.Stat(sw.blobs.path(outer.String())); err == nil {
					delete(candidates, id)
					spared = true
					break
				}
			}
		}
	}
	return nil
}

// removeBlobs removes what is still old.
func (sw *sweeper) removeBlobs(ctx context.Context, candidates map[blobID]bool, before time.Time, s *Swept) error {
	batch := make([]blobID, 0, sweepFiles)
	for id := range candidates {
		batch = append(batch, id)
		if len(batch) < sweepFiles {
			continue
		}
		if err := sw.removeBatch(ctx, batch, before, s); err != nil {
			return err
		}
		batch = batch[:0]
	}
	return sw.removeBatch(ctx, batch, before, s)
}

func (sw *sweeper) removeBatch(ctx context.Context, batch []blobID, before time.Time, s *Swept) error {
	if err := ctx.Err(); err != nil || len(batch) == 0 {
		return err
	}
	sw.blobs.sweeping.Lock()
	defer sw.blobs.sweeping.Unlock()
	var gone []blobID
	for _, id := range batch {
		path := sw.blobs.path(id.String())
		info, err := os.Stat(path)
		if err != nil || !info.ModTime().Before(before) {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		gone, s.Blobs, s.Bytes = append(gone, id), s.Blobs+1, s.Bytes+info.Size()
	}
	return inTx(ctx, sw.db.write, func(tx *sql.Tx) error {
		for _, id := range gone {
			if _, err := tx.ExecContext(ctx, `DELETE FROM blob_links WHERE blob = ?1 OR refers = ?1`, id[:]); err != nil {
				return err
			}
		}
		return nil
	})
}

// removeLeftovers removes the temporary files of processes that were killed while they stored a blob. There is no other
// process, and none of this one while the lock is held.
func (sw *sweeper) removeLeftovers() error {
	sw.blobs.sweeping.Lock()
	defer sw.blobs.sweeping.Unlock()
	left, err := filepath.Glob(filepath.Join(sw.db.dir, "blobs", "*", ".new-*"))
	if err != nil {
		return err
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}
