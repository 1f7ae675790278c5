package local

import (
	"maps"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// retryCuts returns which records of the body itself a retry must not recall: the failed one, or the one that the body
// rejected, and all after it. If the body itself has changed, all records are forgotten, including those of its branches.
func retryCuts(r engine.RunRecord, records []engine.Record) []engine.Cut {
	code := codeOf(r.Failure)
	if code == failure.Diverged {
		var cuts []engine.Cut
		for _, rec := range records {
			if rec.Seq == 0 {
				cuts = append(cuts, engine.Cut{Branch: rec.Branch})
			}
		}
		return cuts
	}
	trunk := inBranch(records, 0)
	step, failed := failedStep(r)
	if failed && len(step.Batches) > 0 && failureAt(trunk) < 0 {
		return nil // a batch made it fail
	}
	return []engine.Cut{{Seq: cutAt(trunk, step.Index, code)}}
}

// batchCuts does the same for the branches of a failed @for_each step. Failed batches before the last one that was written
// stay as they are. A batch that may read variables of a repeated batch is repeated too.
func batchCuts(r engine.RunRecord, steps []engine.PinnedStep, records []engine.Record) []engine.Cut {
	step, failed := failedStep(r)
	if !failed || step.Index >= len(steps) || steps[step.Index].ForEach == nil || codeOf(r.Failure) == failure.Diverged {
		return nil
	}
	pinned := steps[step.Index]
	branches := branchesOf(records, step.Index)
	cuts := kept(branches)
	n := written(step.Batches)
	for _, b := range step.Batches[:n] {
		if own := inBranch(records, branches[b.Batch]); b.Status.Succeeded() && failureAt(own) >= 0 { // of the step's closing
			cuts = append(cuts, engine.Cut{Branch: branches[b.Batch], Seq: failureAt(own)})
		}
	}
	open := step.Batches[n:]
	for _, b := range open {
		branch, begun := branches[b.Batch]
		if !begun {
			continue
		}
		own := inBranch(records, branch)
		at := cutAt(own, step.Index, codeOf(b.Failure))
		if distance := b.Batch - open[0].Batch; distance > 0 && pinned.Sets {
			at = min(at, sight(own, distance >= max(pinned.ForEach.Parallel, 1)))
		}
		if at < len(own) {
			cuts = append(cuts, engine.Cut{Branch: branch, Seq: at})
		}
	}
	return cuts
}

// lostCuts forgets what failed in batches that their steps continued without. Records after the first of them stay, even if
// their inputs would be different now: costs and variables.
func lostCuts(r engine.RunRecord, pinned *engine.Pinned, records []engine.Record) []engine.Cut {
	var kept, cuts []engine.Cut
	for _, s := range r.Steps {
		if s.Status.Incomplete() || s.Index >= len(pinned.Steps) || pinned.Steps[s.Index].ForEach == nil {
			continue
		}
		branches := branchesOf(records, s.Index)
		for _, b := range s.Batches {
			branch, begun := branches[b.Batch]
			if !begun || b.Status.Succeeded() {
				continue
			}
			if kept == nil {
				kept = behind(records, s.Index)
			}
			at := 0 // of one that was skipped: there may be something to do now
			if own := inBranch(records, branch); b.Status.Incomplete() {
				at = cutAt(own, s.Index, codeOf(b.Failure))
			}
			cuts = append(cuts, engine.Cut{Branch: branch, Seq: at})
		}
	}
	return append(kept, cuts...)
}

// behind keeps the branches of a step, and all records of the steps that follow it.
func behind(records []engine.Record, step int) []engine.Cut {
	var cuts []engine.Cut
	seen := map[int]bool{}
	for _, rec := range records {
		if (rec.Step > step || rec.Branch > 0 && rec.Step == step) && !seen[rec.Branch] {
			seen[rec.Branch] = true
			cuts = append(cuts, engine.Cut{Branch: rec.Branch, Seq: rec.Seq, Keep: true})
		}
	}
	return cuts
}

// kept keeps the records of branches, even if their inputs would be different now: the costs of earlier batches.
func kept(branches map[int]int) []engine.Cut {
	var cuts []engine.Cut
	for _, branch := range slices.Sorted(maps.Values(branches)) {
		cuts = append(cuts, engine.Cut{Branch: branch, Keep: true})
	}
	return cuts
}

// sight is the first record of a batch that depends on the variables which an earlier batch sets: all of them when it
// begins behind that batch, else those of its outputs.
func sight(records []engine.Record, behind bool) int {
	if behind {
		return 0
	}
	if i := slices.IndexFunc(records, isActivity(engine.ActivityStage)); i >= 0 {
		return i
	}
	return len(records)
}

// written counts the batches up to the last one that was written.
func written(batches []engine.BatchRecord) int {
	for i, b := range slices.Backward(batches) {
		if b.Status.Succeeded() {
			return i + 1
		}
	}
	return 0
}

// branchesOf returns the branch of each batch of a step.
func branchesOf(records []engine.Record, step int) map[int]int {
	branches := map[int]int{}
	for _, rec := range records {
		if rec.Branch > 0 && rec.Step == step {
			branches[placeOf(rec.In).Batch] = rec.Branch
		}
	}
	return branches
}

func inBranch(records []engine.Record, branch int) []engine.Record {
	var list []engine.Record
	for _, rec := range records {
		if rec.Branch == branch {
			list = append(list, rec)
		}
	}
	return list
}

func failedStep(r engine.RunRecord) (engine.StepRecord, bool) {
	for _, s := range r.Steps {
		if s.Status.Incomplete() {
			return s, true
		}
	}
	return engine.StepRecord{}, false
}

func codeOf(f *failure.Error) failure.Code {
	if f == nil {
		return ""
	}
	return f.Code
}

func failureAt(records []engine.Record) int {
	return slices.IndexFunc(records, func(r engine.Record) bool { return r.Failure != nil })
}

func isActivity(names ...string) func(engine.Record) bool {
	return func(r engine.Record) bool { return slices.Contains(names, r.Activity) }
}

// cutAt is the place of the first record of a branch that a retry must not recall. A file that somebody kept changing is
// staged again; an answer that will not do is asked for again; a model that would not stop calling tools begins from its
// prompt.
func cutAt(records []engine.Record, step int, code failure.Code) int {
	asked := func(r engine.Record) bool { return r.Step == step && r.Activity == engine.ActivityGenerate }
	switch code {
	case failure.ToolRounds:
		if i := slices.IndexFunc(records, asked); i >= 0 {
			return i
		}
	case failure.Refusal, failure.CutOff, failure.Incomplete, failure.EmptyAnswer, failure.InvalidAnswer, failure.Unseen:
		for i, rec := range slices.Backward(records) {
			if asked(rec) {
				return i
			}
		}
	}
	if i := failureAt(records); i >= 0 {
		return i
	}
	n := len(records)
	switch code {
	case failure.Cancelled, failure.Timeout, failure.UnknownActivity, failure.InvalidWorkflow, "":
		return n
	case failure.Conflict:
		for n > 0 && isActivity(engine.ActivityCommit, engine.ActivityStage)(records[n-1]) {
			n--
		}
		return n
	}
	return max(n-1, 0)
}
