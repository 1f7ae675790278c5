package step

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
)

// past is a run on record, and what it did.
type past struct {
	run      engine.RunRecord
	trail    []engine.RunChange
	memories []engine.Memory
	writers  map[string]string // runs, by name and digest
}

func (p *past) Run(context.Context, string) (engine.RunRecord, error) { return p.run, nil }
func (p *past) Trail(context.Context, string) ([]engine.RunChange, error) {
	return p.trail, nil
}
func (p *past) Memories(context.Context, string) ([]engine.Memory, error) { return p.memories, nil }
func (p *past) Standing(_ context.Context, list []engine.Memory) ([]engine.Memory, error) {
	return list, nil
}

func (p *past) TakeBack(_ context.Context, _ string, list []engine.Memory) ([]engine.Memory, error) {
	return list, nil
}

func (p *past) WriterSince(_ context.Context, _, name, digest string) (string, error) {
	return p.writers[name+digest], nil
}

// did adds a change of the run to its record, with the contents kept.
func (d *desk) did(p *past, kind, name, before, after string) {
	c := engine.Change{Kind: kind, Name: name, Tool: "t"}
	if before != "" {
		c.Before = d.put(before)
	}
	if name, to, moved := strings.Cut(name, ">"); moved {
		c.Name, c.To, c.After = name, to, c.Before
	} else if after != "" {
		c.After = d.put(after)
	}
	p.trail = append(p.trail, engine.RunChange{Run: "r1", Workflow: "Flow", Change: c})
}

// undoneDesk is a vault after a run, some of whose files are not as the run left them.
func undoneDesk(t *testing.T) (*desk, *past) {
	t.Helper()
	d := newDesk(t, map[string]string{
		"made.md": "new", "changed.md": "2", "edited.md": "mine", "again.md": "3", "lost.md": "2", "there.md": "moved", "here.md": "other", "b.md": "b2", "back.md": "1", "doubt.md": "?",
		"old.md": "made by an old version",
	}, "read_file")
	p := &past{run: engine.RunRecord{ID: "r1", Kind: engine.KindWorkflow, Workflow: "Flow", Status: engine.Done}, writers: map[string]string{"again.md" + d.put("3"): "r2"}}
	d.did(p, engine.ChangeCreate, "made.md", "", "new")
	d.did(p, engine.ChangeWrite, "changed.md", "1", "2")
	d.did(p, engine.ChangeWrite, "edited.md", "1", "2")
	d.did(p, engine.ChangeWrite, "again.md", "1", "2")
	d.did(p, engine.ChangeWrite, "gone.md", "1", "2")
	d.did(p, engine.ChangeWrite, "lost.md", "0", "2")
	delete(d.blobs, sha([]byte("0")))
	d.did(p, engine.ChangeMove, "here.md>there.md", "moved", "")
	d.did(p, engine.ChangeMove, "a.md>b.md", "b1", "")
	d.did(p, engine.ChangeWrite, "b.md", "b1", "b2")
	d.did(p, engine.ChangeWrite, "back.md", "1", "2")
	d.did(p, engine.ChangeDelete, "deleted.md", "old", "")
	d.did(p, engine.ChangeWrite, "doubt.md", "1", "2")
	p.trail[len(p.trail)-1].Change.Doubt = true
	p.run.Outputs = []engine.Output{{Kind: "file", Name: "old.md", After: d.digestOf("old.md")}, {Kind: "variable", Name: "v", After: "x"}}
	p.memories = []engine.Memory{{Name: "in.md", After: "1"}, {Variable: true, Name: "v", Before: sha([]byte("0")), After: "1"}}
	d.History = p
	return d, p
}

// fates are what became of the ways, by name.
func fates(ways []engine.WayBack) map[string]string {
	list := map[string]string{}
	for _, w := range ways {
		name := w.Change.Name
		if w.Change.To != "" {
			name += ">" + w.Change.To
		}
		list[name] = strings.TrimSpace(w.Fate + " " + w.Reason)
	}
	return list
}

func TestTakeBack(t *testing.T) {
	t.Parallel()
	d, _ := undoneDesk(t)
	ctx := t.Context()
	preview, err := d.PreviewUndo(ctx, "r1")
	if err != nil {
		t.Fatal(err)
	}
	ref := engine.UndoRef{StepRef: engine.StepRef{Run: "u1", Workflow: "Flow"}, Of: "r1"}
	plan, err := d.PlanUndo(ctx, ref)
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.TakeBack(ctx, engine.TakeBackIn{UndoRef: ref, UndoItems: plan})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"made.md": "done", "changed.md": "done", "deleted.md": "done", "b.md": "done", "b.md>a.md": "done", "old.md": "done", "back.md": "nothing",
		"edited.md":        "kept somebody has changed it since",
		"again.md":         "kept run r2 changed it since: undo that one first",
		"gone.md":          "kept it was moved or deleted since",
		"lost.md":          "kept what it held before is no longer kept (engine.retention)",
		"there.md>here.md": "kept it stays where it is, since another file is at here.md now",
		"doubt.md":         "kept the program ended while the run was at work on it, and it was changed since: it is not known whether the run's change is in it",
		"variable v":       "kept what it held before is no longer kept (engine.retention)",
	}
	if diff := cmp.Diff(want, fates(out.Ways)); diff != "" {
		t.Errorf("taken back (-want +got):\n%s", diff)
	}
	var foreseen []engine.WayBack
	for _, f := range preview.Files {
		if f.Fate == engine.FateOpen {
			f.Fate = engine.FateDone
			if want := f.Change.Kind != engine.ChangeMove; (f.Diff != "") != want {
				t.Errorf("%s: diff %q, want one: %v", f.Change.Name, f.Diff, want)
			}
		}
		foreseen = append(foreseen, f.WayBack)
	}
	if diff := cmp.Diff(want, fates(foreseen)); diff != "" {
		t.Errorf("foreseen (-want +got):\n%s", diff)
	}
	files := map[string]string{
		"changed.md": "1", "edited.md": "mine", "again.md": "3", "lost.md": "2", "there.md": "moved", "here.md": "other", "a.md": "b1", "back.md": "1", "doubt.md": "?", "deleted.md": "old",
	}
	if diff := cmp.Diff(files, d.snapshot()); diff != "" {
		t.Errorf("the vault (-want +got):\n%s", diff)
	}
	if len(out.Memories) != 1 || out.Memories[0].Name != "in.md" {
		t.Errorf("memories %+v", out.Memories)
	}
}

// A change whose outcome is in doubt is taken back when the file is as the run would have left it, and not when it is as before.
func TestTakeBack_inDoubt(t *testing.T) {
	t.Parallel()
	for now, want := range map[string]string{"2": "done", "1": "nothing"} {
		d := newDesk(t, map[string]string{"a.md": now}, "read_file")
		p := &past{run: engine.RunRecord{ID: "r1", Status: engine.Cancelled}}
		d.did(p, engine.ChangeWrite, "a.md", "1", "2")
		p.trail[0].Change.Doubt = true
		d.History = p
		ref := engine.UndoRef{StepRef: engine.StepRef{Run: "u1", Workflow: "Flow"}, Of: "r1"}
		plan, err := d.PlanUndo(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		out, err := d.TakeBack(t.Context(), engine.TakeBackIn{UndoRef: ref, UndoItems: plan})
		if err != nil || fates(out.Ways)["a.md"] != want || d.snapshot()["a.md"] != "1" {
			t.Errorf("holding %s: %v, %v, %q; want %s", now, fates(out.Ways), err, d.snapshot(), want)
		}
	}
}

// An undo that is tried again does not forget what it has done.
func TestTakeBack_again(t *testing.T) {
	t.Parallel()
	d, _ := undoneDesk(t)
	ref := engine.UndoRef{StepRef: engine.StepRef{Run: "u1", Workflow: "Flow"}, Of: "r1"}
	plan, err := d.PlanUndo(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	var first, second engine.UndoItems
	for _, out := range []*engine.UndoItems{&first, &second} {
		if *out, err = d.TakeBack(t.Context(), engine.TakeBackIn{UndoRef: ref, UndoItems: plan}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(fates(first.Ways), fates(second.Ways)); diff != "" {
		t.Errorf("the second time (-first +second):\n%s", diff)
	}
}

func TestTakeBack_editedBehindTheKill(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.md": "2"}, "read_file")
	p := &past{run: engine.RunRecord{ID: "r1", Status: engine.Done}}
	d.did(p, engine.ChangeWrite, "a.md", "1", "2")
	d.History = p
	ref := engine.UndoRef{StepRef: engine.StepRef{Run: "u1", Workflow: "Flow"}, Of: "r1"}
	plan, err := d.PlanUndo(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Intend(t.Context(), ref.StepRef, "undo:0", plan.Ways[0].Change, "", noon); err != nil {
		t.Fatal(err)
	}
	d.files["a.md"] = &fstest.MapFile{Data: []byte("1, mine"), ModTime: noon}
	out, err := d.TakeBack(t.Context(), engine.TakeBackIn{UndoRef: ref, UndoItems: plan})
	if err != nil || !strings.HasPrefix(fates(out.Ways)["a.md"], "kept somebody") || d.snapshot()["a.md"] != "1, mine" {
		t.Errorf("%v, %v, %q", fates(out.Ways), err, d.snapshot())
	}
}
