package trigger_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/workflow"
)

// The simulated year is 2011: besides the summer times of Oslo, New York and Lord Howe (half an hour) it has those of Apia,
// which also left out its 30 December. The machine is off, asleep and killed at random, and its clock is set forwards and
// back. At the end every slot has exactly one row, and what became of it is what the rules of catch_up say, reckoned here
// once more from slots that were counted in another way.

var (
	zones   = []string{"Europe/Oslo", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "UTC"}
	catchUp = []string{"none", "latest", "all"}
	entries = [][]string{
		{"cron: 30 2 * * *"},
		{"cron: 15 1,2,3 * * *", "cron: 0 8 * * 1-5"},
		{"cron: */20 1-3 * * *"},
		{"cron: @every 7h"},
		{"cron: 0 12 30 * *", "once: 2011-10-30 02:45", "once: 2011-11-06 01:30", "once: 2011-12-31 00:00"},
		{"cron: 0,30 */4 * * *"},
		{"cron: 0 0 1,15 * 0"},
		{"cron: 5 0 * 3,4,9-12 *", "cron: 5 0 * * 3"},
		{"cron: * 2 * * 0"},
		{"cron: @every 90m", "cron: 30 4 * * *"},
	}
)

func TestYear_aroundClockChanges(t *testing.T) {
	t.Parallel()
	for i, from := range []time.Time{
		time.Date(2011, 3, 11, 5, 13, 0, 0, time.UTC),  // New York
		time.Date(2011, 3, 25, 5, 13, 0, 0, time.UTC),  // Oslo
		time.Date(2011, 4, 1, 5, 13, 0, 0, time.UTC),   // Lord Howe, Apia
		time.Date(2011, 12, 28, 5, 13, 0, 0, time.UTC), // Apia's missing day
	} {
		t.Run(from.Format("01-02"), func(t *testing.T) {
			t.Parallel()
			simulate(t, uint64(i), 10, from, from.Add(3*24*time.Hour))
		})
	}
}

func TestYear(t *testing.T) {
	t.Parallel()
	if os.Getenv("VAULTFLOW_LONG") == "" {
		t.Skip("takes minutes: VAULTFLOW_LONG=1; TestYear_aroundClockChanges is its sample")
	}
	from := time.Date(2011, 1, 10, 5, 13, 0, 0, time.UTC)
	simulate(t, 2011, 50, from, from.AddDate(1, 0, 0))
}

// person is a workflow of the simulation with what should become of its slots.
type person struct {
	plan   *workflow.Plan
	slots  []time.Time
	looked time.Time            // up to where the slots were decided about; zero before the first look
	fate   map[time.Time]string // fired, missed or merged
}

// look decides about what has passed since the look before.
func (p *person) look(now time.Time) {
	if p.looked.IsZero() || now.Before(p.looked) {
		p.looked = now
		maps.DeleteFunc(p.fate, func(at time.Time, fate string) bool { return at.After(now) && fate != "fired" })
		return
	}
	var passed []time.Time
	for _, at := range p.slots[firstAfter(p.slots, p.looked):firstAfter(p.slots, now)] {
		if p.fate[at] == "" {
			passed = append(passed, at)
		}
	}
	p.looked = now
	var late []time.Time
	for i, at := range passed {
		switch {
		case now.Sub(at) <= time.Minute:
			p.fate[at] = "fired"
		case p.plan.Meta.CatchUp == "all" && len(passed)-i <= 24:
			p.fate[at] = "fired"
		case p.plan.Meta.CatchUp == "latest":
			p.fate[at] = "merged"
			late = append(late, at)
		default:
			p.fate[at] = "missed"
		}
	}
	if n := len(late); n > 0 && n == len(passed) {
		p.fate[late[n-1]] = "fired"
	}
}

// firstAfter is the index of the first time after another.
func firstAfter(times []time.Time, t time.Time) int {
	return sort.Search(len(times), func(i int) bool { return times[i].After(t) })
}

// machine is the computer of the simulation.
type machine struct {
	t        *testing.T
	rng      *rand.Rand
	journal  *journal.Journal
	people   []*person
	plans    []*workflow.Plan
	now      time.Time // what the clock shows
	triggers *trigger.Triggers
	keys     map[string]int // how often a run was asked for, by its key, but for the last words of a process that died
	power    context.CancelFunc
	fuse     int // calls of Start until the process dies; negative: it does not
}

// Start implements trigger.Starter. The process may die after it.
func (m *machine) Start(_ context.Context, r engine.Request) (engine.Started, error) {
	if m.fuse--; m.fuse == 0 {
		m.power()
	} else {
		m.keys[r.Key]++
	}
	return engine.Started{Run: r.Key, Created: true, Status: engine.Queued}, nil
}

func (m *machine) boot() {
	m.triggers = trigger.New(trigger.Config{
		Plans: func() []*workflow.Plan { return m.plans }, Starter: m, Slots: m.journal.Slots, Watches: m.journal.Watches, History: m.journal.Runs, Writers: m.journal.Memory, Imports: m.journal.Imports,
		Location: time.UTC, Now: func() time.Time { return m.now },
	})
}

// look lets the triggers look once, and everybody decide what they should do. A process that dies meanwhile is started again.
func (m *machine) look() {
	for _, p := range m.people {
		p.look(m.now)
	}
	ctx, cancel := context.WithCancel(m.t.Context())
	m.power = cancel
	m.triggers.Look(ctx)
	if ctx.Err() != nil {
		m.boot()
		m.look()
	}
	cancel()
}

// live lets the clock run for a while, with a look at each slot and up to 20 s after it.
func (m *machine) live(d time.Duration, all []time.Time) {
	until := m.now.Add(d)
	for {
		i := firstAfter(all, m.now)
		if i == len(all) || all[i].After(until) {
			break
		}
		m.now = all[i].Add(time.Duration(m.rng.IntN(20_000)) * time.Millisecond)
		m.look()
	}
	if m.now.Before(until) {
		m.now = until
	}
	m.look()
}

// some is a random time.
func (m *machine) some(least, most time.Duration) time.Duration {
	return least + time.Duration(m.rng.Int64N(int64(most-least)))
}

// mishap is one of the things that happen to machines, or none.
func (m *machine) mishap() {
	switch m.rng.IntN(7) {
	case 0: // off
		m.boot()
		m.now = m.now.Add(m.some(time.Minute, 5*24*time.Hour))
	case 1: // asleep
		m.now = m.now.Add(m.some(time.Minute, 14*time.Hour))
	case 2: // restarted
		m.boot()
	case 3: // killed between a row and its run, or between two runs
		m.fuse = 1 + m.rng.IntN(5)
	case 4: // the clock is set forwards
		m.now = m.now.Add(m.some(time.Second, 24*time.Hour))
	case 5: // the clock is set back, while it runs
		m.now = m.now.Add(-m.some(time.Second, 24*time.Hour))
	case 6: // the clock is set back while the machine is off
		m.boot()
		m.now = m.now.Add(-24 * time.Hour)
	}
}

func simulate(t *testing.T, seed uint64, workflows int, from, until time.Time) {
	dir := t.TempDir()
	j, err := journal.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, rng: rand.New(rand.NewPCG(seed, 0)), journal: j, now: from, keys: map[string]int{}, fuse: -1}
	horizon := until.Add(10 * 24 * time.Hour)
	var all []time.Time
	for i := range workflows {
		p := m.person(i, from, horizon)
		m.people, m.plans = append(m.people, p), append(m.plans, p.plan)
		all = append(all, p.slots...)
	}
	slices.SortFunc(all, time.Time.Compare)
	all = slices.Compact(all)
	m.boot()
	m.look()
	latest := m.now
	for m.now.Before(until) {
		m.live(m.some(time.Minute, 24*time.Hour), all)
		if m.now.After(latest) {
			latest = m.now
		}
		m.mishap()
		m.look()
	}
	if m.now.Before(latest) { // the clock is right again
		m.now = latest
	}
	m.fuse = -1
	m.look()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	m.compare(dir, from)
}

// person makes a workflow with a schedule, a zone and a catch_up of its own.
func (m *machine) person(i int, from, horizon time.Time) *person {
	m.t.Helper()
	zone, list := zones[i%len(zones)], entries[(i/len(zones)+i)%len(entries)]
	loc, err := time.LoadLocation(zone)
	if err != nil {
		m.t.Skipf("no time zone data: %v", err)
	}
	name, front := fmt.Sprintf("w%d", i), fmt.Sprintf("---\nenabled: true\ntimezone: %s\ncatch_up: %s\nschedule:\n", zone, catchUp[i%len(catchUp)])
	for _, e := range list {
		front += fmt.Sprintf("  - %q\n", e)
	}
	plan, faults := workflow.Parse(name, name+".md", []byte(front+"---\n\n## Step\n@model none\n\nText.\n"))
	for _, f := range faults {
		if f.Severity == "error" {
			m.t.Fatal(f)
		}
	}
	return &person{plan: plan, slots: enumerate(m.t, list, loc, from.Add(-10*24*time.Hour), horizon), fate: map[time.Time]string{}}
}

// compare holds the ledger against what should have become of the slots.
func (m *machine) compare(dir string, from time.Time) {
	db, err := sql.Open("sqlite", filepath.Join(dir, "state.db"))
	if err != nil {
		m.t.Fatal(err)
	}
	defer db.Close()
	total, counts := 0, map[string]int{}
	for _, p := range m.people {
		got := p.ledger(m.t, db)
		if len(got) != len(p.fate) {
			m.t.Errorf("%s: %d slots have a row, want %d", p.plan.Name, len(got), len(p.fate))
		}
		for _, at := range p.slots {
			want := p.fate[at]
			if at.After(m.now) || !at.After(from) && want == "" { // before the beginning, but for a clock that was set back
				continue
			}
			total++
			counts[want+" "+p.plan.Meta.CatchUp]++
			if got[at] != want || want == "" {
				m.t.Errorf("%s (%s, %v): slot %s is %q, want %q", p.plan.Name, p.plan.Meta.CatchUp, p.plan.Meta.Schedules, at.UTC().Format(time.RFC3339), got[at], want)
			}
			kind := "cron"
			if m.keys["once:"+p.plan.Name+":"+at.UTC().Format(time.RFC3339)] > 0 {
				kind = "once"
			}
			begun := m.keys[kind+":"+p.plan.Name+":"+at.UTC().Format(time.RFC3339)]
			if begun > 1 || (begun > 0) != (want == "fired") {
				m.t.Errorf("%s: slot %s was asked for %d times, and should be %s", p.plan.Name, at.UTC().Format(time.RFC3339), begun, want)
			}
			if m.t.Failed() {
				return
			}
		}
	}
	m.t.Logf("%d slots of %d workflows: %v", total, len(m.people), counts)
}

// ledger is what the journal says became of each slot. A row that stands for several is theirs, from its own on.
func (p *person) ledger(t *testing.T, db *sql.DB) map[time.Time]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT slot, state, count, reason FROM slots WHERE workflow = ? ORDER BY slot`, p.plan.Name)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	states := map[engine.SlotState]string{engine.SlotRan: "fired", engine.SlotLate: "fired", engine.SlotMissed: "missed", engine.SlotMerged: "merged"}
	fates, more := map[time.Time]string{}, map[time.Time]int{}
	for rows.Next() {
		var us int64
		var state engine.SlotState
		var count int
		var reason string
		if err := rows.Scan(&us, &state, &count, &reason); err != nil {
			t.Fatal(err)
		}
		at := time.UnixMicro(us)
		fates[at] = states[state]
		if count > 1 {
			more[at] = count - 1
		}
		if states[state] != "fired" && reason == "" || states[state] == "" {
			t.Errorf("%s: the row of %s says %s, %q", p.plan.Name, at, state, reason)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	left, fate := 0, ""
	for _, at := range p.slots {
		if n := more[at]; n > 0 {
			left, fate = n, fates[at]
		} else if fates[at] == "" && left > 0 {
			fates[at] = fate
			left--
		}
	}
	return fates
}
