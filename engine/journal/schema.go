package journal

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
)

// migrations bring a database from one version to the next; user_version counts those that were applied. An entry that
// was released is never changed. Times are microseconds since 1970, UTC. Digests of blobs are hexadecimal text, alone or
// within JSON, so that retention finds them in any table. retention.go has the rule for the rows of each table.
var migrations = []string{`
CREATE TABLE runs (
	id TEXT PRIMARY KEY, kind TEXT NOT NULL, workflow TEXT NOT NULL, status TEXT NOT NULL, trigger TEXT NOT NULL,
	key TEXT NOT NULL, generation INTEGER NOT NULL, lane TEXT NOT NULL, cancelled INTEGER NOT NULL DEFAULT 0,
	created INTEGER NOT NULL, finished INTEGER NOT NULL DEFAULT 0, view TEXT NOT NULL, spec TEXT NOT NULL,
	UNIQUE (key, generation)
);
CREATE INDEX runs_by_workflow ON runs (workflow, created);
CREATE INDEX runs_by_created ON runs (created);
CREATE INDEX runs_unfinished ON runs (created) WHERE finished = 0;
CREATE TABLE records (
	run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, seq INTEGER NOT NULL, step INTEGER NOT NULL,
	activity TEXT NOT NULL, in_digest TEXT NOT NULL, input TEXT NOT NULL, output TEXT, failure TEXT,
	attempts INTEGER NOT NULL, started INTEGER NOT NULL, finished INTEGER NOT NULL, PRIMARY KEY (run, seq)
);
CREATE TABLE events (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, number INTEGER NOT NULL, time INTEGER NOT NULL,
	kind TEXT NOT NULL, body TEXT NOT NULL
);
CREATE UNIQUE INDEX events_once ON events (run, number) WHERE number > 0;
CREATE INDEX events_by_run ON events (run, seq);
CREATE TABLE imports (
	id TEXT PRIMARY KEY, source TEXT NOT NULL, sha256 TEXT NOT NULL, key TEXT NOT NULL, state TEXT NOT NULL,
	created INTEGER NOT NULL, finished INTEGER NOT NULL DEFAULT 0, announced INTEGER NOT NULL DEFAULT 0, view TEXT NOT NULL
);
CREATE INDEX imports_by_created ON imports (created);
CREATE INDEX imports_by_content ON imports (sha256);
CREATE TABLE slots (
	workflow TEXT NOT NULL, slot INTEGER NOT NULL, schedule TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
	run TEXT NOT NULL, count INTEGER NOT NULL, zone TEXT NOT NULL, PRIMARY KEY (workflow, slot)
);
CREATE INDEX slots_by_time ON slots (slot);
CREATE TABLE schedules (workflow TEXT PRIMARY KEY, spec TEXT NOT NULL, until INTEGER NOT NULL);
CREATE TABLE unpaused (workflow TEXT PRIMARY KEY, since INTEGER NOT NULL);
CREATE TABLE pending (
	workflow TEXT NOT NULL, step TEXT NOT NULL, directive INTEGER NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL,
	run TEXT NOT NULL, PRIMARY KEY (workflow, step, directive, name)
);
CREATE TABLE variables (
	workflow TEXT NOT NULL, name TEXT NOT NULL, digest TEXT NOT NULL, run TEXT NOT NULL, PRIMARY KEY (workflow, name)
);
CREATE TABLE own_writes (
	workflow TEXT NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL, run TEXT NOT NULL, PRIMARY KEY (workflow, name, sha256)
);
CREATE TABLE usage (
	run TEXT NOT NULL, seq INTEGER NOT NULL, workflow TEXT NOT NULL, step TEXT NOT NULL, time INTEGER NOT NULL,
	model TEXT NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, cached INTEGER NOT NULL,
	cache_write INTEGER NOT NULL, thinking INTEGER NOT NULL, cost REAL NOT NULL, cost_unknown INTEGER NOT NULL,
	PRIMARY KEY (run, seq, time)
);
CREATE INDEX usage_by_time ON usage (time);
`, `
CREATE TABLE branched (
	run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, branch INTEGER NOT NULL, seq INTEGER NOT NULL, step INTEGER NOT NULL,
	activity TEXT NOT NULL, in_digest TEXT NOT NULL, input TEXT NOT NULL, output TEXT, failure TEXT,
	attempts INTEGER NOT NULL, started INTEGER NOT NULL, finished INTEGER NOT NULL, PRIMARY KEY (run, branch, seq)
);
INSERT INTO branched SELECT run, 0, seq, step, activity, in_digest, input, output, failure, attempts, started, finished
	FROM records ORDER BY rowid;
DROP TABLE records;
ALTER TABLE branched RENAME TO records;
CREATE TABLE branched (
	run TEXT NOT NULL, branch INTEGER NOT NULL, seq INTEGER NOT NULL, workflow TEXT NOT NULL, step TEXT NOT NULL,
	time INTEGER NOT NULL, model TEXT NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, cached INTEGER NOT NULL,
	cache_write INTEGER NOT NULL, thinking INTEGER NOT NULL, cost REAL NOT NULL, cost_unknown INTEGER NOT NULL,
	PRIMARY KEY (run, branch, seq, time)
);
INSERT INTO branched SELECT run, 0, seq, workflow, step, time, model, input, output, cached, cache_write, thinking, cost, cost_unknown
	FROM usage ORDER BY rowid;
DROP TABLE usage;
ALTER TABLE branched RENAME TO usage;
CREATE INDEX usage_by_time ON usage (time);
CREATE TABLE batches (
	run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step INTEGER NOT NULL, batch INTEGER NOT NULL, view TEXT NOT NULL,
	PRIMARY KEY (run, step, batch)
);
CREATE TABLE answers (
	key TEXT PRIMARY KEY, workflow TEXT NOT NULL, step TEXT NOT NULL, run TEXT NOT NULL, entry TEXT NOT NULL, stored INTEGER NOT NULL
);
CREATE INDEX answers_by_step ON answers (workflow, step, stored);
`, `
ALTER TABLE variables ADD COLUMN origins TEXT NOT NULL DEFAULT '';
`, `
CREATE TABLE changes (
	run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, step INTEGER NOT NULL, batch INTEGER NOT NULL, call TEXT NOT NULL,
	closed INTEGER NOT NULL DEFAULT 0, made INTEGER NOT NULL DEFAULT 0, time INTEGER NOT NULL, said TEXT NOT NULL, view TEXT NOT NULL
);
CREATE UNIQUE INDEX changes_by_call ON changes (run, step, batch, call) WHERE closed = 0;
`, `
DROP INDEX runs_by_workflow;
CREATE INDEX runs_by_workflow ON runs (workflow, kind, created, status, finished, trigger, id);
CREATE INDEX runs_by_kind ON runs (kind, created);
CREATE INDEX runs_by_status ON runs (kind, status, created);
CREATE INDEX runs_by_end ON runs (workflow, finished) WHERE finished > 0;
CREATE INDEX changes_by_run ON changes (run);
CREATE INDEX imports_waiting ON imports (created) WHERE finished = 0;
CREATE INDEX imports_by_state ON imports (state, created);
CREATE INDEX imports_new ON imports (finished) WHERE announced = 0;
CREATE INDEX slots_due ON slots (slot) WHERE state = 'due';
CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE writes (
	file INTEGER NOT NULL REFERENCES names (id), sha256 BLOB NOT NULL, workflow INTEGER NOT NULL REFERENCES names (id), run TEXT NOT NULL,
	PRIMARY KEY (file, sha256, workflow)
) WITHOUT ROWID;
INSERT INTO names (name) SELECT name FROM own_writes UNION SELECT workflow FROM own_writes;
INSERT INTO writes SELECT f.id, coalesce(unhex(o.sha256), o.sha256), w.id, o.run FROM own_writes o
	JOIN names f ON f.name = o.name JOIN names w ON w.name = o.workflow;
DROP TABLE own_writes;
CREATE VIEW own_writes AS SELECT w.name AS workflow, f.name AS name, lower(hex(o.sha256)) AS sha256, o.run AS run FROM writes o
	JOIN names f ON f.id = o.file JOIN names w ON w.id = o.workflow;
CREATE TABLE blob_links (refers BLOB NOT NULL, blob BLOB NOT NULL, PRIMARY KEY (refers, blob)) WITHOUT ROWID;
CREATE INDEX blob_links_by_blob ON blob_links (blob);
CREATE TABLE upkeep (what TEXT PRIMARY KEY, time INTEGER NOT NULL);
`, `
CREATE TABLE spending (
	call INTEGER NOT NULL, level INTEGER NOT NULL, run TEXT NOT NULL, workflow TEXT NOT NULL, step INTEGER NOT NULL,
	time INTEGER NOT NULL, model TEXT NOT NULL, usd INTEGER NOT NULL, tokens INTEGER NOT NULL, state INTEGER NOT NULL,
	caps TEXT NOT NULL, PRIMARY KEY (call, level)
) WITHOUT ROWID;
INSERT INTO spending SELECT row_number() OVER (ORDER BY time, rowid), 0, run, workflow, -1, time, model, round(cost * 1e9), input + output, 1, '{}'
	FROM usage;
CREATE INDEX spending_by_run ON spending (run, step, usd, tokens, state);
CREATE INDEX spending_by_workflow ON spending (workflow, time, usd, tokens, state);
CREATE INDEX spending_by_time ON spending (time, usd, tokens, state) WHERE level = 0;
CREATE INDEX spending_open ON spending (call) WHERE state = 0;
`, `
CREATE TABLE watches (workflow TEXT PRIMARY KEY, globs TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE watched (
	workflow TEXT NOT NULL, name TEXT NOT NULL, sha256 BLOB NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL,
	PRIMARY KEY (workflow, name)
) WITHOUT ROWID;
CREATE TABLE noticed (
	batch TEXT NOT NULL, name TEXT NOT NULL, workflow TEXT NOT NULL, time INTEGER NOT NULL, causes TEXT NOT NULL, PRIMARY KEY (batch, name)
) WITHOUT ROWID;
`, `
CREATE TABLE approvals (
	run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, item INTEGER NOT NULL, step INTEGER NOT NULL, batch INTEGER NOT NULL, key TEXT NOT NULL,
	created INTEGER NOT NULL, deadline INTEGER NOT NULL, decision TEXT NOT NULL DEFAULT '', decided_by TEXT NOT NULL DEFAULT '',
	decided INTEGER NOT NULL DEFAULT 0, view TEXT NOT NULL, PRIMARY KEY (run, item)
);
CREATE UNIQUE INDEX approvals_by_key ON approvals (run, step, batch, key);
CREATE INDEX approvals_open ON approvals (deadline, created) WHERE decision = '';
`, `
CREATE TABLE memories (
	run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, workflow TEXT NOT NULL, step TEXT NOT NULL, directive INTEGER NOT NULL,
	variable INTEGER NOT NULL, name TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL, origins TEXT NOT NULL
);
CREATE INDEX memories_by_run ON memories (run);
`, `
DROP TABLE usage;
`, `
SELECT 'from here on the state directory says ` + `whether the vault is trusted';
`, `
CREATE TABLE origin_sets (id INTEGER PRIMARY KEY, origins TEXT NOT NULL UNIQUE);
INSERT INTO origin_sets (id, origins) VALUES (0, '');
CREATE TABLE origin_contents (sha256 BLOB PRIMARY KEY, origins INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE origin_names (name TEXT PRIMARY KEY, origins INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE origin_pieces (piece INTEGER PRIMARY KEY, origins INTEGER NOT NULL);
`, `
ALTER TABLE approvals ADD COLUMN who TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN reason TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN edited TEXT NOT NULL DEFAULT '';
`, `
ALTER TABLE noticed ADD COLUMN import TEXT NOT NULL DEFAULT '';
`, `
CREATE TABLE parts (
	workflow TEXT NOT NULL, step TEXT NOT NULL, document TEXT NOT NULL, part TEXT NOT NULL, view TEXT NOT NULL, run TEXT NOT NULL,
	PRIMARY KEY (workflow, step, document, part)
);
`, `
CREATE TABLE subjects (
	workflow INTEGER NOT NULL REFERENCES names (id), file INTEGER NOT NULL REFERENCES names (id), about TEXT NOT NULL, PRIMARY KEY (workflow, file)
) WITHOUT ROWID;
`, `
CREATE TABLE part_memories (
	run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, workflow TEXT NOT NULL, step TEXT NOT NULL, document TEXT NOT NULL, part TEXT NOT NULL,
	before TEXT NOT NULL, after TEXT NOT NULL
);
CREATE INDEX part_memories_by_run ON part_memories (run);
`, `
CREATE TABLE attempts (piece TEXT PRIMARY KEY, count INTEGER NOT NULL, progress INTEGER NOT NULL, time INTEGER NOT NULL) WITHOUT ROWID;
`, `
ALTER TABLE origin_contents ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
CREATE INDEX origin_contents_by_size ON origin_contents (size);
CREATE INDEX imports_by_size ON imports (ifnull(view ->> 'size', 0));
`, `
CREATE TABLE approved_prompts (
	key TEXT PRIMARY KEY, workflow TEXT NOT NULL, step TEXT NOT NULL, approved INTEGER NOT NULL, sketch TEXT NOT NULL
) WITHOUT ROWID;
`}

// errBeingMade is a database that its first process is about to fill: for a reader, none yet.
var errBeingMade = fmt.Errorf("the database is being made: %w", fs.ErrNotExist)

// checkVersion refuses a database that this version cannot read.
func checkVersion(ctx context.Context, db *sql.DB) error {
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version == 0 {
		return errBeingMade
	}
	if version > len(migrations) {
		return fmt.Errorf("%w: schema %d, this version knows %d", ErrNewer, version, len(migrations))
	}
	if version < len(migrations) {
		return fmt.Errorf("the database has schema %d; start vaultflow serve once to bring it to %d", version, len(migrations))
	}
	return nil
}

// migrate applies what is missing, all in one transaction: a new database would otherwise wait for the disk once for each step.
func migrate(ctx context.Context, db *sql.DB) error {
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version < len(migrations) {
		if err := inTx(ctx, db, func(tx *sql.Tx) error { return apply(ctx, tx, version, len(migrations)) }); err != nil {
			return err
		}
	}
	return checkVersion(ctx, db)
}

// apply brings a database from one version to a later one.
func apply(ctx context.Context, tx *sql.Tx, from, to int) error {
	for version := from; version < to; version++ {
		if _, err := tx.ExecContext(ctx, migrations[version]); err != nil {
			return fmt.Errorf("bring the database to schema %d: %w", version+1, err)
		}
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", to))
	return err
}

// inTx does fn in one transaction.
func inTx(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) (err error) {
	defer func() { err = judged(err) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback() // the first error is the one that matters
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}
