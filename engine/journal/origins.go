package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/policy/origin"
)

// Origins records where contents come from. Each list of origins is stored once and has a number; 0 is one's own. Digests
// are packed, since they name no blobs.
type Origins struct{ db *database }

var _ origin.Store = (*Origins)(nil)

const originsOf = ` FROM origin_sets s WHERE s.id = `

// Content implements origin.Store. Bytes that were imported before there were such records are known by their import.
func (o *Origins) Content(ctx context.Context, digest string) (origin.Record, error) {
	r, err := o.record(ctx, `SELECT s.origins`+originsOf+`(SELECT origins FROM origin_contents WHERE sha256 = ?)`, packed(digest))
	if err != nil || r.Known {
		return r, wrapOrigin(err)
	}
	var id, source string
	err = one(ctx, o.db.read, `SELECT id, source FROM imports WHERE sha256 = ? ORDER BY created LIMIT 1`, digest).Scan(&id, &source)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return r, nil
	case err != nil:
		return r, wrapOrigin(err)
	}
	return origin.Record{Known: true, Origins: []string{origin.OfImport(id, source)}}, nil
}

// MayHave implements origin.Store. Sizes were not always recorded.
func (o *Origins) MayHave(ctx context.Context, size int64) (may bool, err error) {
	err = o.db.often(ctx, `SELECT EXISTS (SELECT 1 FROM origin_contents WHERE size IN (0, ?1)) OR EXISTS (SELECT 1 FROM imports WHERE ifnull(view ->> 'size', 0) IN (0, ?1))`,
		size).Scan(&may)
	return may, wrapOrigin(err)
}

// Name implements origin.Store.
func (o *Origins) Name(ctx context.Context, name string) (origin.Record, error) {
	r, err := o.record(ctx, `SELECT s.origins`+originsOf+`(SELECT origins FROM origin_names WHERE name = ?)`, origin.Key(name))
	return r, wrapOrigin(err)
}

func (o *Origins) record(ctx context.Context, q string, arg any) (origin.Record, error) {
	var list string
	err := o.db.often(ctx, q, arg).Scan(&list)
	if errors.Is(err, sql.ErrNoRows) {
		return origin.Record{}, nil
	}
	return origin.Record{Known: err == nil, Origins: lines(list)}, err
}

// piecesAtOnce is how many pieces one query looks for.
const piecesAtOnce = 2000

// Pieces implements origin.Store.
func (o *Origins) Pieces(ctx context.Context, pieces []origin.Piece) (map[origin.Piece]origin.Record, error) {
	known := map[origin.Piece]origin.Record{}
	for len(pieces) > 0 {
		n := min(len(pieces), piecesAtOnce)
		list, err := json.Marshal(pieces[:n])
		if err != nil {
			return nil, wrapOrigin(err)
		}
		type found struct {
			piece   origin.Piece
			origins string
		}
		rows, err := query(ctx, o.db.read, func(r row) (f found, err error) { return f, r.Scan(&f.piece, &f.origins) },
			`SELECT p.piece, s.origins FROM json_each(?) j CROSS JOIN origin_pieces p ON p.piece = j.value CROSS JOIN origin_sets s ON s.id = p.origins`, string(list))
		if err != nil {
			return nil, wrapOrigin(err)
		}
		for _, f := range rows {
			known[f.piece] = origin.Record{Known: true, Origins: lines(f.origins)}
		}
		pieces = pieces[n:]
	}
	return known, nil
}

// Keep implements origin.Store.
func (o *Origins) Keep(ctx context.Context, entries ...origin.Entry) error {
	return wrapOrigin(inTx(ctx, o.db.write, func(tx *sql.Tx) error {
		var set int64
		for i, e := range entries {
			if i == 0 || !slices.Equal(e.Origins, entries[i-1].Origins) {
				var err error
				if set, err = originSet(ctx, tx, e.Origins); err != nil {
					return err
				}
			}
			if err := keepOrigin(ctx, tx, e, set); err != nil {
				return err
			}
		}
		return nil
	}))
}

// keepOrigin stores an entry whose list of origins has this number.
func keepOrigin(ctx context.Context, tx *sql.Tx, e origin.Entry, set int64) error {
	known := ` ON CONFLICT DO NOTHING`
	if e.Override {
		known = ` ON CONFLICT DO UPDATE SET origins = excluded.origins`
	}
	if e.Digest != "" {
		if _, err := tx.ExecContext(ctx, `INSERT INTO origin_contents (sha256, size, origins) VALUES (?, ?, ?)`+known, packed(e.Digest), e.Size, set); err != nil {
			return err
		}
	}
	if e.Name != "" {
		if _, err := tx.ExecContext(ctx, `INSERT INTO origin_names (name, origins) VALUES (?, ?) ON CONFLICT DO UPDATE SET origins = excluded.origins`,
			origin.Key(e.Name), set); err != nil {
			return err
		}
	}
	if len(e.Pieces) == 0 {
		return nil
	}
	list, err := json.Marshal(e.Pieces)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO origin_pieces (piece, origins) SELECT value, ? FROM json_each(?) WHERE true`+known, set, string(list))
	return err
}

// originSet is the number of a list of origins.
func originSet(ctx context.Context, tx *sql.Tx, origins []string) (id int64, err error) {
	if len(origins) == 0 {
		return 0, nil
	}
	lines := make([]string, len(origins))
	for i, o := range origins {
		lines[i] = strings.ReplaceAll(o, "\n", " ")
	}
	list := strings.Join(lines, "\n")
	if _, err := tx.ExecContext(ctx, `INSERT INTO origin_sets (origins) VALUES (?) ON CONFLICT DO NOTHING`, list); err != nil {
		return 0, err
	}
	return id, tx.QueryRowContext(ctx, `SELECT id FROM origin_sets WHERE origins = ?`, list).Scan(&id)
}

// Forget implements origin.Store.
func (o *Origins) Forget(ctx context.Context, name string) error {
	_, err := change(ctx, o.db.write, `DELETE FROM origin_names WHERE name = ?`, origin.Key(name))
	return wrapOrigin(judged(err))
}

func wrapOrigin(err error) error {
	if err != nil {
		return fmt.Errorf("records of where contents come from: %w", err)
	}
	return nil
}
