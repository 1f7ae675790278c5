package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

func keep(t *testing.T, j *journal.Journal, step, key, answer string) engine.CacheEntry {
	t.Helper()
	digest, err := j.Blobs.Put(t.Context(), []byte(answer))
	if err != nil {
		t.Fatal(err)
	}
	c := engine.CacheEntry{Key: key, Answer: digest, Raw: digest, Model: "m", Provider: "p"}
	if err := j.Answers.Keep(t.Context(), engine.StepRef{Run: "r", Workflow: "w", Step: step}, c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCached_readerDecidesHowLong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := open(t, dir)
	keep(t, j, "a", "k", "old answer")
	before := time.Now()
	want := keep(t, j, "a", "k", "new answer")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, dir)
	for _, c := range []struct {
		key   string
		since time.Time
		found bool
	}{
		{"k", time.Time{}, true},
		{"k", before.Truncate(time.Microsecond), true},
		{"k", before.Add(time.Hour), false},
		{"other", time.Time{}, false},
	} {
		got, found, err := j.Answers.Cached(t.Context(), c.key, c.since)
		if found != c.found || err != nil || found && got != want {
			t.Errorf("Cached(%s, %v): %+v, %v, %v; want %v", c.key, c.since, got, found, err, c.found)
		}
	}
	if err := os.Remove(filepath.Join(dir, "blobs", want.Answer[:2], want.Answer)); err != nil {
		t.Fatal(err)
	}
	if _, found, err := j.Answers.Cached(t.Context(), "k", time.Time{}); found || err != nil {
		t.Errorf("an answer whose blob is gone: found %v, %v", found, err)
	}
}

func TestKeep_oldestGoFirst(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	keep(t, j, "other step", "other", "x")
	for i := range journal.MaxAnswers + 2 {
		keep(t, j, "a", fmt.Sprint(i), "x")
	}
	for key, want := range map[string]bool{"0": false, "1": false, "2": true, fmt.Sprint(journal.MaxAnswers + 1): true, "other": true} {
		if _, found, err := j.Answers.Cached(t.Context(), key, time.Time{}); found != want || err != nil {
			t.Errorf("answer %s: found %v, %v; want %v", key, found, err, want)
		}
	}
}
