package journal

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/vaultflow/vaultflow/engine"
)

// Events keeps what runs report.
type Events struct{ db *database }

// Note stores an event and returns it with its place. A body's event that is already stored comes back without one.
func (es *Events) Note(ctx context.Context, e engine.Event, number int) (engine.Event, error) {
	e.Seq = 0
	body, err := json.Marshal(e)
	if err != nil {
		return e, err
	}
	res, err := change(ctx, es.db.write, `INSERT INTO events (run, number, time, kind, body) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, e.Run, number, micros(e.Time), e.Kind, body)
	if err != nil {
		return e, fmt.Errorf("store an event of run %s: %w", e.Run, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return e, err
	}
	e.Seq, err = res.LastInsertId()
	return e, err
}

// List returns stored events after a place, oldest first; of all runs when run is empty. The limit is at most 1000.
func (es *Events) List(ctx context.Context, run string, after int64, limit int) ([]engine.Event, error) {
	w := where{[]string{"seq > ?"}, []any{after}}
	w.add(run != "", "run = ?", run)
	events, err := query(ctx, es.db.read, scanEvent, `SELECT seq, body FROM events`+w.String()+` ORDER BY seq LIMIT ?`, append(w.args, capped(limit))...)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return events, nil
}

func scanEvent(r row) (engine.Event, error) {
	var e engine.Event
	var seq int64
	var body []byte
	if err := r.Scan(&seq, &body); err != nil {
		return e, err
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return e, fmt.Errorf("read a stored event: %w", err)
	}
	e.Seq = seq
	return e, nil
}
