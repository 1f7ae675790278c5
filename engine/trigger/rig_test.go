package trigger_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/workflow"
)

var epoch = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// starter notes what is asked for, and stores it as an executor would.
type starter struct {
	j      *journal.Journal
	status engine.Status // how every run ends

	mu    sync.Mutex
	keys  []string
	asks  []engine.Request
	busy  bool
	fault error                              // of the next calls of Start
	began func(run string, r engine.Request) // is called for each run that begins
}

func (s *starter) Start(ctx context.Context, r engine.Request) (engine.Started, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != nil {
		return engine.Started{}, s.fault
	}
	e := engine.Entry{Spec: []byte(`{}`), Run: engine.RunRecord{
		ID: fmt.Sprintf("r%d", len(s.keys)), Kind: r.Kind, Workflow: r.Subject, Key: r.Key, Trigger: r.Trigger, Status: s.status,
		Created: time.Now(), Finished: time.Now(), Reason: "told to",
	}}
	if r.Refused != "" {
		e.Run.Status, e.Run.Reason = engine.Skipped, r.Refused
	}
	held, created, err := s.j.Runs.Create(ctx, e, r.Again)
	if created {
		s.keys = append(s.keys, r.Key)
		s.asks = append(s.asks, r)
	}
	if created && r.Refused == "" && s.began != nil {
		s.began(held.Run.ID, r)
	}
	return engine.Started{Run: held.Run.ID, Created: created, Status: held.Run.Status, Reason: held.Run.Reason}, err
}

// rig is a journal and plans that outlive the triggers over them, in the bubble of synctest.
type rig struct {
	t       *testing.T
	j       *journal.Journal
	plans   []*workflow.Plan
	disk    sync.Mutex
	files   map[string]string // of the vault, for those who look: text by name; guarded by disk
	imports trigger.Imports   // nil: those of the journal
	clock   atomic.Int64      // what the clock shows more than the bubble's, in nanoseconds
	starter
}

// bubble runs a test at a moment of a zone, on a clock of its own.
func bubble(t *testing.T, at time.Time, fn func(*testing.T, *rig)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at))
		j, err := journal.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		fn(t, &rig{t: t, j: j, files: map[string]string{}, starter: starter{j: j, status: engine.Done}})
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}

// up runs triggers until the returned function is called.
func (r *rig) up() (t *trigger.Triggers, down func()) {
	ctx, cancel := context.WithCancel(r.t.Context())
	var imports trigger.Imports = r.j.Imports
	if r.imports != nil {
		imports = r.imports
	}
	triggers := trigger.New(trigger.Config{
		Plans: r.copies, Starter: &r.starter, Slots: r.j.Slots, Watches: r.j.Watches, History: r.j.Runs, Writers: r.j.Memory, Imports: imports, Location: time.UTC,
		Now:   func() time.Time { return time.Now().Add(time.Duration(r.clock.Load())) },
		Files: r, FS: r, Ours: func(name string) bool { return name == "Status.md" },
		Busy: func(string) bool { r.mu.Lock(); defer r.mu.Unlock(); return r.busy },
	})
	done := make(chan error, 1)
	go func() { done <- triggers.Run(ctx) }()
	triggers.Watching()
	synctest.Wait()
	return triggers, func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Error(err)
		}
	}
}

// Open implements fs.FS.
func (r *rig) Open(name string) (fs.File, error) {
	r.disk.Lock()
	defer r.disk.Unlock()
	fsys := fstest.MapFS{}
	for name, text := range r.files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys.Open(name)
}

// List implements vault.Lister: a text is known by its size, since all times are the same.
func (r *rig) List(match func(string) bool) (files []vault.File, unread []string, err error) {
	r.disk.Lock()
	all := maps.Clone(r.files)
	r.disk.Unlock()
	for name, text := range all {
		if match(name) {
			files = append(files, vault.File{Name: name, Size: int64(len(text)), Modified: epoch})
		}
	}
	return files, nil, nil
}

// Look implements vault.Lister.
func (r *rig) Look(name string) (vault.File, error) {
	r.disk.Lock()
	defer r.disk.Unlock()
	text, there := r.files[name]
	if !there {
		return vault.File{}, fs.ErrNotExist
	}
	return vault.File{Name: name, SHA256: digest(text), Size: int64(len(text)), Modified: epoch}, nil
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// copies returns the plans as they are now.
func (r *rig) copies() []*workflow.Plan {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []*workflow.Plan
	for _, p := range r.plans {
		held := *p
		list = append(list, &held)
	}
	return list
}

// set changes something while triggers are at work.
func (r *rig) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// asked returns the runs that were asked for.
func (r *rig) asked() []engine.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asks)
}

// plan adds a workflow from the source of its note.
func (r *rig) plan(name, frontmatter string) *workflow.Plan {
	r.t.Helper()
	p, faults := workflow.Parse(name, "Workflows/"+name+".md", []byte("---\n"+frontmatter+"\n---\n\n## Step\n@model none\n\nText.\n"))
	for _, f := range faults {
		if f.Severity == "error" {
			r.t.Fatal(f)
		}
	}
	r.plans = append(r.plans, p)
	return p
}

func (r *rig) wantKeys(want ...string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(want, r.keys); diff != "" {
		r.t.Errorf("runs (-want +got):\n%s", diff)
	}
}

// wantSlots compares the ledger, newest first, as "15:04 state".
func (r *rig) wantSlots(workflow string, want ...string) {
	r.t.Helper()
	slots, err := r.j.Slots.List(r.t.Context(), workflow, 100)
	if err != nil {
		r.t.Fatal(err)
	}
	var got []string
	for _, s := range slots {
		got = append(got, s.Slot.Format("02 15:04 ")+string(s.State))
		if (s.State == engine.SlotMissed || s.State == engine.SlotSkipped || s.State == engine.SlotMerged) && s.Reason == "" {
			r.t.Errorf("slot %v is %s without a reason", s.Slot, s.State)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("slots of %s (-want +got):\n%s", workflow, diff)
	}
}

// change writes a file and tells of it.
func (r *rig) change(triggers *trigger.Triggers, name, text string) {
	r.disk.Lock()
	r.files[name] = text
	r.disk.Unlock()
	triggers.Changed(r.t.Context(), vault.Change{File: vault.File{Name: name, SHA256: digest(text), Size: int64(len(text)), Modified: epoch}})
}

// imported stores a finished import, at most a wake-up before the triggers see it.
func (r *rig) imported(triggers *trigger.Triggers, id, source string) {
	r.t.Helper()
	e := engine.Entry{Spec: []byte(`{}`), Run: engine.RunRecord{ID: id, Key: id, Kind: engine.KindImport, Workflow: source, Status: engine.Done, Created: time.Now(), Finished: time.Now()}}
	e.Import = &engine.ImportRecord{ID: id, Source: source, State: engine.ImportDone, Note: "Imported/" + id + "/index.md", Created: time.Now(), Finished: time.Now()}
	if _, _, err := r.j.Runs.Create(r.t.Context(), e, false); err != nil {
		r.t.Fatal(err)
	}
	triggers.Reload()
}

// write is what a run writes: it is stored first, and then seen by the watcher.
func (r *rig) write(triggers *trigger.Triggers, workflow, run, name, text string) {
	r.t.Helper()
	if err := r.j.Memory.Writing(r.t.Context(), engine.StepRef{Workflow: workflow, Run: run}, []engine.StagedFile{{Name: name, New: digest(text)}}); err != nil {
		r.t.Fatal(err)
	}
	r.change(triggers, name, text)
}

// turn sets the clock.
func (r *rig) turn(by time.Duration) { r.clock.Add(int64(by)) }

// refused returns the reasons of runs that were stored as skipped, with their files.
func (r *rig) refused() []string {
	var list []string
	for _, ask := range r.asked() {
		if ask.Refused != "" {
			list = append(list, ask.Subject+": "+ask.Refused+" "+strings.Join(ask.Trigger.Files, ","))
		}
	}
	return list
}
