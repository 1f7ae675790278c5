package directives

import (
	"context"
	"testing"
	"testing/fstest"
	"time"
)

// memory is pending state as the engine keeps it: the digest in which a file was processed last, by key and name.
type memory map[PendingKey]map[string]string

func (m memory) Done(_ context.Context, key PendingKey, name, sum string) (bool, error) {
	return m[key][name] == sum, nil
}

// mark remembers all files of a resolution, as the commit of a step does.
func (m memory) mark(key PendingKey, r Resolution) {
	if m[key] == nil {
		m[key] = map[string]string{}
	}
	for _, f := range r.Files {
		m[key][f.Name] = f.SHA256
	}
}

// inbox is a vault with a step that takes pending files.
type inbox struct {
	t     *testing.T
	fsys  fstest.MapFS
	state memory
}

func newInbox(t *testing.T) inbox {
	t.Helper()
	b := inbox{t, fstest.MapFS{}, memory{}}
	for name, text := range map[string]string{"a": "one", "b": "two", "c": "three"} {
		b.write(name, text)
	}
	return b
}

func (b inbox) write(name, text string) {
	b.fsys["Inbox/"+name+".md"] = &fstest.MapFile{Data: []byte(text), ModTime: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
}

// take resolves an input of the step.
func (b inbox) take(in Input) Resolution {
	b.t.Helper()
	r, err := in.Resolve(b.t.Context(), ResolveEnv{FS: b.fsys, Facts: facts(), Pending: b.state})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// commit resolves an input and marks what it found.
func (b inbox) commit(in Input) string {
	b.t.Helper()
	r := b.take(in)
	b.state.mark(in.Key(facts().Workflow, facts().Step), r)
	return fileNames(r)
}

func (b inbox) want(in Input, want string) {
	b.t.Helper()
	if got := fileNames(b.take(in)); got != want {
		b.t.Errorf("%s: pending are %q, want %q", in.Target, got, want)
	}
}

const allPending = "file: Inbox/* (pending)"

func TestPending_marksAreByContent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(inbox)
		want   string
	}{
		"nothing":        {func(inbox) {}, ""},
		"touch":          {func(b inbox) { b.fsys["Inbox/a.md"].ModTime = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC) }, ""},
		"same content":   {func(b inbox) { b.write("a", "one") }, ""},
		"edit":           {func(b inbox) { b.write("a", "one and more") }, "Inbox/a.md"},
		"new file":       {func(b inbox) { b.write("d", "four") }, "Inbox/d.md"},
		"equal contents": {func(b inbox) { b.write("d", "one") }, "Inbox/d.md"}, // by path: the content of another file does not count
		"rename":         {func(b inbox) { b.fsys["Inbox/z.md"] = b.fsys["Inbox/a.md"]; delete(b.fsys, "Inbox/a.md") }, "Inbox/z.md"},
		"swap": {func(b inbox) {
			b.fsys["Inbox/a.md"], b.fsys["Inbox/b.md"] = b.fsys["Inbox/b.md"], b.fsys["Inbox/a.md"]
		}, "Inbox/a.md | Inbox/b.md"},
		"removed": {func(b inbox) { delete(b.fsys, "Inbox/a.md") }, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newInbox(t)
			if got := b.commit(input(t, allPending)); got != "Inbox/a.md | Inbox/b.md | Inbox/c.md" {
				t.Fatalf("took %q", got)
			}
			tt.change(b)
			b.want(input(t, allPending), tt.want)
		})
	}
}

// The workflow's own edit of a file is marked with the content that it wrote; a later edit by a person counts.
func TestPending_editsOfTheWorkflowItself(t *testing.T) {
	t.Parallel()
	b := newInbox(t)
	in := input(t, allPending)
	b.commit(in)
	b.write("a", "one, tagged")
	b.commit(in) // what the engine does with files that the step itself has written
	b.want(in, "")
	b.write("a", "one, tagged, and a remark")
	b.want(in, "Inbox/a.md")
}

// State belongs to the step's directive, however it is spelt; a smaller or larger limit goes on where the last one ended.
func TestPending_survivesLimitAndSpelling(t *testing.T) {
	t.Parallel()
	b := newInbox(t)
	if got := b.commit(input(t, "file: Inbox/{pending:1}")); got != "Inbox/a.md" {
		t.Errorf("took %q", got)
	}
	for _, value := range []string{"file: Inbox/{pending}", allPending, "file: Inbox/*.md (limit=50, pending)", "file: **/{pending:9}", "file: Inbox/{pending} (order=name)"} {
		b.want(input(t, value), "Inbox/b.md | Inbox/c.md")
	}
	b.want(input(t, "file: Inbox/{pending:1}"), "Inbox/b.md")
	b.want(input(t, "file: Inbox/* (pending, dir=desc)"), "Inbox/c.md | Inbox/b.md")
}

// Every directive, every step and every workflow has its own state.
func TestPending_isKeptApart(t *testing.T) {
	t.Parallel()
	set, faults := read("@input file: Inbox/{pending}\n@input file: Inbox/{pending}\n@when changed Inbox/*\n@when changed Inbox/*\n@for_each file: Inbox/{pending}")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	keys := map[PendingKey]bool{}
	for _, w := range set.When {
		keys[w.Key("w", "s")] = true
	}
	for _, in := range append(set.Inputs, set.ForEach.Input()) {
		keys[in.Key("w", "s")], keys[in.Key("w", "t")], keys[in.Key("v", "s")] = true, true, true
	}
	if len(keys) != 2+3*3 {
		t.Errorf("%d different keys: %v", len(keys), keys)
	}
	b := newInbox(t)
	b.commit(set.Inputs[0])
	b.want(set.Inputs[1], "Inbox/a.md | Inbox/b.md | Inbox/c.md")
	b.want(set.ForEach.Input(), "Inbox/a.md | Inbox/b.md | Inbox/c.md")
}

// Nothing is marked by looking: a step that failed finds the same files again.
func TestPending_lookingMarksNothing(t *testing.T) {
	t.Parallel()
	b := newInbox(t)
	for range 2 {
		b.want(input(t, "file: Inbox/{pending:2}"), "Inbox/a.md | Inbox/b.md")
	}
	if len(b.state) > 0 {
		t.Errorf("state %v", b.state)
	}
}
