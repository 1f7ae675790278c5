package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// saveUsage stores what a model call used, and settles its costs. It stays when the run is retried: it was paid for. An answer from the cache is
// no call.
func saveUsage(ctx context.Context, tx *sql.Tx, r engine.Record, e engine.Entry) error {
	if r.Activity != engine.ActivityGenerate || r.Failure != nil {
		return nil
	}
	var in engine.GenerateIn
	var out engine.GenerateOut
	if err := json.Unmarshal(r.In, &in); err != nil {
		return fmt.Errorf("read the input of a model call: %w", err)
	}
	if err := json.Unmarshal(r.Out, &out); err != nil {
		return fmt.Errorf("read the outcome of a model call: %w", err)
	}
	if out.Cached {
		return nil
	}
	if err := settle(ctx, tx, out.Settled); err != nil {
		return err
	}
	u := out.Usage
	_, err := tx.ExecContext(ctx, `INSERT INTO usage (run, branch, seq, workflow, step, time, model, input, output, cached, cache_write, thinking, cost, cost_unknown)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, e.Run.ID, r.Branch, r.Seq, in.Workflow, in.Step, micros(r.Finished), in.Model,
		u.InputTokens, u.OutputTokens, u.CachedTokens, u.CacheWriteTokens, u.ThinkingTokens, u.CostUSD, u.CostUnknown)
	return err
}

// UsageSince sums up the model calls of a workflow since a time; of all workflows when the name is empty.
func (j *Journal) UsageSince(ctx context.Context, workflow string, since time.Time) (u engine.Usage, calls int, err error) {
	err = j.read.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(sum(cached), 0),
		coalesce(sum(cache_write), 0), coalesce(sum(thinking), 0), coalesce(sum(cost), 0), coalesce(max(cost_unknown), 0)
		FROM usage WHERE time >= ? AND (? = '' OR workflow = ?)`, micros(since), workflow, workflow).Scan(&calls, &u.InputTokens, &u.OutputTokens,
		&u.CachedTokens, &u.CacheWriteTokens, &u.ThinkingTokens, &u.CostUSD, &u.CostUnknown)
	if err != nil {
		return u, 0, fmt.Errorf("sum up usage: %w", err)
	}
	return u, calls, nil
}
