package trigger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
)

func TestWatch_oneRunForManyChanges(t *testing.T) {
	t.Parallel()
	bubble(t, time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), func(t *testing.T, r *rig) {
		r.plan("tidy", "watch: \"Inbox/*.md\"\nenabled: true")
		r.plan("asleep", "watch: \"**\"\nenabled: false")
		triggers, down := r.up()
		r.write(triggers, "tidy", "", "Inbox/own.md", "own")
		for _, name := range []string{"b", "a", "own", "b"} {
			r.change(triggers, "Inbox/"+name+".md", name)
			sleep(500 * time.Millisecond)
		}
		r.change(triggers, "Other/x.md", "x")
		sleep(500 * time.Millisecond)
		if len(r.asked()) != 0 {
			t.Fatal("fired while changes kept coming")
		}
		sleep(2 * time.Second)
		if len(r.asked()) != 1 {
			t.Fatalf("got %d runs, want 1", len(r.asked()))
		}
		if diff := cmp.Diff([]string{"Inbox/a.md", "Inbox/b.md"}, r.asked()[0].Trigger.Files); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		r.change(triggers, "Inbox/own.md", "own")
		sleep(time.Minute)
		if len(r.asked()) != 1 {
			t.Error("a workflow's own write fired it")
		}
		r.change(triggers, "Inbox/own.md", "edited by a person")
		sleep(time.Minute)
		down()
		if len(r.asked()) != 2 {
			t.Errorf("a person's edit of an own write: %d runs, want 2", len(r.asked()))
		}
	})
}

// An import writes the notes of a document and of its chapters. A workflow that watches all of them starts once, for the document.
func TestWatch_chaptersOfADocument(t *testing.T) {
	t.Parallel()
	bubble(t, epoch, func(t *testing.T, r *rig) {
		r.plan("all", "watch: \"Imported/**/*.md\"\nenabled: true\nruns: each")
		r.plan("chapters", "watch: \"Imported/*/chapters/*.md\"\nenabled: true")
		triggers, down := r.up()
		r.files["Imported/Book/manifest.json"] = `{"version": 1, "note": "Book.md"}`
		for _, name := range []string{"Imported/Book/Book.md", "Imported/Book/chapters/01 A.md", "Imported/Book/chapters/02 B.md"} {
			r.files[name] = "one"
			r.change(triggers, name, "one")
		}
		sleep(time.Minute)
		down()
		got := map[string][]string{}
		for _, a := range r.asked() {
			got[a.Subject] = append(got[a.Subject], a.Trigger.Files...)
		}
		want := map[string][]string{"all": {"Imported/Book/Book.md"}, "chapters": {"Imported/Book/chapters/01 A.md", "Imported/Book/chapters/02 B.md"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
	})
}

// A workflow that watches the notes of bundles under the name that they had in older versions sees those of new ones.
func TestWatch_pathsOfOlderBundles(t *testing.T) {
	t.Parallel()
	bubble(t, epoch, func(t *testing.T, r *rig) {
		r.plan("summary", "watch: \"Imported/*/index.md\"\nenabled: true\ncatch_up: latest")
		r.files["Imported/Book/manifest.json"] = `{"version": 1, "note": "Book.md"}`
		r.files["Imported/Book/Book.md"] = "one"
		triggers, down := r.up()
		r.files["Imported/Book/Book.md"] = "two"
		r.change(triggers, "Imported/Book/Book.md", "two")
		r.change(triggers, "Imported/Book/mine.md", "own words")
		r.change(triggers, "Imported/Old/index.md", "old")
		r.files["Imported/Book (version 1)/manifest.json"] = `{"version": 1, "note": "Book.md"}`
		r.files["Imported/Book (version 1)/Book.md"] = "former"
		r.change(triggers, "Imported/Book (version 1)/Book.md", "former")
		sleep(time.Minute)
		down()
		r.files["Imported/Book/Book.md"] = "changed while nobody watched"
		_, down = r.up()
		sleep(time.Minute)
		down()
		var got [][]string
		for _, a := range r.asked() {
			got = append(got, a.Trigger.Files)
		}
		if diff := cmp.Diff([][]string{{"Imported/Book/Book.md", "Imported/Old/index.md"}, {"Imported/Book/Book.md"}}, got); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
	})
}

func TestWatch_waitsForTheRunBefore(t *testing.T) {
	t.Parallel()
	bubble(t, time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), func(t *testing.T, r *rig) {
		r.plan("tidy", "watch: \"Inbox/*.md\"\nenabled: true")
		triggers, down := r.up()
		r.set(func() { r.busy = true })
		for range 60 { // edits keep coming while a run is going
			r.change(triggers, "Inbox/a.md", "1")
			sleep(5 * time.Second)
		}
		if len(r.asked()) != 0 {
			t.Error("a second run was asked for while the first was going")
		}
		r.set(func() { r.busy = false })
		sleep(3 * time.Second)
		down()
		if len(r.asked()) != 1 || r.asked()[0].Overlap != engine.OverlapQueue {
			t.Errorf("got %d runs, want one, never skipped", len(r.asked()))
		}
	})
}

func TestWatch_everyFileOfABurstOnce(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1000, 4500} { // 2000 files are told to one run
		bubble(t, epoch, func(t *testing.T, r *rig) {
			r.plan("tidy", "watch: \"Inbox/*.md\"\nenabled: true")
			triggers, down := r.up()
			seen := map[string]int{}
			for i := range n {
				r.change(triggers, fmt.Sprintf("Inbox/%d.md", i), fmt.Sprint(i))
				if i%(n/10) == 0 {
					sleep(100 * time.Millisecond)
				}
			}
			sleep(time.Minute)
			down()
			for _, ask := range r.asked() {
				for _, name := range ask.Trigger.Files {
					seen[name]++
				}
			}
			if want := (n + 1999) / 2000; len(r.asked()) != want || len(seen) != n {
				t.Errorf("%d files: %d runs with %d files, want %d runs", n, len(r.asked()), len(seen), want)
			}
			for name, times := range seen {
				if times != 1 {
					t.Errorf("%s: %d times", name, times)
				}
			}
		})
	}
}

// What was gathered outlives the process, also one that died between the run and the end of the batch.
func TestWatch_gatheredChangesOutliveTheProcess(t *testing.T) {
	t.Parallel()
	bubble(t, epoch, func(t *testing.T, r *rig) {
		r.plan("tidy", "watch: \"Inbox/*.md\"\nenabled: true")
		triggers, down := r.up()
		r.change(triggers, "Inbox/a.md", "a")
		r.change(triggers, "Inbox/b.md", "b")
		sleep(time.Second)
		down() // before they rested
		if len(r.asked()) != 0 {
			t.Fatalf("%d runs before the changes rested", len(r.asked()))
		}
		news, err := r.j.Watches.Noticed(t.Context())
		if err != nil || len(news) != 2 {
			t.Fatalf("%d changes in the journal, %v", len(news), err)
		}
		_, down = r.up()
		down()
		if len(r.asked()) != 1 || !slices.Equal(r.asked()[0].Trigger.Files, []string{"Inbox/a.md", "Inbox/b.md"}) {
			t.Fatalf("%d runs after the restart, want one with both files", len(r.asked()))
		}
		if err := r.j.Watches.Notice(t.Context(), news); err != nil { // as if it had died before it forgot them
			t.Fatal(err)
		}
		r.set(func() { r.busy = true })
		triggers, down = r.up()
		r.change(triggers, "Inbox/c.md", "c") // while they still wait: it is none of them
		sleep(5 * time.Second)
		r.set(func() { r.busy = false })
		sleep(time.Minute)
		down()
		if len(r.asked()) != 2 || !slices.Equal(r.asked()[1].Trigger.Files, []string{"Inbox/c.md"}) {
			t.Errorf("%d runs, want the first one once and one for c", len(r.asked()))
		}
		if news, err := r.j.Watches.Noticed(t.Context()); len(news) != 0 || err != nil {
			t.Errorf("left in the journal: %+v, %v", news, err)
		}
	})
}

// A run that cannot be stored is asked for again, with its files; later changes get another one.
func TestWatch_journalThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	bubble(t, epoch, func(t *testing.T, r *rig) {
		r.plan("tidy", "watch: \"Inbox/*.md\"\nenabled: true")
		r.plan("timed", "schedule: \"cron: * * * * *\"\nenabled: true")
		triggers, down := r.up()
		r.set(func() { r.fault = errors.New("the disk is full") })
		r.change(triggers, "Inbox/a.md", "a")
		sleep(time.Minute)
		r.change(triggers, "Inbox/b.md", "b")
		sleep(10 * time.Second)
		r.set(func() { r.fault = nil })
		sleep(40 * time.Second)
		down()
		var files []string
		for _, ask := range r.asked() {
			files = append(files, ask.Trigger.Files...)
		}
		if diff := cmp.Diff([]string{"Inbox/a.md", "Inbox/b.md"}, files); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		r.wantSlots("timed", "21 08:01 ran")
	})
}

func TestWatch_changesWhileNobodyWatched(t *testing.T) {
	t.Parallel()
	for catchUp, want := range map[string][]string{"none": nil, "latest": {"Inbox/changed.md", "Inbox/new.md"}, "all": {"Inbox/changed.md", "Inbox/new.md"}} {
		t.Run(catchUp, func(t *testing.T) {
			t.Parallel()
			bubble(t, epoch, func(t *testing.T, r *rig) {
				r.plan("tidy", "watch: \"Inbox/*.md\"\nenabled: true\ncatch_up: "+catchUp)
				r.files = map[string]string{"Inbox/same.md": "same", "Inbox/changed.md": "before", "Inbox/gone.md": "gone", "Status.md": "x"}
				triggers, down := r.up() // what is found fires nothing
				r.change(triggers, "Inbox/told.md", "told")
				sleep(time.Minute)
				down()
				if len(r.asked()) != 1 {
					t.Fatalf("%d runs, want one for told.md", len(r.asked()))
				}
				r.files["Inbox/changed.md"], r.files["Inbox/new.md"], r.files["Other.md"] = "after that", "new", "other"
				delete(r.files, "Inbox/gone.md")
				r.plan("young", "watch: \"**\"\nenabled: true\ncatch_up: "+catchUp) // has never watched
				for range 2 {
					triggers, down = r.up()
					r.change(triggers, "Inbox/told.md", "told") // told again, as a folder that is back
					sleep(time.Minute)
					down()
				}
				var got []string
				for _, ask := range r.asked()[1:] {
					if ask.Subject == "tidy" && !slices.Equal(ask.Trigger.Files, []string{"Inbox/told.md"}) {
						got = append(got, ask.Trigger.Files...)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("files (-want +got):\n%s", diff)
				}
				if catchUp == "none" {
					return
				}
				if n := len(r.asked()); n != 2 {
					t.Errorf("%d runs, want 2", n)
				}
				r.change(triggers, "Inbox/gone.md", "gone") // nobody listens
				r.set(func() { r.plans[0].Meta.Watch = []string{"Inbox/*"} })
				_, down = r.up()
				sleep(time.Minute)
				down()
				if n := len(r.asked()); n != 3 {
					t.Errorf("after an edit of the globs: %d runs, want one more, for young alone", n)
				}
			})
		})
	}
}

// Two workflows that feed each other: each runs once for an edit, and that is all for a day.
func TestLoopGuard_twoThatFeedEachOther(t *testing.T) {
	t.Parallel()
	bubble(t, epoch, func(t *testing.T, r *rig) {
		r.plan("ping", "watch: \"A/*.md\"\nenabled: true")
		r.plan("pong", "watch: \"B/*.md\"\nenabled: true")
		triggers, down := r.up()
		n := 0
		writes := map[string]string{"ping": "B/x.md", "pong": "A/x.md"}
		r.set(func() {
			r.began = func(run string, ask engine.Request) {
				n++
				r.write(triggers, ask.Subject, run, writes[ask.Subject], fmt.Sprintf("round %d", n))
			}
		})
		r.change(triggers, "A/x.md", "by a person")
		sleep(24 * time.Hour)
		if n != 2 {
			t.Errorf("%d runs in a day, want one of each", n)
		}
		want := []string{"ping: loop guard: a run of pong wrote it, which a run of this workflow caused A/x.md"}
		if diff := cmp.Diff(want, r.refused()); diff != "" {
			t.Errorf("refused (-want +got):\n%s", diff)
		}
		r.change(triggers, "B/x.md", "by a person, too") // begins a circle of its own
		sleep(24 * time.Hour)
		down()
		if n != 4 {
			t.Errorf("%d runs after another edit, want 4", n)
		}
	})
}

// A longer circle, one of whose members is asked for by a model, and one by an import.
func TestLoopGuard_throughToolsAndImports(t *testing.T) {
	t.Parallel()
	bubble(t, epoch, func(t *testing.T, r *rig) {
		r.plan("first", "watch: \"A/*.md\"\nenabled: true")
		r.plan("third", "on_import: true\nenabled: true")
		triggers, down := r.up()
		n := 0
		r.set(func() {
			r.began = func(run string, ask engine.Request) {
				n++
				switch ask.Subject {
				case "first": // its model asks for second, which drops a file
					e := engine.Entry{Spec: []byte(`{}`), Run: engine.RunRecord{
						ID: "second of " + run, Key: run, Kind: engine.KindWorkflow, Workflow: "second", Status: engine.Done,
						Trigger: engine.Trigger{Kind: engine.TriggerTool, Parent: run}, Created: time.Now(), Finished: time.Now(),
					}}
					if _, _, err := r.j.Runs.Create(t.Context(), e, false); err != nil {
						t.Error(err)
					}
					r.write(triggers, "second", e.Run.ID, "Import/x.txt", fmt.Sprint("dropped ", n))
				case "third":
					r.write(triggers, "third", run, "A/x.md", fmt.Sprint("round ", n))
				}
			}
		})
		r.change(triggers, "A/x.md", "by a person")
		sleep(time.Minute)
		now := time.Now()
		e := engine.Entry{Spec: []byte(`{}`), Run: engine.RunRecord{ID: "i1", Key: "i1", Kind: engine.KindImport, Workflow: "Import/x.txt", Status: engine.Done, Created: now, Finished: now}}
		e.Import = &engine.ImportRecord{ID: "i1", Source: "Import/x.txt", SHA256: digest("dropped 1"), State: engine.ImportDone, Note: "Imported/x/index.md", Created: now, Finished: now}
		if _, _, err := r.j.Runs.Create(t.Context(), e, false); err != nil {
			t.Fatal(err)
		}
		triggers.Reload()
		sleep(24 * time.Hour)
		down()
		if n != 2 || len(r.refused()) != 1 || !strings.HasPrefix(r.refused()[0], "first: loop guard: a run of third wrote it") {
			t.Errorf("%d runs, refused %q; want one of first and of third, and first refused", n, r.refused())
		}
		if causes := r.asked()[1].Trigger.Causes; !slices.Equal(causes, []string{"first", "second"}) {
			t.Errorf("third goes back to %q, want first and second", causes)
		}
	})
}

// Files that wait have a row with the reason, once, and go to the next run.
func TestRefused_hasARow(t *testing.T) {
	t.Parallel()
	bubble(t, epoch, func(t *testing.T, r *rig) {
		r.plan("broken", "watch: \"In/*.md\"\nenabled: true\non_import: true")
		r.plan("often", "watch: \"In/*.md\"\nenabled: true\nmax_runs_per_day: 2")
		r.set(func() { r.status = engine.Failed })
		triggers, down := r.up()
		for i := range 5 {
			r.change(triggers, fmt.Sprintf("In/%d.md", i), fmt.Sprint(i))
			sleep(10 * time.Minute)
		}
		want := []string{
			"often: max_runs_per_day: 2 runs today; its files wait In/2.md",
			"broken: paused after 3 failures in a row; `vaultflow unpause \"broken\"` or a successful manual run resumes it (last failure: told to); its files wait In/3.md",
		}
		if diff := cmp.Diff(want, r.refused()); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
		if err := r.j.Runs.Unpause(t.Context(), "broken", time.Now()); err != nil {
			t.Fatal(err)
		}
		asked := len(r.asked())
		r.change(triggers, "In/x.md", "x")
		sleep(time.Minute)
		down()
		if last := r.asked()[asked]; last.Subject != "broken" || !slices.Equal(last.Trigger.Files, []string{"In/3.md", "In/4.md", "In/x.md"}) {
			t.Errorf("after the pause: %s, files %q", last.Key, last.Trigger.Files)
		}
	})
}

func TestWatch_clockSetBackADay(t *testing.T) {
	t.Parallel()
	bubble(t, epoch.Add(25*time.Hour), func(t *testing.T, r *rig) {
		r.plan("tidy", "watch: \"Inbox/*.md\"\nenabled: true")
		triggers, down := r.up()
		r.change(triggers, "Inbox/a.md", "a")
		sleep(time.Second)
		r.turn(-24 * time.Hour)
		triggers.Reload()
		sleep(time.Minute)
		down()
		if len(r.asked()) != 1 {
			t.Errorf("%d runs within a minute after the clock was set back, want 1", len(r.asked()))
		}
	})
}
