package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/undo"
	"github.com/vaultflow/vaultflow/vault/disk"
	"github.com/vaultflow/vaultflow/vault/vaulttest"
)

var errDead = errors.New("killed")

// fuse is a process that dies at one of the things that it does to the disk, before or after it.
type fuse struct {
	at    int // counted from one; zero never
	after bool
	burnt chan struct{}

	mu   sync.Mutex // guards what follows
	n    int
	dead bool
}

func (f *fuse) do(thing func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return errDead
	}
	f.n++
	if f.n != f.at {
		return thing()
	}
	f.dead = true
	close(f.burnt)
	if f.after {
		if err := thing(); err != nil {
			return err
		}
	}
	return errDead
}

// mortalJournal is an executor's journal with a fuse in everything that stores.
type mortalJournal struct {
	engine.Journal
	f *fuse
}

func (m mortalJournal) Append(ctx context.Context, r engine.Record, e engine.Entry) error {
	return m.f.do(func() error { return m.Journal.Append(ctx, r, e) })
}

func (m mortalJournal) Save(ctx context.Context, e engine.Entry) error {
	return m.f.do(func() error { return m.Journal.Save(ctx, e) })
}

func (m mortalJournal) Note(ctx context.Context, e engine.Event, number int) (stored engine.Event, err error) {
	err = m.f.do(func() error { stored, err = m.Journal.Note(ctx, e, number); return err })
	return stored, err
}

func (m mortalJournal) Put(ctx context.Context, data []byte) (digest string, err error) {
	err = m.f.do(func() error { digest, err = m.Journal.Put(ctx, data); return err })
	return digest, err
}

type mortalChanges struct {
	change.Record
	f *fuse
}

func (m mortalChanges) Intend(ctx context.Context, ref engine.StepRef, call string, c engine.Change, said string, now time.Time) error {
	return m.f.do(func() error { return m.Record.Intend(ctx, ref, call, c, said, now) })
}

func (m mortalChanges) Made(ctx context.Context, ref engine.StepRef, call string, made bool) error {
	return m.f.do(func() error { return m.Record.Made(ctx, ref, call, made) })
}

type mortalMemory struct {
	step.Memory
	f *fuse
}

func (m mortalMemory) Writing(ctx context.Context, ref engine.StepRef, files []engine.StagedFile) error {
	return m.f.do(func() error { return m.Memory.Writing(ctx, ref, files) })
}

type mortalHistory struct {
	undo.History
	f *fuse
}

func (m mortalHistory) TakeBack(ctx context.Context, run string, list []engine.Memory) (taken []engine.Memory, err error) {
	err = m.f.do(func() error { taken, err = m.History.TakeBack(ctx, run, list); return err })
	return taken, err
}

// undoing is one life of a process that takes runs back.
type undoing struct {
	t       *testing.T
	journal *journal.Journal
	vault   *disk.Vault
	exec    *local.Executor
	end     func()
}

func wake(t *testing.T, dir string, f *fuse) *undoing {
	t.Helper()
	v, err := disk.Open(filepath.Join(dir, "vault"), disk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.Context(), filepath.Join(dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	mj := mortalJournal{j.Executor(), f}
	changes := &change.Maker{
		Files: change.Files{FS: v.FS(), Vault: vaulttest.Intercept(v, func(_ string, do func() error) error { return f.do(do) }), MaxText: 1 << 20}, Blobs: mj, Own: mortalMemory{j.Memory, f},
		Record: mortalChanges{j.Changes, f}, Now: time.Now,
	}
	back := &undo.Undo{History: mortalHistory{j.Undo, f}, Changes: changes}
	u := &undoing{t: t, journal: j, vault: v, exec: local.New(local.Config{Journal: mj, Activities: back.Activities()})}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- u.exec.Run(ctx) }()
	u.end = sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(<-ended, j.Close(), v.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(u.end)
	return u
}

// permit is the gate's permission for what a run would write.
func (u *undoing) permit(action policy.Action, name, to string) policy.Pass {
	u.t.Helper()
	open := policy.Permitted{Allowed: true}
	r := policy.Request{Writer: policy.ByOutput, Action: action, Place: policy.Look(u.vault.FS(), name), Permitted: open, ToPermitted: open}
	if to != "" {
		r.To = policy.Look(u.vault.FS(), to)
	}
	pass, err := policy.Gate{}.Decide(r).Pass()
	if err != nil {
		u.t.Fatal(err)
	}
	return pass
}

// undo takes a run back, and gives the id of the undo. What a killed process says of it is not listened to.
func (u *undoing) undo(of string) string {
	u.t.Helper()
	r, err := u.journal.Runs.Run(u.t.Context(), of)
	if err != nil {
		u.t.Fatal(err)
	}
	started, err := u.exec.Start(u.t.Context(), engine.UndoRequest(r))
	if err != nil && started.Run == "" {
		u.t.Fatal(err)
	}
	u.exec.Wait(u.t.Context(), started.Run)
	return started.Run
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// doneRun leaves a run behind that has made, changed, moved, moved and changed, and deleted files, and processed one.
func doneRun(t *testing.T, dir string) (run string) {
	t.Helper()
	before := map[string]string{"Changed.md": "one\n", "Inbox/a.md": "a\n", "Inbox/b.md": "b\n", "Old.md": "old\n"}
	for name, text := range before {
		path := filepath.Join(dir, "vault", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	u := wake(t, dir, &fuse{})
	defer u.end()
	ctx := t.Context()
	r := engine.RunRecord{ID: "r1", Kind: engine.KindWorkflow, Workflow: "w", Status: engine.Running, Key: "k1", Created: time.Now()}
	if _, _, err := u.journal.Runs.Create(ctx, engine.Entry{Run: r, Spec: []byte("{}"), Lane: "l"}, false); err != nil {
		t.Fatal(err)
	}
	ref := engine.StepRef{Run: r.ID, Workflow: "w", Step: "s"}
	change := func(kind, name, from, to string) {
		t.Helper()
		c := engine.Change{Kind: kind, Name: name}
		var err error
		if from != "" {
			c.Before = hash(from)
			if kind != engine.ChangeMove {
				_, err = u.journal.Blobs.Put(ctx, []byte(from))
			}
		}
		if kind == engine.ChangeMove {
			c.To, c.After = to, c.Before
			err = u.vault.Move(ctx, u.permit(policy.Move, name, to))
		} else if to != "" {
			c.After = hash(to)
			_, putErr := u.journal.Blobs.Put(ctx, []byte(to))
			err = errors.Join(err, putErr, u.vault.Write(ctx, u.permit(policy.Change, name, ""), []byte(to), c.Before))
		} else {
			err = errors.Join(err, u.vault.Remove(ctx, u.permit(policy.Delete, name, ""), c.Before))
		}
		call := fmt.Sprint(kind, name, to)
		if err := errors.Join(err, u.journal.Changes.Intend(ctx, ref, call, c, "", time.Now()), u.journal.Changes.Made(ctx, ref, call, true)); err != nil {
			t.Fatal(err)
		}
	}
	change(engine.ChangeCreate, "Made.md", "", "made\n")
	change(engine.ChangeWrite, "Changed.md", "one\n", "two\n")
	change(engine.ChangeMove, "Inbox/a.md", "a\n", "Done/a.md")
	change(engine.ChangeMove, "Inbox/b.md", "b\n", "Done/b.md")
	change(engine.ChangeWrite, "Done/b.md", "b\n", "b, done\n")
	change(engine.ChangeDelete, "Old.md", "old\n", "")
	r.Status, r.Finished = engine.Done, time.Now()
	err := u.journal.Memory.Committed(ctx, ref, []engine.Mark{{Name: "Changed.md", SHA256: hash("one\n")}}, nil)
	if err := errors.Join(err, u.journal.Runs.Save(ctx, engine.Entry{Run: r, Spec: []byte("{}"), Lane: "l"})); err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// TestUndo_killedEverywhere kills the process at each thing that an undo does to the disk, before it and after it (a few of
// them outside of the long tier). The next process goes on, and everything is as before the run; what that undo did is then
// taken back whole, and everything is as after it.
func TestUndo_killedEverywhere(t *testing.T) {
	t.Parallel()
	made := t.TempDir()
	run := doneRun(t, made)
	after := treeOf(t, filepath.Join(made, "vault"))
	want := map[string]string{"Changed.md": "one\n", "Inbox/a.md": "a\n", "Inbox/b.md": "b\n", "Old.md": "old\n"}
	step := 7
	if long() {
		step = 1
	}
	things := 0
	for at := 1; ; at += step {
		died := false
		for _, late := range []bool{false, true} {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(made)); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("killed at %d, after: %v", at, late)
			f := &fuse{at: at, after: late, burnt: make(chan struct{})}
			u := wake(t, dir, f)
			undo := u.undo(run)
			u.end()
			died = f.dead
			things = f.n
			u = wake(t, dir, &fuse{})
			if _, err := u.exec.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			r, err := u.exec.Wait(t.Context(), undo)
			if err != nil || r.Status != engine.Done || len(r.Changes) != 6 || len(r.Warnings) != 1 {
				t.Errorf("%s: %s (%s), %d changes, %v, %v; want done with 6 changes and one file pending again", name, r.Status, r.Reason, len(r.Changes), r.Warnings, err)
			}
			if diff := cmp.Diff(want, treeOf(t, filepath.Join(dir, "vault"))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			key := directives.PendingKey{Workflow: "w", Step: "s"}
			if done, err := u.journal.Memory.Done(t.Context(), key, "Changed.md", hash("one\n")); done || err != nil {
				t.Errorf("%s: the input counts as processed: %v", name, err)
			}
			for _, file := range []string{"Changed.md", "Inbox/a.md", "Inbox/b.md", "Old.md"} {
				writers, err := u.journal.Memory.Writers(t.Context(), file, hash(want[file]))
				if err != nil || !slices.ContainsFunc(writers, func(w engine.Writer) bool { return w.Workflow == "w" }) {
					t.Errorf("%s: what came back in %s would trigger the workflow: %v", name, file, err)
				}
			}
			u.undo(undo)
			if diff := cmp.Diff(after, treeOf(t, filepath.Join(dir, "vault"))); diff != "" {
				t.Errorf("%s, and taken back (-want +got):\n%s", name, diff)
			}
			if done, err := u.journal.Memory.Done(t.Context(), key, "Changed.md", hash("one\n")); !done || err != nil {
				t.Errorf("%s, and taken back: the input is pending still: %v", name, err)
			}
			u.end()
		}
		if !died {
			break
		}
	}
	if things < 40 {
		t.Errorf("an undo of six changes does %d things to the disk: not all of them are counted", things)
	}
}
