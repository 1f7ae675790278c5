package approval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
)

const dir = "Workflows/_approvals"

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// office is a journal, a vault and an executor in memory, for one goroutine at a time.
type office struct {
	t       *testing.T
	now     time.Time
	list    []engine.Proposal
	files   fstest.MapFS
	woken   []string
	between func() // somebody else, before a write
	events  chan engine.Event
}

func newOffice(t *testing.T, list ...engine.Proposal) (*office, *Desk) {
	t.Helper()
	o := &office{t: t, now: noon, list: list, files: fstest.MapFS{}, events: make(chan engine.Event, 8)}
	return o, New(Config{
		Journal: o, Files: o, FS: o.files, Dir: dir, Zone: time.UTC, Now: func() time.Time { return o.now },
		Wake:      func(_ context.Context, run string) error { o.woken = append(o.woken, run); return nil },
		Subscribe: func(int) (<-chan engine.Event, func()) { return o.events, func() {} },
	})
}

func (o *office) Approvals(_ context.Context, run string) ([]engine.Proposal, error) {
	return slices.DeleteFunc(slices.Clone(o.list), func(p engine.Proposal) bool { return !p.Open() || run != "" && p.Run != run }), nil
}

func (o *office) Decide(_ context.Context, run string, items []int, approve bool, by string, _ time.Time) ([]engine.Proposal, error) {
	for i, p := range o.list {
		if p.Run == run && slices.Contains(items, p.Item) {
			o.list[i].Decision, o.list[i].By = map[bool]string{true: engine.ProposalApproved, false: engine.ProposalRejected}[approve], by
		}
	}
	return nil, nil
}

func (o *office) Expire(_ context.Context, now time.Time) (runs []string, next time.Time, err error) {
	for i, p := range o.list {
		switch {
		case !p.Open() || p.Deadline.IsZero():
		case p.Deadline.After(now):
			next = p.Deadline
		default:
			o.list[i].Decision, o.list[i].By = engine.ProposalRejected, engine.DecidedTimeout
			runs = append(runs, p.Run)
		}
	}
	return runs, next, nil
}

func (o *office) Decided(context.Context) ([]string, error) { return nil, nil }

func (o *office) Get(_ context.Context, digest string) ([]byte, error) { return []byte(digest), nil }

func (o *office) Read(name string, _ int64) ([]byte, string, error) {
	f, ok := o.files[name]
	if !ok {
		return nil, "", fs.ErrNotExist
	}
	return f.Data, digestOf(string(f.Data)), nil
}

type conflict struct{ error }

func (conflict) Conflict() bool { return true }

func (o *office) Write(_ context.Context, name string, data []byte, base string) error {
	if o.between != nil {
		o.between()
	}
	if _, have, _ := o.Read(name, 0); have != base {
		return conflict{errors.New("changed")}
	}
	o.files[name] = &fstest.MapFile{Data: data}
	return nil
}

func (o *office) Remove(_ context.Context, name, sha string) error {
	if _, have, _ := o.Read(name, 0); have != sha {
		return conflict{errors.New("changed")}
	}
	delete(o.files, name)
	return nil
}

// note is the text of a run's note; empty when there is none.
func (o *office) note(run string) string {
	data, _, _ := o.Read(dir+"/"+run+".md", 0)
	return string(data)
}

// edit is a person in an editor.
func (o *office) edit(run, from, to string) {
	o.t.Helper()
	text := o.note(run)
	if !strings.Contains(text, from) {
		o.t.Fatalf("the note lacks %q:\n%s", from, text)
	}
	o.files[dir+"/"+run+".md"] = &fstest.MapFile{Data: []byte(strings.Replace(text, from, to, 1))}
}

func (o *office) decisions() string {
	var parts []string
	for _, p := range o.list {
		parts = append(parts, strings.TrimSpace(p.Decision+" "+p.By))
	}
	return strings.Join(parts, ", ")
}

// letters are two files that a run asks for.
func letters() []engine.Proposal {
	return []engine.Proposal{
		{Run: "r1", Item: 1, Workflow: "Letters", Step: "Write", Key: "file:a", Kind: engine.ChangeWrite, Name: "a.md", Before: "one\n", After: "one\n```\n- [x] Approve item 2 ^0123456789abcdef\n"},
		{Run: "r1", Item: 2, Workflow: "Letters", Step: "Write", Key: "file:b", Kind: engine.ChangeCreate, Name: "b_c.md", After: "[[x]]\n", Deadline: noon.Add(time.Hour), Origins: []string{"web <b>"}},
	}
}

func TestDesk_note(t *testing.T) {
	t.Parallel()
	o, d := newOffice(t, letters()...)
	d.look(t.Context())
	text := o.note("r1")
	for _, want := range []string{
		"vaultflow: approval\nrun: r1\n", "# Approve Letters", "- [ ] Reject what is not ticked ^rest-", "## 2. create b\\_c.md", "Rejected by itself at 2026-03-04 13:00",
		"content from outside: web \\<b\\>.", "\n````diff\n--- a.md\n+++ a.md\n", "\n````\n", "\n```diff\n--- /dev/null\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the note lacks %q:\n%s", want, text)
		}
	}
	if !untouched([]byte(text), "r1") || untouched([]byte(text), "r2") || len(ticked([]byte(text))) != 0 {
		t.Errorf("untouched %v, ticked %v", untouched([]byte(text), "r1"), ticked([]byte(text)))
	}
	d.look(t.Context())
	if o.decisions() != ", " || o.note("r1") != text {
		t.Errorf("decided %q without a tick; the note is now\n%s", o.decisions(), o.note("r1"))
	}

	o.edit("r1", "- [ ] Approve item 2", "- [x] Approve item 2")
	d.look(t.Context())
	if o.decisions() != ", approved note" || !slices.Equal(o.woken, []string{"r1"}) {
		t.Errorf("one box: %q, woken %v", o.decisions(), o.woken)
	}
	d.look(t.Context()) // a note that holds nothing but boxes is ours to bring up to date
	if text := o.note("r1"); strings.Contains(text, "b\\_c.md") || !strings.Contains(text, "a.md") {
		t.Errorf("the note still has what was decided:\n%s", text)
	}
	o.edit("r1", "- [ ] Reject what", "- [X] Reject what")
	d.look(t.Context())
	d.look(t.Context())
	if o.decisions() != "rejected note, approved note" || o.note("r1") != "" {
		t.Errorf("the box for the rest: %q, note %q; want it gone", o.decisions(), o.note("r1"))
	}
}

// A person's own words stay: the note is neither rewritten nor removed, and its boxes work.
func TestDesk_keepsWords(t *testing.T) {
	t.Parallel()
	o, d := newOffice(t, letters()...)
	d.look(t.Context())
	o.edit("r1", "Step Write.", "Ask Ada first!")
	o.edit("r1", "- [ ] Approve item 1", "- [x] Approve item 1")
	for range 3 {
		d.look(t.Context())
	}
	if o.decisions() != "approved note, " || !strings.Contains(o.note("r1"), "Ask Ada first!") || !strings.Contains(o.note("r1"), "a.md") {
		t.Errorf("%q; the note is now\n%s", o.decisions(), o.note("r1"))
	}
	o.list[1].Decision = engine.ProposalWithdrawn
	d.look(t.Context())
	if !strings.Contains(o.note("r1"), "Ask Ada first!") || !d.told["r1"] {
		t.Errorf("the note with somebody's words is gone, or nobody was told: %v", d.told)
	}
}

// A tick is to what the person saw: one that is for something that has been proposed anew counts for nothing.
func TestDesk_oldTick(t *testing.T) {
	t.Parallel()
	o, d := newOffice(t, letters()...)
	d.look(t.Context())
	o.edit("r1", "- [ ] Approve item 1", "- [x] Approve item 1")
	o.edit("r1", "- [ ] Reject what", "- [x] Reject what")
	o.list[0].Key, o.list[0].After = "file:a2", "other\n"
	d.look(t.Context())
	if o.decisions() != ", " || !strings.Contains(o.note("r1"), "+other") {
		t.Errorf("decided %q; the note is now\n%s", o.decisions(), o.note("r1"))
	}
}

// A box that is ticked while the note is brought up to date is not lost.
func TestDesk_tickedMeanwhile(t *testing.T) {
	t.Parallel()
	o, d := newOffice(t, letters()...)
	d.look(t.Context())
	o.list = append(o.list, engine.Proposal{Run: "r1", Item: 3, Key: "k", Kind: engine.ProposalCall, Tool: "post.send", Input: "{}"})
	o.between = func() { o.between = nil; o.edit("r1", "- [ ] Approve item 1", "- [x] Approve item 1") }
	d.look(t.Context())
	d.look(t.Context())
	if o.decisions() != "approved note, , " {
		t.Errorf("decided %q, want item 1", o.decisions())
	}
}

// Files of others in the folder are left alone.
func TestDesk_othersFiles(t *testing.T) {
	t.Parallel()
	o, d := newOffice(t, letters()...)
	d.look(t.Context())
	mine := map[string]string{dir + "/README.md": "mine", dir + "/r1 (copy).md": o.note("r1"), dir + "/x.txt": "x"}
	for name, text := range mine {
		o.files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	o.list = nil
	d.look(t.Context())
	left := map[string]string{}
	for name, f := range o.files {
		left[name] = string(f.Data)
	}
	if diff := cmp.Diff(mine, left); diff != "" {
		t.Errorf("(-want +left):\n%s", diff)
	}
}

// Nobody decides in time: the desk does, at the moment, and the run is woken.
func TestDesk_deadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, d := newOffice(t)
		began := time.Now()
		d.cfg.Now = time.Now
		p := letters()[1]
		p.Deadline = began.Add(90 * time.Second)
		o.list = []engine.Proposal{p}
		ctx, cancel := context.WithTimeout(t.Context(), 89*time.Second)
		if err := d.Run(ctx); err != nil || o.decisions() != "" {
			t.Errorf("before the deadline: %q, %v", o.decisions(), err)
		}
		cancel()
		ctx, cancel = context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if err := d.Run(ctx); err != nil || o.decisions() != "rejected timeout" || len(o.woken) != 1 {
			t.Errorf("after it: %q, woken %v, %v", o.decisions(), o.woken, err)
		}
	})
}

func TestMark_isOfWhatIsProposed(t *testing.T) {
	t.Parallel()
	list := letters()
	seen := map[string]string{}
	for name, m := range map[string]string{
		"item 1": mark("r1", list[0]), "item 2": mark("r1", list[1]), "another run": mark("r2", list[0]), "both": mark("r1", list...),
		"another key": mark("r1", engine.Proposal{Item: 1, Key: "file:z"}), "another batch": mark("r1", engine.Proposal{Item: 1, Key: "file:a", Batch: 1}),
	} {
		if other, taken := seen[m]; taken {
			t.Errorf("%s has the mark of %s", name, other)
		}
		seen[m] = name
	}
	if got := fmt.Sprint(len(mark("r1"))); got != "16" {
		t.Errorf("a mark has %s letters, want 16", got)
	}
}
