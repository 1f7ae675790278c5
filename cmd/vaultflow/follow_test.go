package main

import (
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

func TestRunExit(t *testing.T) {
	t.Parallel()
	for status, want := range map[engine.Status]int{
		engine.Done: exitDone, engine.Skipped: exitDone, engine.DoneWithOmissions: exitOmissions, engine.AwaitingApproval: exitApproval,
		engine.Cancelled: exitCancelled, engine.Failed: exitFailed, engine.Refused: exitModelRefused, engine.Empty: exitEmpty,
		engine.Truncated: exitTruncated, engine.Invalid: exitInvalidAnswer, engine.Unseen: exitUnseen,
	} {
		if got := runExit(engine.RunRecord{Status: status}); got != want {
			t.Errorf("%s: exit code %d, want %d", status, got, want)
		}
	}
	for code, want := range map[failure.Code]int{
		failure.Budget: exitRefused, failure.Provider: exitProvider, failure.ToolRounds: exitProvider, failure.Timeout: exitFailed,
		failure.InvalidWorkflow: exitInvalid,
	} {
		if got := runExit(engine.RunRecord{Status: engine.Failed, Failure: &failure.Error{Code: code}}); got != want {
			t.Errorf("%s: exit code %d, want %d", code, got, want)
		}
	}
}

func TestEventLine_batches(t *testing.T) {
	t.Parallel()
	work := &engine.BatchRecord{Batch: 2, Items: []string{"a.md"}}
	for want, e := range map[string]engine.Event{
		"    batch 2 (a.md) failed: down":  {Kind: engine.EventBatch, Batch: 2, Work: work, Status: engine.Failed, Message: "down"},
		"":                                 {Kind: engine.EventBatch, Batch: 2, Work: work, Status: engine.Done},
		"    asking the model for batch 2": {Kind: engine.EventActivity, Batch: 2, Name: engine.ActivityGenerate, Status: engine.Running},
		"    asking the model":             {Kind: engine.EventActivity, Name: engine.ActivityGenerate, Status: engine.Running},
	} {
		if got := eventLine(e); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
