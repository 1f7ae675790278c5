package journal

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"modernc.org/sqlite"
)

// What tests compare with what the code does.
const (
	MaxAnswers   = maxAnswers
	KeptAttempts = keptAttempts
	CheckLimit   = checkLimit
)

// Schema is the version of the database.
var Schema = len(migrations)

// Rules are the tables for which retention has a rule, each once for each rule that it has.
func Rules() (tables []string) {
	for t := range withRuns {
		tables = append(tables, t)
	}
	for t := range byAge {
		tables = append(tables, t)
	}
	for t := range forGood {
		tables = append(tables, t)
	}
	return tables
}

// Impatient makes journals wait less for locks of other programs.
func Impatient() { patience = 500 * time.Millisecond }

// DB is the connection that writes.
func (j *Journal) DB() *sql.DB { return j.db.write }

// PutOld stores a blob as if it had been stored at a time.
func (j *Journal) PutOld(ctx context.Context, data []byte, at time.Time) (string, error) {
	digest, err := j.Blobs.Put(ctx, data)
	if err != nil {
		return "", err
	}
	return digest, os.Chtimes(j.Blobs.path(digest), at, at)
}

// putOld is PutOld without the care for the disk and for links.
func (j *Journal) putOld(data []byte, at time.Time) error {
	path := j.Blobs.path(digestOf(data))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	return os.Chtimes(path, at, at)
}

// DigestsIn returns the digests that a text holds.
func DigestsIn(text string) (list []string) {
	digestsIn([]byte(text), func(id blobID) { list = append(list, id.String()) })
	return list
}

// OpenAt makes the database of an earlier version.
func OpenAt(ctx context.Context, dir string, schema int, script string) error {
	db, err := sql.Open("sqlite", dsn(dir))
	if err != nil {
		return err
	}
	defer db.Close()
	for _, m := range migrations[:schema] {
		if _, err := db.ExecContext(ctx, m); err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, script)
	return err
}

// Queries gathers what a journal asks of its database for reading.
type Queries struct {
	mu   sync.Mutex
	list []Query
}

// Query is a statement with the values of its first use.
type Query struct {
	Text string
	Args []any
}

// Listen gathers the queries of a journal from now on.
func (j *Journal) Listen() *Queries {
	q := &Queries{}
	_ = j.db.read.Close() // nothing was read yet
	j.db.read = sql.OpenDB(listener{q, dsn(j.db.dir, "query_only(1)")})
	return q
}

// All are the different queries, in order of their first use.
func (q *Queries) All() []Query {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.list)
}

type listener struct {
	*Queries
	name string
}

func (l listener) Driver() driver.Driver { return &sqlite.Driver{} }

func (l listener) Connect(context.Context) (driver.Conn, error) {
	c, err := l.Driver().Open(l.name)
	return heard{c, l.Queries}, err
}

type heard struct {
	driver.Conn
	*Queries
}

func (h heard) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	h.mu.Lock()
	if !slices.ContainsFunc(h.list, func(known Query) bool { return known.Text == q }) {
		values := make([]any, len(args))
		for i, a := range args {
			values[i] = a.Value
			if a.Name != "" {
				values[i] = sql.Named(a.Name, a.Value)
			}
		}
		h.list = append(h.list, Query{q, values})
	}
	h.mu.Unlock()
	return h.Conn.(driver.QueryerContext).QueryContext(ctx, q, args)
}

func (h heard) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return h.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}

// SweepBlobs removes blobs at once, whenever it was done last.
func (j *Journal) SweepBlobs(ctx context.Context, expired, now time.Time) (s Swept, err error) {
	return s, j.sweeper().sweepBlobs(ctx, expired, now, &s)
}

// RemoveBlobs is the last part of a sweep: candidates go that are older than a time.
func (j *Journal) RemoveBlobs(ctx context.Context, before time.Time, digests ...string) (s Swept, err error) {
	candidates := map[blobID]bool{}
	for _, digest := range digests {
		if id, ok := blobOf(digest); ok {
			candidates[id] = true
		}
	}
	return s, j.sweeper().removeBlobs(ctx, candidates, before, &s)
}
