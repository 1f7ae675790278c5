package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// Retention sets how long the journal keeps finished records.
type Retention struct {
	Runs        time.Duration // records of runs, after their end
	PerWorkflow int           // runs of each workflow
	Contents    time.Duration // what files held before runs changed them, after the end of the run
}

// Swept counts what a sweep has removed.
type Swept struct {
	Runs  int
	Rows  int // others, that belong to no run
	Blobs int
	Bytes int64 // of the blobs
}

const (
	// keptDays is how long runs and slots stay whatever their number: limits of a day count them, and a clock that is set
	// back must find what was done.
	keptDays = 48 * time.Hour
	// keptAttempts is how many of a workflow's runs that did something stay for ever: three failures in a row pause it.
	keptAttempts = 3
	// slotsMost is how many slots of a workflow are kept beyond keptDays: two weeks of minutes.
	slotsMost = 20_000
	// costsAtLeast is how long calls of models are kept at least: the sums of this month and of the one before.
	costsAtLeast = 63 * 24 * time.Hour
	// sweepRuns is how many runs one transaction removes, so that runs at work never wait long for theirs.
	sweepRuns = 50
)

// What becomes of the rows of each table in time. Each table is in one of the three lists; a test compares them with the
// database.
var (
	// withRuns are tables whose rows go with the run that their column names.
	withRuns = map[string]string{"records": "run", "batches": "run", "changes": "run", "memories": "run", "part_memories": "run", "events": "run", "approvals": "run"}
	// byAge are the tables whose rows go by rules of their own. Retention.times has their parameters.
	byAge = map[string][]string{
		"attempts": {`DELETE FROM attempts WHERE time < @old`},
		"imports":  {`DELETE FROM imports WHERE finished > 0 AND finished < @old AND state NOT IN ('done', 'partial', 'needs_password')`},
		"slots": {
			`DELETE FROM slots WHERE slot < @old AND state != 'due'`,
			`DELETE FROM slots WHERE rowid IN (SELECT rowid FROM (SELECT rowid, slot, state, row_number() OVER (PARTITION BY workflow ORDER BY slot DESC) AS place
				FROM slots WHERE workflow IN (SELECT workflow FROM slots GROUP BY workflow HAVING count(*) > @slots)) WHERE place > @slots AND slot < @recent AND state != 'due')`,
		},
		"spending": {`DELETE FROM spending WHERE time < @costs AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = spending.run)`},
		// Who wrote a content stays for ever; in which run it was, as long as the run.
		"writes": {`UPDATE writes SET run = '' WHERE run != '' AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = writes.run)`},
	}
	// forGood are the tables that are kept, and why they do not grow without end.
	forGood = map[string]string{
		"runs":             "see removable",
		"answers":          "for @cache: so many for a step as maxAnswers says, which goes up to forever",
		"pending":          "one row for each file that an input has processed",
		"parts":            "one row for each part of a document that a step has done",
		"approved_prompts": "one row for each step and the files that its prompt was about",
		"variables":        "one row for each variable that a workflow shares",
		"watches":          "one row for each workflow that catches up with watched files",
		"watched":          "one row for each file that such a workflow watches",
		"noticed":          "the changes that wait for a run",
		"schedules":        "one row for each workflow",
		"unpaused":         "one row for each workflow",
		"names":            "one row for each file that was ever written",
		"subjects":         "one row for each file that was written about another one",
		"blob_links":       "goes with the blobs",
		"upkeep":           "a few rows",
		// Where content comes from is known for ever: a file may be read again after years, at any name.
		"origin_sets":     "one row for each import, and for each run that wrote after it was shown foreign content",
		"origin_contents": "50 bytes for each file of an import, and for each content that such a run wrote",
		"origin_names":    "one row for each file that is known as foreign or trusted",
		"origin_pieces":   "20 bytes for each sentence of foreign text, 4,000 of a file at most",
	}
)

// removable finds finished runs that are too old or too many. Of each workflow these stay: the latest run, the latest that
// succeeded, those that decide whether it is paused. A run that another one asked for stays as long as that one, since a
// retry of that one looks for it. Imports that wait for a password stay.
const removable = `SELECT id FROM (
	SELECT id, trigger, status, finished, created,
		row_number() OVER latest AS place,
		sum(finished > 0 AND status NOT IN ('skipped', 'cancelled')) OVER latest AS attempts,
		sum(status IN ('done', 'done_with_omissions')) OVER latest AS successes
	FROM runs WHERE (workflow, kind) IN (SELECT workflow, kind FROM runs WHERE kind != 'import' GROUP BY workflow, kind
		HAVING count(*) > @most OR min(CASE WHEN finished > 0 THEN finished END) < @old)
	WINDOW latest AS (PARTITION BY kind, workflow ORDER BY created DESC, rowid DESC)
) AS r WHERE finished > 0 AND (finished < @old OR place > @most AND created < @recent)
	AND place > 1 AND (attempts > @attempts OR status IN ('skipped', 'cancelled'))
	AND (successes > 1 OR status NOT IN ('done', 'done_with_omissions'))
	AND (trigger != 'tool' OR NOT EXISTS (SELECT 1 FROM runs AS parent
		WHERE parent.id = (SELECT json_extract(view, '$.trigger.parent') FROM runs AS own WHERE own.id = r.id)))
UNION ALL
SELECT id FROM runs WHERE kind = 'import' AND finished > 0 AND finished < @old
	AND NOT EXISTS (SELECT 1 FROM imports WHERE imports.id = runs.id AND state = 'needs_password')`

func (r Retention) times(now time.Time) []any {
	old := now.Add(-r.Runs)
	costs := now.Add(-max(r.Runs, costsAtLeast))
	return []any{
		sql.Named("old", micros(old)), sql.Named("recent", micros(now.Add(-keptDays))), sql.Named("costs", micros(costs)),
		sql.Named("most", r.PerWorkflow), sql.Named("attempts", keptAttempts), sql.Named("slots", slotsMost),
	}
}

// sweeper removes what is beyond retention.
type sweeper struct {
	db      *database
	blobs   *Blobs
	answers *Answers
}

func (j *Journal) sweeper() *sweeper { return &sweeper{j.db, j.Blobs, j.Answers} }

// Sweep removes what is beyond retention: records of runs and other rows at each call, unreferenced blobs about once a day. It
// can be interrupted at any moment, and the next call continues. Runs may be running; nothing that they use is touched.
func (j *Journal) Sweep(ctx context.Context, r Retention, now time.Time) (Swept, error) {
	var s Swept
	sw := j.sweeper()
	err := sw.sweepRows(ctx, r, now, &s)
	if err == nil {
		err = sw.sweepDaily(ctx, r, now, &s)
	}
	if err != nil {
		return s, fmt.Errorf("remove old records: %w", err)
	}
	return s, nil
}

func (sw *sweeper) sweepRows(ctx context.Context, r Retention, now time.Time, s *Swept) error {
	times := r.times(now)
	runs, err := query(ctx, sw.db.read, func(r row) (id string, err error) { return id, r.Scan(&id) }, removable, times...)
	if err != nil {
		return err
	}
	for len(runs) > 0 {
		n := min(len(runs), sweepRuns)
		if err := inTx(ctx, sw.db.write, func(tx *sql.Tx) error { return removeRuns(ctx, tx, runs[:n], &s.Runs) }); err != nil {
			return err
		}
		runs = runs[n:]
	}
	for table, statements := range byAge {
		for _, q := range statements {
			res, err := change(ctx, sw.db.write, q, times...)
			if err != nil {
				return fmt.Errorf("%s: %w", table, err)
			}
			if n, err := res.RowsAffected(); err == nil && table != "writes" {
				s.Rows += int(n)
			}
		}
	}
	return nil
}

// removeRuns removes runs and everything that belongs to them, except those that are running again.
func removeRuns(ctx context.Context, tx *sql.Tx, runs []string, removed *int) error {
	for _, id := range runs {
		res, err := tx.ExecContext(ctx, `DELETE FROM runs WHERE id = ? AND finished > 0`, id)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			continue
		}
		*removed++
		for table, column := range withRuns {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE `+column+` = ?`, id); err != nil {
				return fmt.Errorf("%s: %w", table, err)
			}
		}
	}
	return nil
}

// dailyEvery is less than a day, so that a sweep each hour keeps its time of the day.
const dailyEvery = 23*time.Hour + 30*time.Minute

func (sw *sweeper) sweepDaily(ctx context.Context, r Retention, now time.Time, s *Swept) error {
	last, err := sw.db.upkept(ctx, "blobs")
	if err != nil || !last.IsZero() && now.Sub(last).Abs() < dailyEvery {
		return err
	}
	if err := errors.Join(sw.answers.sweepReceived(ctx), sw.blobs.linkAll(ctx, now)); err != nil {
		return err
	}
	if err := sw.sweepBlobs(ctx, now.Add(-r.Contents), now, s); err != nil {
		return err
	}
	return sw.db.keptUp(ctx, "blobs", now)
}

// upkept is when a job was done last; zero for never.
func (db *database) upkept(ctx context.Context, what string) (time.Time, error) {
	times, err := query(ctx, db.read, func(r row) (us int64, err error) { return us, r.Scan(&us) }, `SELECT time FROM upkeep WHERE what = ?`, what)
	if err != nil || len(times) == 0 {
		return time.Time{}, err
	}
	return moment(times[0]), nil
}

func (db *database) keptUp(ctx context.Context, what string, now time.Time) error {
	_, err := change(ctx, db.write, `INSERT INTO upkeep (what, time) VALUES (?, ?) ON CONFLICT DO UPDATE SET time = excluded.time`, what, micros(now))
	return err
}

// active returns when the oldest unfinished run began: such runs may hold digests that are in no row yet. A parked run has
// all it needs in its records.
func (sw *sweeper) active(ctx context.Context) (since time.Time, err error) {
	var us int64
	err = one(ctx, sw.db.read, `SELECT coalesce(min(created), 0) FROM runs WHERE finished = 0 AND status != ?`, engine.AwaitingApproval).Scan(&us)
	return moment(us), err
}
