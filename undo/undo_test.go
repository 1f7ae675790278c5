package undo

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/policy/origin/origintest"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/vault"
)

// past is a run on record, and what it did.
type past struct {
	run      engine.RunRecord
	trail    []engine.RunChange
	memories []engine.Memory
	writers  map[string]string // runs, by name and digest
	kept     []string          // files that TakeBackParts was called with
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

func (p *past) TakeBackParts(_ context.Context, _, _ string, kept []string) error {
	p.kept = kept
	return nil
}

func (p *past) WriterSince(_ context.Context, _, name, digest string) (string, error) {
	return p.writers[name+digest], nil
}

// desk is a vault and a journal in memory.
type desk struct {
	t *testing.T
	*steptest.Journal
	vault *steptest.Vault
	book  *origin.Book
}

func newDesk(t *testing.T, files map[string]string) *desk {
	t.Helper()
	fuse := &steptest.Fuse{}
	d := &desk{t: t, Journal: steptest.NewJournal(fuse), vault: steptest.NewVault(files)}
	return d
}

// changes makes the changes of runs.
func (d *desk) changes() *change.Maker {
	return &change.Maker{
		Files: change.Files{FS: d.vault.Files, Vault: d.vault.Mortal(d.Fuse), MaxText: 1 << 20}, Blobs: d.Journal, Own: d.Journal, Record: d.Journal,
		Origin: d.book, Gate: policy.Gate{ImportDir: "Import", ImportedDir: "Imported"}, Now: func() time.Time { return steptest.Noon },
	}
}

func (d *desk) undo(p *past) *Undo { return &Undo{History: p, Changes: d.changes()} }

func (d *desk) put(text string) string {
	d.t.Helper()
	digest, err := d.Put(d.t.Context(), []byte(text))
	if err != nil {
		d.t.Fatal(err)
	}
	return digest
}

func sha(text string) string { return vault.Digest([]byte(text)) }

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
	})
	p := &past{run: engine.RunRecord{ID: "r1", Kind: engine.KindWorkflow, Workflow: "Flow", Status: engine.Done}, writers: map[string]string{"again.md" + d.put("3"): "r2"}}
	d.did(p, engine.ChangeCreate, "made.md", "", "new")
	d.did(p, engine.ChangeWrite, "changed.md", "1", "2")
	d.did(p, engine.ChangeWrite, "edited.md", "1", "2")
	d.did(p, engine.ChangeWrite, "again.md", "1", "2")
	d.did(p, engine.ChangeWrite, "gone.md", "1", "2")
	d.did(p, engine.ChangeWrite, "lost.md", "0", "2")
	d.Forget(sha("0"))
	d.did(p, engine.ChangeMove, "here.md>there.md", "moved", "")
	d.did(p, engine.ChangeMove, "a.md>b.md", "b1", "")
	d.did(p, engine.ChangeWrite, "b.md", "b1", "b2")
	d.did(p, engine.ChangeWrite, "back.md", "1", "2")
	d.did(p, engine.ChangeDelete, "deleted.md", "old", "")
	d.did(p, engine.ChangeWrite, "doubt.md", "1", "2")
	p.trail[len(p.trail)-1].Change.Doubt = true
	p.run.Outputs = []engine.Output{{Kind: "file", Name: "old.md", After: d.vault.DigestOf("old.md")}, {Kind: "variable", Name: "v", After: "x"}}
	p.memories = []engine.Memory{{Name: "in.md", After: "1"}, {Variable: true, Name: "v", Before: sha("0"), After: "1"}}
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
	d, p := undoneDesk(t)
	ctx := t.Context()
	preview, err := d.undo(p).Preview(ctx, "r1")
	if err != nil {
		t.Fatal(err)
	}
	ref := engine.UndoRef{StepRef: engine.StepRef{Run: "u1", Workflow: "Flow"}, Of: "r1"}
	plan, err := d.undo(p).Plan(ctx, ref)
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.undo(p).TakeBack(ctx, engine.TakeBackIn{UndoRef: ref, UndoItems: plan})
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
		"doubt.md":         "kept the program ended while the run was changing it, and it was changed since: whether it holds the run's change is not known",
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
	if diff := cmp.Diff(files, d.vault.Texts()); diff != "" {
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
		d := newDesk(t, map[string]string{"a.md": now})
		p := &past{run: engine.RunRecord{ID: "r1", Status: engine.Cancelled}}
		d.did(p, engine.ChangeWrite, "a.md", "1", "2")
		p.trail[0].Change.Doubt = true
		ref := engine.UndoRef{StepRef: engine.StepRef{Run: "u1", Workflow: "Flow"}, Of: "r1"}
		plan, err := d.undo(p).Plan(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		out, err := d.undo(p).TakeBack(t.Context(), engine.TakeBackIn{UndoRef: ref, UndoItems: plan})
		if err != nil || fates(out.Ways)["a.md"] != want || d.vault.Texts()["a.md"] != "1" {
			t.Errorf("holding %s: %v, %v, %q; want %s", now, fates(out.Ways), err, d.vault.Texts(), want)
		}
	}
}

// An undo that is tried again does not forget what it has done.
func TestTakeBack_again(t *testing.T) {
	t.Parallel()
	d, p := undoneDesk(t)
	ref := engine.UndoRef{StepRef: engine.StepRef{Run: "u1", Workflow: "Flow"}, Of: "r1"}
	plan, err := d.undo(p).Plan(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	var first, second engine.UndoItems
	for _, out := range []*engine.UndoItems{&first, &second} {
		if *out, err = d.undo(p).TakeBack(t.Context(), engine.TakeBackIn{UndoRef: ref, UndoItems: plan}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(fates(first.Ways), fates(second.Ways)); diff != "" {
		t.Errorf("the second time (-first +second):\n%s", diff)
	}
}

func TestTakeBack_editedBehindTheKill(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.md": "2"})
	p := &past{run: engine.RunRecord{ID: "r1", Status: engine.Done}}
	d.did(p, engine.ChangeWrite, "a.md", "1", "2")
	ref := engine.UndoRef{StepRef: engine.StepRef{Run: "u1", Workflow: "Flow"}, Of: "r1"}
	plan, err := d.undo(p).Plan(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Intend(t.Context(), ref.StepRef, "undo:0", plan.Ways[0].Change, "", steptest.Noon); err != nil {
		t.Fatal(err)
	}
	d.vault.Put("a.md", "1, mine")
	out, err := d.undo(p).TakeBack(t.Context(), engine.TakeBackIn{UndoRef: ref, UndoItems: plan})
	if err != nil || !strings.HasPrefix(fates(out.Ways)["a.md"], "kept somebody") || d.vault.Texts()["a.md"] != "1, mine" {
		t.Errorf("%v, %v, %q", fates(out.Ways), err, d.vault.Texts())
	}
	if !slices.Equal(p.kept, []string{"a.md"}) {
		t.Errorf("the parts of %q keep their records", p.kept)
	}
}

// Undo brings back what a file held before a tainted write as what it was: one's own; and foreign text as foreign.
func TestTakeBack_restoresOrigins(t *testing.T) {
	t.Parallel()
	const (
		strange  = "The committee decided in March that the harbour is to be closed for two years.\n"
		imported = "import 01J (report.pdf)"
	)
	d := newDesk(t, map[string]string{"own.md": "seven apples\n", "filed.md": strange, "Imported/report/index.md": strange})
	d.book = &origin.Book{FS: d.vault.Files, Store: &origintest.Store{}}
	if err := d.book.Imported(t.Context(), "Imported/report", imported); err != nil {
		t.Fatal(err)
	}
	foreign := func(name string) bool {
		t.Helper()
		f, err := d.book.Of(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return f.Foreign
	}
	for name, want := range map[string]bool{"own.md": false, "filed.md": true} {
		before := string(d.vault.Files[name].Data)
		after := d.put(before + "A model wrote this sentence, and nobody has read it so far.\n")
		written := engine.Change{Kind: engine.ChangeWrite, Name: name, Before: sha(before), After: after}
		by := author(engine.StepRef{Run: name, Workflow: "Flow"})
		by.Shown, by.Restores = []string{imported}, false
		if err := d.changes().Make(t.Context(), by, "output:"+name, written, ""); err != nil || !foreign(name) {
			t.Fatalf("%s: %v, foreign %t", name, err, foreign(name))
		}
		back := engine.WayBack{Change: engine.Change{Kind: engine.ChangeWrite, Name: name, Before: after, After: sha(before)}, Run: name}
		if _, err := d.undo(&past{}).carryBack(t.Context(), by.Ref, "undo:0"+name, back); err != nil || string(d.vault.Files[name].Data) != before {
			t.Fatalf("%s: %v, holds %q", name, err, d.vault.Files[name].Data)
		}
		if got := foreign(name); got != want {
			t.Errorf("%s after the undo: foreign %t, want %t", name, got, want)
		}
	}
}
