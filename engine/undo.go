package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/failure"
)

// KindUndo is a run that undoes what another run did to files. It is journaled like any run: it resumes after a kill, has a
// record, and can be undone.
const KindUndo Kind = "undo"

// The activities of an undo, in order.
const (
	ActivityPlanUndo = "plan_undo" // what there is to undo: UndoIn, UndoItems
	ActivityTakeBack = "take_back" // taking it back: TakeBackIn, UndoItems
)

// UndoPlan is what an undo was started with.
type UndoPlan struct {
	Run      string    `json:"run"`
	Of       string    `json:"of"`       // the run to undo
	Workflow string    `json:"workflow"` // of that run
	At       time.Time `json:"at"`
}

// Title names a run for the user: by its workflow, the source of an import, or what it undoes.
func (r RunRecord) Title() string {
	if r.Kind == KindUndo {
		return "undo of " + r.Workflow
	}
	return r.Workflow
}

// UndoRequest is the request for the undo of a run that has ended; see [CheckUndo]. Two requests are one run while it is at
// work.
func UndoRequest(r RunRecord) Request {
	return Request{
		Key: "undo:" + r.ID, Again: true, Kind: KindUndo, Subject: r.Workflow, Trigger: Trigger{Kind: TriggerManual}, Undo: r.ID,
	}
}

// CheckUndo returns why a run cannot be undone, or nil.
func CheckUndo(r RunRecord) *failure.Error {
	switch {
	case r.Kind == KindImport:
		return failure.New(failure.Input, "move the original out of the bundle, where it is kept, and then delete the bundle's folder and its note by hand",
			"run %s is the import of %s: imports cannot be undone with a command", r.ID, r.Workflow)
	case !r.Status.Finished():
		return failure.New(failure.Input, "wait for its end, or cancel it first", "run %s is %s: only a finished run can be undone",
			r.ID, strings.ReplaceAll(string(r.Status), "_", " "))
	}
	return nil
}

// UndoRef names an undo to its activities: it has the fields by which changes find their run, in one step.
type UndoRef struct {
	StepRef
	Of string `json:"of"` // the run to undo
}

// UndoItems are what an undo has to take back, or what it took back: the changes of files, in order, and the memories.
type UndoItems struct {
	Ways     []WayBack `json:"ways,omitempty"`
	Memories []Memory  `json:"memories,omitempty"`
}

// TakeBackIn asks for it to be undone.
type TakeBackIn struct {
	UndoRef
	UndoItems
}

// What becomes of a [WayBack].
const (
	FateOpen    = ""        // to be done
	FateDone    = "done"    // the file is as it was before the run
	FateKept    = "kept"    // see Reason; nothing was done
	FateNothing = "nothing" // it was as before the run already
)

// WayBack is one change of the vault that takes back one or more changes of a run.
type WayBack struct {
	Change   Change `json:"change"`
	Run      string `json:"run"`      // whose change it takes back: the run itself, or one that it started
	Workflow string `json:"workflow"` // of that run
	Fate     string `json:"fate,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// RunChange is a change with the run that made it.
type RunChange struct {
	Run, Workflow string
	Change        Change
}

// ChangeDiff is a change with its unified diff, or a sentence in its place; empty for moves.
type ChangeDiff struct {
	RunChange
	Diff string
}

// Memory is something that a step of a run left behind for later runs: that a pending input's file was processed, or a value
// of a variable that runs share. Before is empty when there was none, After when there is none any more. Its type in machine
// output is "memory".
type Memory struct {
	Run       string   `json:"run"` // whose memory it is
	Workflow  string   `json:"workflow"`
	Step      string   `json:"step,omitempty"`
	Directive int      `json:"directive,omitempty"`
	Variable  bool     `json:"variable,omitempty"` // Name is a variable's, and the contents are digests of blobs
	Name      string   `json:"name"`
	Before    string   `json:"before,omitempty"`
	After     string   `json:"after,omitempty"`
	Origins   []string `json:"origins,omitempty"` // of the variable's value before
}

// MarshalJSON adds `"type":"memory"`.
func (m Memory) MarshalJSON() ([]byte, error) {
	type plain Memory
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{"memory", plain(m)})
}

// WaysBack returns the changes that take a list of changes back, last ones first. What a run did to one file in several goes,
// with nobody in between, is undone in one.
func WaysBack(changes []RunChange) []WayBack {
	var done []RunChange
	last := map[string]int{} // by name: the change that the next one of the same file may build on
	for _, c := range changes {
		simple := c.Change.Kind != ChangeMove && !c.Change.Doubt
		i, known := last[c.Change.Name]
		if simple && known && done[i].Run == c.Run && done[i].Change.After == c.Change.Before {
			done[i].Change.After = c.Change.After
			if c.Change.Links == 0 {
				done[i].Change.Links = 0
			}
			continue
		}
		delete(last, c.Change.Name)
		delete(last, c.Change.To)
		if done = append(done, c); simple {
			last[c.Change.Name] = len(done) - 1
		}
	}
	var ways []WayBack
	for _, c := range slices.Backward(done) {
		if c.Change.Kind == ChangeMove || c.Change.Before != c.Change.After {
			ways = append(ways, WayBack{Change: c.Change.back(), Run: c.Run, Workflow: c.Workflow})
		}
	}
	return ways
}

// back returns the change that undoes c. Nobody knows whether a doubtful one has anything to undo.
func (c Change) back() Change {
	b := Change{Kind: ChangeWrite, Name: c.Name, Before: c.After, After: c.Before, Tool: "undo", Doubt: c.Doubt, Note: c.NoteTo, NoteTo: c.Note, Links: c.Links}
	switch {
	case c.Kind == ChangeMove:
		b.Kind, b.Name, b.To = ChangeMove, c.To, c.Name
	case b.Before == "":
		b.Kind = ChangeCreate
	case b.After == "":
		b.Kind = ChangeDelete
	}
	return b
}

// RunUndo is the body of an undo: look what the run did, and take it back, what is as the run left it.
func RunUndo(f Flow, p UndoPlan) Outcome {
	r := StepRecord{Run: p.Run, Step: "undo of " + p.Of, WorkRecord: WorkRecord{Status: Running}}
	say := func() {
		f.Note(Event{Kind: EventStep, Step: r.Step, Status: r.Status, Message: r.Reason, Failure: r.Failure, Record: &r})
	}
	say()
	ref := UndoRef{StepRef{Run: p.Run, Workflow: p.Workflow, Step: r.Step, At: p.At}, p.Of}
	var plan UndoItems
	var out UndoItems
	err := f.Do(ActivityPlanUndo, ref, &plan)
	if err == nil && len(plan.Ways)+len(plan.Memories) > 0 {
		err = f.Do(ActivityTakeBack, TakeBackIn{ref, plan}, &out)
	}
	if Stopped(err) {
		return Outcome{Status: Running}
	}
	if err != nil {
		r.Failure = failure.Of(err)
		r.Status, r.Reason = failureStatus(r.Failure), r.Failure.Message
	} else {
		r.takenBack(p, out)
	}
	say()
	return Outcome{Status: r.Status, Reason: r.Reason, Failure: r.Failure, Steps: []StepRecord{r}}
}

// takenBack is the record of an undo that came to its end.
func (r *StepRecord) takenBack(p UndoPlan, out UndoItems) {
	for _, w := range out.Ways {
		switch w.Fate {
		case FateDone:
			r.Changes = append(r.Changes, w.Change)
		case FateKept:
			r.Omitted = append(r.Omitted, w.Change.Name+": "+w.Reason)
		}
	}
	r.Warnings = MemoryWords(out.Memories)
	switch done, kept := len(r.Changes), len(r.Omitted); {
	case kept > 0:
		r.Status, r.Reason = DoneWithOmissions, fmt.Sprintf("%d of %d changes could not be undone: %s", kept, kept+done, strings.Join(r.Omitted, "; "))
	case done+len(out.Memories) > 0:
		r.Status = Done
	default:
		r.Status, r.Reason = Skipped, fmt.Sprintf("run %s left nothing that could be undone", p.Of)
	}
}

// MemoryWords describes the effect of undoing memories.
func MemoryWords(list []Memory) []string {
	var pending, done, variables []string
	for _, m := range list {
		switch {
		case m.Variable:
			variables = addOnce(variables, m.Name)
		case m.After == "": // an undo had taken it back
			done = addOnce(done, m.Name)
		default:
			pending = addOnce(pending, m.Name)
		}
	}
	var words []string
	say := func(names []string, one, many string) {
		if len(names) > 0 {
			one = map[bool]string{true: one, false: many}[len(names) == 1]
			words = append(words, fmt.Sprintf(one, firstNames(names)))
		}
	}
	say(pending, "%s is pending again", "%s are pending again")
	say(done, "%s counts as processed again", "%s count as processed again")
	say(variables, "the variable %s has its earlier value again", "the variables %s have their earlier values again")
	return words
}

// firstNames lists names, the first ten.
func firstNames(names []string) string {
	const most = 10
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// UndoPreview is what the undo of a run would do now.
type UndoPreview struct {
	Run      RunRecord
	Files    []UndoFile
	Memories []Memory
}

// Nothing reports whether there is nothing to be done.
func (p UndoPreview) Nothing() bool {
	return len(p.Memories) == 0 && !slices.ContainsFunc(p.Files, func(f UndoFile) bool { return f.Fate == FateOpen })
}

// UndoFile is a way back with its diff. Its type in machine output is "undo".
type UndoFile struct {
	WayBack
	Diff string `json:"diff,omitempty"` // unified, or a sentence; empty where nothing would be done, and for moves
}

// MarshalJSON adds `"type":"undo"`.
func (u UndoFile) MarshalJSON() ([]byte, error) {
	type plain UndoFile
	if u.Fate == FateOpen {
		u.Fate = "open"
	}
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{"undo", plain(u)})
}
