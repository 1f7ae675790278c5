package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure"
)

// changesOf reads "run kind name before after", with name>to for a move, - for no file and ? for doubt.
func changesOf(lines ...string) []RunChange {
	var list []RunChange
	for _, line := range lines {
		f := strings.Fields(line)
		c := RunChange{Run: f[0], Workflow: "w", Change: Change{Kind: strings.TrimSuffix(f[1], "?"), Before: f[3], After: f[4], Doubt: strings.HasSuffix(f[1], "?")}}
		c.Change.Name, c.Change.To, _ = strings.Cut(f[2], ">")
		for _, d := range []*string{&c.Change.Before, &c.Change.After} {
			*d = strings.TrimPrefix(*d, "-")
		}
		list = append(list, c)
	}
	return list
}

func wayWords(ways []WayBack) []string {
	var list []string
	for _, w := range ways {
		c := w.Change
		name, mark := c.Name, ""
		if c.To != "" {
			name += ">" + c.To
		}
		if c.Doubt {
			mark = "?"
		}
		list = append(list, fmt.Sprintf("%s %s%s %s %s %s", w.Run, c.Kind, mark, name, orDash(c.Before), orDash(c.After)))
	}
	return list
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func TestWaysBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ changes, want []string }{
		"one of each, last ones first": {
			[]string{"r create a - 1", "r write b 1 2", "r move c>d 3 3", "r delete e 4 -"},
			[]string{"r create e - 4", "r move d>c 3 3", "r write b 2 1", "r delete a 1 -"},
		},
		"two writes are one way":           {[]string{"r write a 1 2", "r write b 5 6", "r write a 2 3"}, []string{"r write b 6 5", "r write a 3 1"}},
		"somebody in between":              {[]string{"r write a 1 2", "r write a 7 3"}, []string{"r write a 3 7", "r write a 2 1"}},
		"made and gone":                    {[]string{"r create a - 1", "r write a 1 2", "r delete a 2 -"}, nil},
		"gone and made":                    {[]string{"r delete a 1 -", "r create a - 2"}, []string{"r write a 2 1"}},
		"there and back":                   {[]string{"r write a 1 2", "r write a 2 1"}, nil},
		"moved, then written":              {[]string{"r move a>b 1 1", "r write b 1 2"}, []string{"r write b 2 1", "r move b>a 1 1"}},
		"written, moved, written":          {[]string{"r write a 1 2", "r move a>b 2 2", "r write b 2 3"}, []string{"r write b 3 2", "r move b>a 2 2", "r write a 2 1"}},
		"moved away, and made anew":        {[]string{"r move a>b 1 1", "r create a - 2"}, []string{"r delete a 2 -", "r move b>a 1 1"}},
		"of two runs":                      {[]string{"r write a 1 2", "n write a 2 3", "r write a 3 4"}, []string{"r write a 4 3", "n write a 3 2", "r write a 2 1"}},
		"in doubt: nothing is joined with": {[]string{"r write a 1 2", "r write? a 2 3", "r write a 3 4"}, []string{"r write a 4 3", "r write? a 3 2", "r write a 2 1"}},
		"nothing changed":                  {[]string{"r write a 1 1"}, nil},
	} {
		if diff := cmp.Diff(c.want, wayWords(WaysBack(changesOf(c.changes...)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// undoFlow answers the activities of an undo.
type undoFlow struct {
	Flow
	plan  UndoItems
	back  UndoItems
	fails error
	asked []string
	last  StepRecord
}

func (f *undoFlow) Do(activity string, _, out any) error {
	f.asked = append(f.asked, activity)
	items := out.(*UndoItems)
	if *items = f.plan; activity == ActivityTakeBack {
		*items = f.back
	}
	return f.fails
}

func (f *undoFlow) Note(e Event) { f.last = *e.Record }

func TestRunUndo_saysWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	way := func(name, fate, reason string) WayBack {
		return WayBack{Change: Change{Kind: ChangeWrite, Name: name, Before: "2", After: "1"}, Fate: fate, Reason: reason}
	}
	for name, c := range map[string]struct {
		flow   undoFlow
		status Status
		reason string
	}{
		"all":      {undoFlow{plan: UndoItems{Ways: make([]WayBack, 1)}, back: UndoItems{Ways: []WayBack{way("a", FateDone, "")}}}, Done, ""},
		"nothing":  {undoFlow{}, Skipped, "run r1 left nothing that could be undone"},
		"as it is": {undoFlow{plan: UndoItems{Ways: make([]WayBack, 1)}, back: UndoItems{Ways: []WayBack{way("a", FateNothing, "")}}}, Skipped, "run r1 left nothing that could be undone"},
		"some": {
			undoFlow{plan: UndoItems{Ways: make([]WayBack, 2)}, back: UndoItems{Ways: []WayBack{way("a", FateDone, ""), way("b", FateKept, "edited")}}},
			DoneWithOmissions, "1 of 2 changes could not be undone: b: edited",
		},
		"marks only": {undoFlow{plan: UndoItems{Memories: make([]Memory, 1)}, back: UndoItems{Memories: []Memory{{Name: "in.md", After: "1"}}}}, Done, ""},
		"failed":     {undoFlow{fails: failure.New(failure.Vault, "", "read only")}, Failed, "read only"},
		"stopped":    {undoFlow{fails: ErrStopped}, Running, ""},
	} {
		got := RunUndo(&c.flow, UndoPlan{Run: "u1", Of: "r1", Workflow: "w"})
		if got.Status != c.status || got.Reason != c.reason || c.flow.last.Status != c.status || (got.Failure != nil) != (c.status == Failed) {
			t.Errorf("%s: %+v, step %+v; want %s %q", name, got, c.flow.last, c.status, c.reason)
		}
	}
}

func TestCheckUndo(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]RunRecord{
		"":                         {ID: "r", Kind: KindWorkflow, Status: Failed},
		"is the import of x.pdf":   {ID: "r", Kind: KindImport, Status: Done, Workflow: "x.pdf"},
		"run r is running":         {ID: "r", Kind: KindWorkflow, Status: Running},
		"run r is awaiting approv": {ID: "r", Kind: KindUndo, Status: AwaitingApproval},
	} {
		got := CheckUndo(r)
		if (got == nil) != (want == "") || got != nil && (!strings.Contains(got.Message, want) || got.Hint == "") {
			t.Errorf("%+v: %+v, want %q and a hint", r, got, want)
		}
	}
}

func TestMemoryWords(t *testing.T) {
	t.Parallel()
	list := []Memory{{Name: "a", After: "1"}, {Name: "b", After: "1"}, {Name: "a", After: "2", Directive: 1}, {Name: "v", Variable: true, After: "1"}, {Name: "c", Before: "1"}}
	want := []string{"a, b are pending again", "c counts as processed again", "the variable v has its earlier value again"}
	if diff := cmp.Diff(want, MemoryWords(list)); diff != "" {
		t.Error(diff)
	}
}

func TestUndoFile_machineForm(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(UndoFile{WayBack: WayBack{Change: Change{Kind: ChangeDelete, Name: "a.md", Before: "1"}, Run: "r", Workflow: "w"}, Diff: "d"})
	want := `{"type":"undo","change":{"type":"change","kind":"delete","name":"a.md","before":"1"},"run":"r","workflow":"w","fate":"open","diff":"d"}`
	if string(data) != want || err != nil {
		t.Errorf("got %s, %v\nwant %s", data, err, want)
	}
	if r := UndoRequest(RunRecord{ID: "r", Workflow: "w"}); r.Key != "undo:r" || !r.Again || r.Undo != "r" || !r.At.Equal(time.Time{}) {
		t.Errorf("request %+v", r)
	}
}
