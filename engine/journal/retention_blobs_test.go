package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

func TestDigestsIn(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("0123456789abcdef", 4), strings.Repeat("fe", 32)
	for text, want := range map[string][]string{
		"":                           nil,
		a:                            {a},
		a[1:]:                        nil,
		a + "0":                      nil,
		"0" + a + "," + b:            {b},
		`{"x":"` + a + `","` + b:     {a, b},
		a + "," + b + "," + a:        {a, b, a},
		strings.ToUpper(a) + " " + b: {b},
		strings.Repeat("ab ", 99) + a + strings.Repeat("-", 63) + b[:63]: {a},
	} {
		if diff := cmp.Diff(want, journal.DigestsIn(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// blobs are blobs of a test, by name.
type blobs struct {
	t  *testing.T
	j  *journal.Journal
	at map[string]string
}

func (b *blobs) put(name, content string, age time.Duration) string {
	b.t.Helper()
	digest, err := b.j.PutOld(b.t.Context(), []byte(content), epoch.Add(-age))
	if err != nil {
		b.t.Fatal(err)
	}
	b.at[name] = digest
	return digest
}

// left returns the names of the blobs that are there.
func (b *blobs) left() string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(b.at)) {
		if _, err := b.j.Blobs.Get(b.t.Context(), b.at[name]); err == nil {
			names = append(names, name)
		} else if !errors.Is(err, engine.ErrNotFound) {
			b.t.Error(err)
		}
	}
	return strings.Join(names, " ")
}

func TestSweepBlobs_whatNothingRefersTo(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	b := &blobs{t, j, map[string]string{}}
	b.put("alone", "nothing", 9*day)
	b.put("young", "nobody yet", 59*time.Minute)
	inner := b.put("inner", "a picture that a tool gave", 9*day)
	turn := b.put("turn", `[{"sha256":"`+inner+`"}]`, 9*day)
	b.put("lonely", "refers to "+b.put("lonelier", "named by one that goes", 9*day), 9*day)
	past(t, j, "r1", 5, func(e *engine.Entry) {
		e.Run.Plan = b.put("plan", "{}", 9*day)
		e.Run.Steps = []engine.StepRecord{{Step: "s", WorkRecord: engine.WorkRecord{Turns: []engine.Turn{{Raw: turn}}}}}
	})
	shared := engine.Var{Name: "v", Digest: b.put("variable", "kept", 9*day)}
	if err := j.Memory.Committed(t.Context(), engine.StepRef{Workflow: "w"}, []engine.Mark{{Name: "a.md", SHA256: b.put("marked", "a note", 9*day)}}, []engine.Var{shared}); err != nil {
		t.Fatal(err)
	}
	answer := engine.CacheEntry{Key: "k", Answer: b.put("answer", "an answer", 9*day)}
	if err := j.Answers.Keep(t.Context(), engine.StepRef{Workflow: "w", Step: "s"}, answer); err != nil {
		t.Fatal(err)
	}
	own := []engine.StagedFile{{Name: "a.md", New: b.put("written", "long ago", 9*day)}}
	if err := j.Memory.Writing(t.Context(), engine.StepRef{Workflow: "w"}, own); err != nil {
		t.Fatal(err)
	}
	leftover := filepath.Join(j.Dir(), "blobs", inner[:2], ".new-123")
	write(t, leftover, nil)
	s := sweep(t, j, kept, epoch)
	if got, want := b.left(), "answer inner plan turn variable young"; got != want {
		t.Errorf("blobs left:\n%s, want\n%s", got, want)
	}
	if s.Blobs != 5 || s.Bytes == 0 {
		t.Errorf("it says that %d blobs of %d bytes went, want 5", s.Blobs, s.Bytes)
	}
	if _, err := os.Stat(leftover); err == nil {
		t.Error("a temporary file of a killed process is still there")
	}
	b.put("alone", "nothing", 9*day)
	if s := sweep(t, j, kept, epoch.Add(time.Hour)); s.Blobs != 0 {
		t.Error("the blobs were looked at twice in a day")
	}
	if s := sweep(t, j, kept, epoch.Add(day)); s.Blobs != 2 { // and the one that was young
		t.Errorf("%d blobs went the next day, want 2", s.Blobs)
	}
}

func TestSweepBlobs_contentsBefore(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	b := &blobs{t, j, map[string]string{}}
	changed := func(run string, daysAgo int, before, answer string) {
		past(t, j, run, daysAgo, func(e *engine.Entry) {
			e.Run.Workflow = run
			e.Run.Outputs = []engine.Output{{Kind: "file", Name: "a.md", Before: before, After: answer}}
			e.Run.Steps = []engine.StepRecord{{Step: "s", WorkRecord: engine.WorkRecord{Answer: answer, Outputs: e.Run.Outputs}}}
		})
		ref := engine.StepRef{Run: run, Workflow: run, Step: "s"}
		if err := j.Changes.Intend(t.Context(), ref, "1/0", engine.Change{Kind: engine.ChangeWrite, Name: "a.md", Before: before, After: answer}, "", epoch); err != nil {
			t.Fatal(err)
		}
	}
	changed("old", 31, b.put("before old", "1", 40*day), b.put("answer old", "2", 40*day))
	changed("young", 29, b.put("before young", "3", 40*day), b.put("answer young", "4", 40*day))
	// A content before that is another thing too: the answer of the same run, and what another run needs.
	changed("answered", 31, b.at["answer old"], b.at["answer old"])
	changed("older", 35, b.at["before young"], b.put("answer older", "5", 40*day))
	sweep(t, j, kept, epoch)
	if got, want := b.left(), "answer old answer older answer young before young"; got != want {
		t.Errorf("blobs left:\n%s, want\n%s", got, want)
	}
}

// An activity may hold digests for hours before they stand in a row.
func TestSweepBlobs_ofRunsAtWork(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	b := &blobs{t, j, map[string]string{}}
	past(t, j, "parked", 7, func(e *engine.Entry) { e.Run.Status = engine.AwaitingApproval })
	past(t, j, "running", 3, func(e *engine.Entry) { e.Run.Status = engine.Running })
	b.put("of the run", "1", 3*day-time.Minute)
	b.put("before it", "2", 4*day)
	sweep(t, j, kept, epoch)
	if got := b.left(); got != "of the run" {
		t.Errorf("blobs left: %s", got)
	}
}

// Blobs of versions that kept no links are read once.
func TestSweepBlobs_ofEarlierVersions(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	b := &blobs{t, j, map[string]string{}}
	inner := b.put("inner", "a picture", 9*day)
	outer := b.put("outer", "names "+inner, 9*day)
	past(t, j, "r1", 5, func(e *engine.Entry) { e.Run.Plan = outer })
	if _, err := j.DB().ExecContext(t.Context(), `DELETE FROM blob_links`); err != nil {
		t.Fatal(err)
	}
	sweep(t, j, kept, epoch)
	if got := b.left(); got != "inner outer" {
		t.Errorf("blobs left: %s", got)
	}
}

// What is found again while a sweep is at work is new: an answer from the cache, a content that is stored again, a
// variable.
func TestSweepBlobs_foundAgain(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	b := &blobs{t, j, map[string]string{}}
	for name, use := range map[string]func(digest string) error{
		"put": func(string) error { _, err := j.Blobs.Put(t.Context(), []byte("put")); return err },
		"cached": func(digest string) error {
			if err := j.Answers.Keep(t.Context(), engine.StepRef{Workflow: "w", Step: "s"}, engine.CacheEntry{Key: "k", Answer: digest}); err != nil {
				return err
			}
			_, found, err := j.Answers.Cached(t.Context(), "k", epoch.Add(-day))
			if !found {
				t.Error("the answer is not there")
			}
			return err
		},
		"variable": func(digest string) error {
			if err := j.Memory.Committed(t.Context(), engine.StepRef{Workflow: "w"}, nil, []engine.Var{{Name: "v", Digest: digest}}); err != nil {
				return err
			}
			_, _, err := j.Memory.Variable(t.Context(), "w", "v")
			return err
		},
	} {
		digest := b.put(name, name, 9*day)
		if err := use(digest); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"answers", "variables"} {
		if _, err := j.DB().ExecContext(t.Context(), `DELETE FROM `+table); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := j.SweepBlobs(t.Context(), epoch, time.Now()); err != nil {
		t.Fatal(err)
	}
	if got := b.left(); got != "cached put variable" {
		t.Errorf("blobs left: %s", got)
	}
	// Candidates of a sweep that began before they were found.
	b.put("old", "old", 9*day)
	if _, err := j.RemoveBlobs(t.Context(), time.Now().Add(-time.Hour), slices.Collect(maps.Values(b.at))...); err != nil {
		t.Fatal(err)
	}
	if got := b.left(); got != "cached put variable" {
		t.Errorf("blobs left: %s", got)
	}
}

// Runs put blobs, name them in rows and end while sweeps go on, some of which are ended in the middle. Nothing that a row
// names is lost, and when all is quiet nothing is left that no row names.
func TestSweep_besideRuns(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	const workers, runs = 4, 12
	var group sync.WaitGroup
	work := func(worker, n int) error {
		id := fmt.Sprintf("r%d-%02d", worker, n)
		e := entry(id, id, fmt.Sprint("w", worker))
		e.Run.Created = time.Now()
		if _, _, err := j.Runs.Create(t.Context(), e, false); err != nil {
			return err
		}
		inner, err := j.Blobs.Put(t.Context(), []byte("inner, the same for two runs "+fmt.Sprint(n/2)))
		if err != nil {
			return err
		}
		outer, err := j.Blobs.Put(t.Context(), []byte(id+" names "+inner))
		if err != nil {
			return err
		}
		e.Run.Status, e.Run.Plan = engine.Done, outer
		record := engine.Record{Activity: engine.ActivityStage, In: json.RawMessage(`{}`), Out: json.RawMessage(`"` + outer + `"`), Started: epoch, Finished: epoch}
		if err := j.Runs.Append(t.Context(), record, e); err != nil {
			return err
		}
		e.Run.Finished = time.Now()
		return j.Runs.Save(t.Context(), e)
	}
	for worker := range workers {
		group.Go(func() {
			for n := range runs {
				if err := work(worker, n); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	quiet := make(chan struct{})
	go func() { group.Wait(); close(quiet) }()
	// Three days later: whatever is no run at work is old, and three attempts of each workflow are kept.
	few := journal.Retention{Runs: time.Hour, PerWorkflow: 1, Contents: time.Hour}
	later := func() time.Time { return time.Now().Add(72 * time.Hour) }
	for n := 1; ; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		if n%3 == 0 {
			time.AfterFunc(time.Duration(n)*100*time.Microsecond, cancel)
		}
		_, err := j.Sweep(ctx, few, later())
		if err == nil {
			_, err = j.SweepBlobs(ctx, later(), later())
		}
		if err != nil && ctx.Err() == nil {
			t.Error(err)
		}
		cancel()
		select {
		case <-quiet:
		default:
			continue
		}
		break
	}
	sweep(t, j, few, later())
	if _, err := j.SweepBlobs(t.Context(), later(), later()); err != nil {
		t.Fatal(err)
	}
	left := idsOf(t, j)
	if len(left) != workers*journal.KeptAttempts {
		t.Errorf("%d runs are left: %v", len(left), left)
	}
	named := map[string]bool{}
	for _, id := range left {
		r, err := j.Runs.Run(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		text, err := j.Blobs.Get(t.Context(), r.Plan)
		if err != nil {
			t.Fatalf("run %s: %v", id, err)
		}
		inner := string(text[len(text)-64:])
		if _, err := j.Blobs.Get(t.Context(), inner); err != nil {
			t.Errorf("run %s: %v", id, err)
		}
		named[r.Plan], named[inner] = true, true
	}
	there, err := filepath.Glob(filepath.Join(j.Dir(), "blobs", "*", "*"))
	if err != nil || len(there) != len(named) {
		t.Errorf("%d blobs are left, %d are named (%v)", len(there), len(named), err)
	}
}
