package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// Filling is a past that tests give a journal: runs at equal distances, each with records, events, a change, a call of a
// model and a slot, as a workflow of one step leaves them.
type Filling struct {
	Runs, Workflows int
	First           int       // number of the first run
	Start           time.Time // of the first run
	Every           time.Duration
	Blobs           bool // with a prompt, an answer and a content before for each run, of some hundred bytes
}

// Fill stores a past in one transaction: a journal of years in seconds.
func (j *Journal) Fill(ctx context.Context, f Filling) error {
	return inTx(ctx, j.db.write, func(tx *sql.Tx) error {
		for i := range f.Runs {
			if err := j.fillRun(ctx, tx, f, f.First+i, f.Start.Add(time.Duration(i)*f.Every)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (j *Journal) fillRun(ctx context.Context, tx *sql.Tx, f Filling, n int, at time.Time) error {
	workflow, id := fmt.Sprintf("area/workflow %03d", n%f.Workflows), fmt.Sprintf("%s-%07d", at.UTC().Format("20060102-150405"), n)
	digests := map[string]string{}
	for _, what := range []string{"prompt", "answer", "before", "receipt"} {
		data := fmt.Appendf(nil, "%s of run %d: %0300d", what, n, n)
		digests[what] = digestOf(data)
		if f.Blobs {
			if err := j.putOld(data, at); err != nil {
				return err
			}
		}
	}
	run := engine.RunRecord{
		ID: id, Kind: engine.KindWorkflow, Workflow: workflow, Status: engine.Done, Key: "cron:" + id, At: at, Created: at, Started: at, Finished: at.Add(time.Minute),
		Trigger: engine.Trigger{Kind: engine.TriggerCron, Slot: at},
		Outputs: []engine.Output{{Kind: "file", Name: "Daily/" + id + ".md", Before: digests["before"], After: digests["answer"]}},
		Steps: []engine.StepRecord{{
			Run: id, Step: "Plan", WorkRecord: engine.WorkRecord{
				Status: engine.Done, Started: at, Finished: at.Add(time.Minute), Model: "sonnet", Prompt: digests["prompt"],
				Answer: digests["answer"], Receipt: digests["receipt"], Usage: cost.Usage{InputTokens: 1700, OutputTokens: 300, CostUSD: 0.01},
			},
		}},
	}
	if n%50 == 7 {
		run.Status, run.Reason, run.Failure = engine.Failed, "the provider is busy", failure.New(failure.Provider, "later", "busy")
	}
	e := engine.Entry{Run: run, Spec: json.RawMessage(`{"pinned":{"body":3}}`), Lane: "workflow:" + workflow}
	if err := insertRun(ctx, tx, e, 0); err != nil {
		return err
	}
	view, err := json.Marshal(run)
	if err != nil {
		return err
	}
	exec := func(q string, args ...any) {
		if err == nil {
			_, err = tx.ExecContext(ctx, q, args...)
		}
	}
	for seq, activity := range []string{engine.ActivityResolve, engine.ActivityAssemble, engine.ActivityGenerate, engine.ActivityStage, engine.ActivityCommit} {
		exec(`INSERT INTO records (run, branch, seq, step, activity, in_digest, input, output, attempts, started, finished) VALUES (?, 0, ?, 0, ?, ?, ?, ?, 1, ?, ?)`,
			id, seq, activity, digests["prompt"], view[:200], view[200:500], micros(at), micros(at))
	}
	for number := range 6 {
		exec(`INSERT INTO events (run, number, time, kind, body) VALUES (?, ?, ?, 'info', ?)`, id, number+1, micros(at), fmt.Sprintf(`{"kind":"info","message":%q}`, view[:200]))
	}
	change, _ := json.Marshal(engine.Change{Kind: engine.ChangeWrite, Name: "Daily/note.md", Before: digests["before"], After: digests["answer"]})
	exec(`INSERT INTO changes (run, step, batch, call, made, time, said, view) VALUES (?, 0, 0, 'c', 1, ?, '', ?)`, id, micros(at), change)
	exec(`INSERT INTO slots (workflow, slot, schedule, state, reason, run, count, zone) VALUES (?, ?, 'cron: 0 8 * * *', 'ran', '', ?, 1, 'UTC')`, workflow, micros(at), id)
	return err
}
