package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// Counts counts the runs of workflows that were created since a time, by status.
func (rs *Runs) Counts(ctx context.Context, since time.Time) (map[engine.Status]int, error) {
	type counted struct {
		status engine.Status
		n      int
	}
	statuses, err := json.Marshal(engine.Statuses())
	if err != nil {
		return nil, err
	}
	list, err := query(ctx, rs.db.read, func(r row) (c counted, err error) { return c, r.Scan(&c.status, &c.n) },
		`SELECT s.value, (SELECT count(*) FROM runs WHERE kind = ? AND status = s.value AND created >= ?) FROM json_each(?) AS s`,
		engine.KindWorkflow, micros(since), statuses)
	if err != nil {
		return nil, fmt.Errorf("count runs: %w", err)
	}
	counts := map[engine.Status]int{}
	for _, c := range list {
		counts[c.status] = c.n
	}
	return counts, nil
}
