package local_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/enginetest"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
	"github.com/vaultflow/vaultflow/failure"
)

// desk is a folder of notes with a real journal, and a step "s" that works on the pending ones. Its answer to a note is
// the note's text behind "seen: "; it is appended to log.md, and with rewrite put into the note too.
type desk struct {
	t       *testing.T
	dir     string // the vault
	state   string
	each    directives.ForEach
	rewrite bool
	fail    string // the answer to this note fails

	mu    sync.Mutex
	asked []string
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), state: t.TempDir()}
	d.each.Target = directives.Target{Scheme: directives.SchemeFile, Path: "Inbox/*.md"}
	d.each.Selection.Pending = true
	for _, name := range []string{"a", "b", "c"} {
		d.write("Inbox/"+name+".md", "text of "+name)
	}
	return d
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) read(name string) string {
	data, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Error(err)
	}
	return string(data)
}

func digest(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (d *desk) plan() json.RawMessage {
	each, err := json.Marshal(d.each)
	if err != nil {
		d.t.Fatal(err)
	}
	return fmt.Appendf(nil, `{"name":"w","steps":[{"name":"s","outputs":[{}],"for_each":%s}]}`, each)
}

// activities are those of a desk over its journal. A commit does what the real one does, in the same order.
func (d *desk) activities(j *journal.Journal) engine.Activities {
	return engine.Activities{
		engine.ActivityExpand: engine.Handle(func(ctx context.Context, _ engine.StepIn) (engine.ExpandOut, error) {
			var out engine.ExpandOut
			found, err := d.each.Input().Resolve(ctx, directives.ResolveEnv{
				FS: os.DirFS(d.dir), Pending: j.Memory, Facts: directives.Facts{Workflow: "w", Step: "s"},
			})
			for _, f := range found.Files {
				out.Batches = append(out.Batches, []engine.Item{{Name: f.Name, SHA256: f.SHA256, Pending: true}})
			}
			return out, err
		}),
		engine.ActivityResolve: engine.Handle(func(context.Context, engine.ResolveIn) (engine.ResolveOut, error) {
			return engine.ResolveOut{}, nil
		}),
		engine.ActivityAssemble: engine.Handle(func(_ context.Context, in engine.AssembleIn) (engine.AssembleOut, error) {
			return engine.AssembleOut{Prompt: in.Items[0].Name}, nil
		}),
		engine.ActivityGenerate: engine.Handle(func(_ context.Context, in engine.GenerateIn) (engine.GenerateOut, error) {
			d.mu.Lock()
			d.asked = append(d.asked, strings.TrimSuffix(strings.TrimPrefix(in.Prompt, "Inbox/"), ".md"))
			d.mu.Unlock()
			if in.Prompt == d.fail {
				return engine.GenerateOut{}, failure.New(failure.Provider, "", "down")
			}
			return engine.GenerateOut{Answer: "seen: " + d.read(in.Prompt), Stop: engine.StopEnd}, nil
		}),
		engine.ActivityStage: engine.Handle(d.stage),
		engine.ActivityCommit: engine.Handle(func(ctx context.Context, in engine.CommitIn) (engine.CommitOut, error) {
			return d.commit(ctx, j, in)
		}),
	}
}

// stage keeps the new contents in StagedFile.Targets: this desk has no blobs.
func (d *desk) stage(_ context.Context, in engine.StageIn) (engine.StageOut, error) {
	add := func(name, text string) engine.StagedFile {
		return engine.StagedFile{Name: name, Base: digest(d.read(name)), New: digest(text), Targets: []string{"output:0", text}}
	}
	files := []engine.StagedFile{add("log.md", d.read("log.md")+in.Answer+"\n")}
	if d.rewrite {
		files = append(files, add(in.Items[0].Name, in.Answer))
	}
	return engine.StageOut{Files: files}, nil
}

func (d *desk) commit(ctx context.Context, j *journal.Journal, in engine.CommitIn) (engine.CommitOut, error) {
	if err := j.Memory.Writing(ctx, in.StepRef, in.Files); err != nil {
		return engine.CommitOut{}, err
	}
	for _, f := range in.Files {
		switch digest(d.read(f.Name)) {
		case f.New:
		case f.Base:
			d.write(f.Name, f.Targets[1])
		default:
			return engine.CommitOut{Conflicts: []string{f.Name}}, nil
		}
	}
	return engine.CommitOut{Written: in.Files}, j.Memory.Committed(ctx, in.StepRef, in.Marks, in.Shared)
}

// work runs the step in a process that dies at an append, or never with zero, and returns the notes that a model was asked
// about, in order.
func (d *desk) work(at int) []string {
	d.t.Helper()
	j, err := journal.Open(d.t.Context(), d.state)
	if err != nil {
		d.t.Fatal(err)
	}
	x := local.New(local.Config{Journal: enginetest.NewMortal(at, true).Over(j.Executor()), Activities: d.activities(j), Grace: time.Second})
	ctx, cancel := context.WithTimeout(d.t.Context(), 20*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	running, stop := context.WithCancel(ctx)
	go func() { ended <- x.Run(running) }()
	d.asked = nil
	runs, err := j.Runs.Unfinished(ctx)
	if err != nil {
		d.t.Fatal(err)
	}
	run := ""
	if len(runs) > 0 {
		run = runs[0].Run.ID
		_, err = x.Resume(ctx)
	} else {
		var s engine.Started
		s, err = x.Start(ctx, engine.Request{Kind: engine.KindWorkflow, Subject: "w", Plan: d.plan()})
		run = s.Run
	}
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := x.Wait(ctx, run); err != nil && at == 0 {
		d.t.Errorf("Wait: %v", err)
	}
	stop()
	if err := errors.Join(<-ended, j.Close()); err != nil {
		d.t.Error(err)
	}
	return d.asked
}

// want runs the step and compares the notes that were pending.
func (d *desk) want(when string, names ...string) {
	d.t.Helper()
	got := d.work(0)
	slices.Sort(got)
	if diff := cmp.Diff(names, got); diff != "" {
		d.t.Errorf("%s: pending (-want +got):\n%s", when, diff)
	}
}

func TestPending_contentsAndNames(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.want("at first", "a", "b", "c")
	d.want("again")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(d.dir, "Inbox/a.md"), later, later); err != nil {
		t.Fatal(err)
	}
	d.want("touched")
	d.write("Inbox/b.md", "another text of b")
	d.want("edited", "b")
	d.write("Inbox/b.md", "text of a")
	d.write("Inbox/d.md", "text of a")
	d.want("contents that another file has", "b", "d")
	if err := os.Rename(filepath.Join(d.dir, "Inbox/c.md"), filepath.Join(d.dir, "Inbox/e.md")); err != nil {
		t.Fatal(err)
	}
	d.want("renamed", "e")
	if err := os.Rename(filepath.Join(d.dir, "Inbox/e.md"), filepath.Join(d.dir, "Inbox/c.md")); err != nil {
		t.Fatal(err)
	}
	d.want("renamed back")
}

func TestPending_limitAndSpelling(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.each.Selection.Limit = 2
	d.want("limit 2", "a", "b")
	d.each.Selection.Limit = 1
	d.want("limit 1", "c")
	d.each.Selection.Limit = 0
	d.want("no limit")
	d.each.Target.Path = "Inbox/**"
	d.want("another spelling")
	d.write("Inbox/sub/x.md", "x")
	d.want("more files fit", "sub/x")
}

// What the workflow makes of a note is not new to it; what a person makes of that is.
func TestPending_ownEdits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.rewrite = true
	d.want("at first", "a", "b", "c")
	if got := d.read("Inbox/a.md"); got != "seen: text of a" {
		t.Fatalf("a.md: %q", got)
	}
	d.want("after its own edit")
	d.write("Inbox/a.md", "seen: text of a, and a person's line")
	d.want("after a person's edit", "a")
	d.want("after its edit of the person's edit")
}

func TestPending_failedItemsStay(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.each.OnError, d.fail = "skip", "Inbox/b.md"
	d.want("b fails", "a", "b", "c")
	d.fail = ""
	d.want("b again", "b")
	d.write("Inbox/a.md", "new a")
	d.write("Inbox/c.md", "new c")
	d.each.OnError, d.fail = "stop", "Inbox/a.md"
	d.want("a fails and stops", "a")
	d.fail = ""
	d.want("both again", "a", "c")
}

// A process that dies anywhere between an answer and the mark neither loses a note nor asks about one twice, and the log
// holds each answer once, in order.
func TestPending_killedEverywhere(t *testing.T) {
	t.Parallel()
	for _, parallel := range []int{1, 3} {
		t.Run(fmt.Sprintf("parallel %d", parallel), func(t *testing.T) {
			t.Parallel()
			const appends = 1 + 3*5
			for at := 1; at <= appends; at++ {
				d := newDesk(t)
				d.each.Parallel, d.rewrite = parallel, true
				asked := d.work(at)
				asked = append(slices.Clone(asked), d.work(0)...)
				if parallel == 1 { // beside each other, outcomes of the others may be lost too: see enginetest
					if diff := cmp.Diff([]string{"a", "b", "c"}, asked); diff != "" {
						t.Errorf("killed at append %d: model calls (-want +got):\n%s", at, diff)
					}
				}
				if got, want := d.read("log.md"), "seen: text of a\nseen: text of b\nseen: text of c\n"; got != want {
					t.Errorf("killed at append %d: log %q, want %q", at, got, want)
				}
				d.want(fmt.Sprintf("after a kill at append %d", at))
			}
		})
	}
}
