package trigger_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/workflow"
)

var oslo = func() *time.Location {
	loc, err := time.LoadLocation("Europe/Oslo")
	if err != nil {
		panic(err)
	}
	return loc
}()

// sleep lets time pass and everything that it sets off come to rest.
func sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestCron_firesAtItsTime(t *testing.T) {
	t.Parallel()
	bubble(t, time.Date(2026, 11, 21, 7, 30, 0, 0, time.UTC), func(t *testing.T, r *rig) {
		r.plan("plan", "schedule: \"cron: 0 8 * * *\"\nenabled: true")
		_, down := r.up()
		sleep(25 * time.Hour)
		down()
		r.wantKeys("cron:plan:2026-11-21T08:00:00Z", "cron:plan:2026-11-22T08:00:00Z")
		r.wantSlots("plan", "22 08:00 ran", "21 08:00 ran")
		ask := r.asked()[1]
		if slot := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC); !ask.At.Equal(slot) || !ask.Trigger.Slot.Equal(slot) || ask.Trigger.Late {
			t.Errorf("request: at %v, slot %v, late %v", ask.At, ask.Trigger.Slot, ask.Trigger.Late)
		}
		var p workflow.Plan
		if err := json.Unmarshal(ask.Plan, &p); err != nil || p.Name != "plan" {
			t.Errorf("the plan is not pinned: %v", err)
		}
	})
}

func TestCron_neverBecauseItWasFound(t *testing.T) {
	t.Parallel()
	bubble(t, time.Date(2026, 11, 21, 8, 0, 10, 0, time.UTC), func(t *testing.T, r *rig) {
		p := r.plan("plan", "schedule: [\"cron: 0 * * * *\", \"once: 2026-11-20 09:00\"]\nenabled: false\ncatch_up: all")
		triggers, down := r.up()
		sleep(3 * time.Hour)
		r.set(func() { p.Meta.Enabled = true }) // three slots have passed
		triggers.Reload()
		synctest.Wait()
		if len(r.asked()) != 0 {
			t.Errorf("fired because it was enabled: %v", r.asked())
		}
		r.set(func() { p.Meta.Schedules = []workflow.Schedule{{Kind: "cron", Spec: "30 * * * *"}} }) // an edited schedule begins now, too
		triggers.Reload()
		synctest.Wait()
		if len(r.asked()) != 0 {
			t.Errorf("fired because it was edited: %v", r.asked())
		}
		sleep(time.Hour)
		down()
		r.wantKeys("cron:plan:2026-11-21T11:30:00Z")
	})
}

func TestCron_catchUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		catchUp string
		slots   []string
		late    int
	}{
		{"none", []string{"21 12:00 missed", "21 11:00 missed", "21 10:00 missed", "21 09:00 ran"}, 0},
		{"latest", []string{"21 12:00 late", "21 11:00 merged", "21 10:00 merged", "21 09:00 ran"}, 1},
		{"all", []string{"21 12:00 late", "21 11:00 late", "21 10:00 late", "21 09:00 ran"}, 3},
	} {
		t.Run(c.catchUp, func(t *testing.T) {
			t.Parallel()
			bubble(t, time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC), func(t *testing.T, r *rig) {
				r.plan("plan", "schedule: \"cron: 0 * * * *\"\nenabled: true\ncatch_up: "+c.catchUp)
				_, down := r.up()
				sleep(time.Hour)
				down()
				sleep(3 * time.Hour)
				_, down = r.up()
				down()
				_, down = r.up() // a second restart changes nothing
				down()
				r.wantSlots("plan", c.slots...)
				late := 0
				for _, ask := range r.asked() {
					if ask.Trigger.Late {
						late++
					}
				}
				if late != c.late {
					t.Errorf("%d late runs, want %d", late, c.late)
				}
			})
		})
	}
}

func TestCron_monthsOff(t *testing.T) {
	t.Parallel()
	bubble(t, time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), func(t *testing.T, r *rig) {
		r.plan("plan", "schedule: \"cron: */10 * * * *\"\nenabled: true\ncatch_up: all")
		_, down := r.up()
		down()
		sleep(60 * 24 * time.Hour)
		_, down = r.up()
		down()
		slots, err := r.j.Slots.List(t.Context(), "plan", 1000)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, s := range slots {
			total += s.Count
		}
		if len(r.asked()) != 24 || total != 60*24*6 || len(slots) > 700 {
			t.Errorf("%d runs, %d rows for %d slots; want 24 runs and few rows for 8640", len(r.asked()), len(slots), total)
		}
	})
}

// The clock is set forwards by mistake, and right again; and then back. Every hour has one run, and none is left out.
func TestCron_clockIsSet(t *testing.T) {
	t.Parallel()
	bubble(t, time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC), func(t *testing.T, r *rig) {
		r.plan("plan", "schedule: \"cron: 0 * * * *\"\nenabled: true")
		_, down := r.up()
		r.turn(4 * time.Hour)
		sleep(10 * time.Minute) // 12:40 by the clock: four hours are missed
		r.wantSlots("plan", "21 12:00 missed", "21 11:00 missed", "21 10:00 missed", "21 09:00 missed")
		r.turn(-4 * time.Hour)
		sleep(3 * time.Hour) // 11:40: they lay ahead again
		r.wantSlots("plan", "21 11:00 ran", "21 10:00 ran", "21 09:00 ran")
		r.turn(-24 * time.Hour)
		sleep(25 * time.Hour) // 12:40 of the same day once more
		down()
		want := []string{"21 12:00 ran", "21 11:00 ran", "21 10:00 ran", "21 09:00 ran"}
		for h := 8; h >= -12; h-- { // the hours of the day before, in which nothing was planned yet
			want = append(want, time.Date(2026, 11, 21, h, 0, 0, 0, time.UTC).Format("02 15:04 ran"))
		}
		r.wantSlots("plan", want...)
		if n := len(r.asked()); n != len(want) {
			t.Errorf("%d runs, want %d", n, len(want))
		}
	})
}

func TestCron_daylightSaving(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		start time.Time
		want  []string
	}{
		{"spring", time.Date(2027, 3, 28, 1, 0, 0, 0, oslo), []string{"29 02:30 ran", "28 03:00 ran"}},
		{"autumn", time.Date(2027, 10, 31, 1, 0, 0, 0, oslo), []string{"01 02:30 ran", "31 02:30 ran"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, c.start, func(t *testing.T, r *rig) {
				r.plan("plan", "schedule: \"cron: 30 2 * * *\"\nenabled: true\ntimezone: Europe/Oslo")
				_, down := r.up()
				sleep(27 * time.Hour)
				down()
				r.wantSlots("plan", c.want...)
			})
		})
	}
}

func TestCron_diedBetweenRowAndRun(t *testing.T) {
	t.Parallel()
	bubble(t, time.Date(2026, 11, 21, 8, 0, 5, 0, time.UTC), func(t *testing.T, r *rig) {
		p := r.plan("plan", "schedule: \"cron: 0 8 * * *\"\nenabled: true")
		slot := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
		row := engine.SlotRecord{Workflow: "plan", Slot: slot, Schedule: p.Meta.Schedules[0].String(), State: engine.SlotDue, Count: 1}
		gone := row
		gone.Workflow = "gone"
		for _, s := range []engine.SlotRecord{row, gone} {
			if err := r.j.Slots.Plan(t.Context(), s.Workflow, "spec", slot, []engine.SlotRecord{s}); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			_, down := r.up()
			down()
		}
		r.wantKeys("cron:plan:2026-11-21T08:00:00Z")
		r.wantSlots("plan", "21 08:00 ran")
		r.wantSlots("gone", "21 08:00 missed")
	})
}

func TestOnce_firesOnce(t *testing.T) {
	t.Parallel()
	bubble(t, time.Date(2026, 12, 24, 7, 0, 0, 0, time.UTC), func(t *testing.T, r *rig) {
		r.plan("gift", "schedule: \"once: 2026-12-24 09:00\"\nenabled: true\ntimezone: Europe/Oslo")
		_, down := r.up()
		sleep(3 * time.Hour)
		down()
		r.wantKeys("once:gift:2026-12-24T08:00:00Z")
	})
}

func TestSlots_skippedWithReason(t *testing.T) {
	t.Parallel()
	bubble(t, time.Date(2026, 11, 21, 8, 30, 0, 0, time.UTC), func(t *testing.T, r *rig) {
		r.plan("often", "schedule: \"cron: 0 * * * *\"\nenabled: true\nmax_runs_per_day: 2")
		r.plan("broken", "schedule: \"cron: 10 * * * *\"\nenabled: true")
		r.set(func() { r.status = engine.Failed })
		_, down := r.up()
		sleep(5 * time.Hour)
		r.wantSlots("often", "21 13:00 skipped", "21 12:00 skipped", "21 11:00 skipped", "21 10:00 ran", "21 09:00 ran")
		r.wantSlots("broken", "21 13:10 skipped", "21 12:10 skipped", "21 11:10 ran", "21 10:10 ran", "21 09:10 ran")
		if why, err := trigger.Paused(t.Context(), r.j.Runs, "broken"); why == "" || err != nil {
			t.Errorf("Paused: %q, %v", why, err)
		}
		r.set(func() { r.status = engine.Done })
		if err := r.j.Runs.Unpause(t.Context(), "broken", time.Now()); err != nil {
			t.Fatal(err)
		}
		sleep(time.Hour)
		down()
		if last := r.asked()[len(r.asked())-1].Key; last != "cron:broken:2026-11-21T14:10:00Z" {
			t.Errorf("last run: %s", last)
		}
	})
}

func TestOnImport_firesOncePerImport(t *testing.T) {
	t.Parallel()
	bubble(t, time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), func(t *testing.T, r *rig) {
		r.plan("pdfs", "on_import: \"*.pdf\"\nenabled: true")
		r.plan("all", "on_import: true\nenabled: true")
		r.plan("notes", "on_import: \"*.md\"\nenabled: true")
		finish := func(id, source, kind string, pages int) {
			e := engine.Entry{Spec: []byte(`{}`), Run: engine.RunRecord{ID: id, Key: id, Kind: engine.KindImport, Workflow: source, Status: engine.Done, Created: time.Now(), Finished: time.Now()}}
			e.Import = &engine.ImportRecord{ID: id, Source: source, Kind: kind, Pages: pages, State: engine.ImportDone, Note: "Imported/" + id + "/index.md", Created: time.Now(), Finished: time.Now()}
			if _, _, err := r.j.Runs.Create(t.Context(), e, false); err != nil {
				t.Fatal(err)
			}
		}
		finish("i1", "Import/q3.pdf", "pdf", 3)
		finish("i2", "Import/photo.png", "image", 1)
		finish("i3", "Import/Trip.zip", "archive", 1) // a note with its pictures
		finish("i4", "Import/Vault.zip", "archive", 0)
		for range 2 {
			_, down := r.up()
			down()
		}
		r.wantKeys("on_import:pdfs:i1", "on_import:all:i1", "on_import:all:i2", "on_import:all:i3", "on_import:notes:i3", "on_import:all:i4")
		if diff := cmp.Diff([]string{"Imported/i1/index.md"}, r.asked()[0].Trigger.Files); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	})
}

func TestNext(t *testing.T) {
	t.Parallel()
	p, _ := workflow.Parse("p", "p.md", []byte("---\nschedule: [\"cron: 0 8 * * *\", \"cron: 0 20 * * *\", \"once: 2026-11-22 09:00\"]\nenabled: true\n---\n## S\nx\n"))
	var got []string
	for _, at := range trigger.Next(p, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), 4, time.UTC) {
		got = append(got, at.Format("02 15:04"))
	}
	if diff := cmp.Diff([]string{"21 20:00", "22 08:00", "22 09:00", "22 20:00"}, got); diff != "" {
		t.Errorf("next (-want +got):\n%s", diff)
	}
}
