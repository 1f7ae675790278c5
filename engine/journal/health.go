package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Health is the size of the state, in bytes.
type Health struct {
	Database int64 // of the file, with its log
	Unused   int64 // of it: room that rows which were removed have left, and that new ones will take
	Blobs    int64
	Files    int // blobs
	Runs     int
	Swept    time.Time // when old blobs were removed last; zero for never
}

// Health measures the state. It takes as long as it takes to list the blobs.
func (j *Journal) Health(ctx context.Context) (Health, error) {
	var h Health
	for _, name := range []string{"state.db", "state.db-wal"} {
		info, err := os.Stat(filepath.Join(j.db.dir, name))
		if err == nil {
			h.Database += info.Size()
		} else if !errors.Is(err, fs.ErrNotExist) {
			return h, fmt.Errorf("measure the state: %w", err)
		}
	}
	err := j.Blobs.each(ctx, func(_ blobID, info fs.FileInfo) error {
		h.Blobs, h.Files = h.Blobs+info.Size(), h.Files+1
		return nil
	})
	if err == nil {
		err = one(ctx, j.db.read, `SELECT (SELECT freelist_count FROM pragma_freelist_count) * (SELECT page_size FROM pragma_page_size),
			(SELECT count(*) FROM runs)`).Scan(&h.Unused, &h.Runs)
	}
	if err == nil {
		h.Swept, err = j.db.upkept(ctx, "blobs")
	}
	if err != nil {
		return h, fmt.Errorf("measure the state: %w", err)
	}
	return h, nil
}

// Check looks at every page of the database, and at every index. It is an error that matches [ErrCorrupt] when one is
// broken. It reads the whole file.
func (j *Journal) Check(ctx context.Context) error {
	var verdict string
	if err := one(ctx, j.db.read, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return explain(j.db.dir, err)
	}
	if verdict != "ok" {
		return explain(j.db.dir, fmt.Errorf("%w: %s", ErrCorrupt, verdict))
	}
	return nil
}
