package artifact

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// clock is the time of a test.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func opened(t *testing.T, dir string, l Limits, c *clock, live ...string) *Store {
	t.Helper()
	s, broken, err := Open(dir, l, func(run string) bool { return strings.Contains(strings.Join(live, " "), run) }, c.now)
	if err != nil || broken != 0 {
		t.Fatalf("open: %d broken lines, %v", broken, err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t *testing.T, s *Store, content, scope, run string) Artifact {
	t.Helper()
	a, err := s.Put(t.Context(), strings.NewReader(content), Source{Scope: scope, Run: run, MediaType: "text/plain", URL: "https://example.org/" + content[:1]})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func has(s *Store, a Artifact) bool {
	f, err := s.Open(a.Ref)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

func TestStore_keepsOverARestart(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), &clock{start}
	s := opened(t, dir, Limits{}, c)
	a := put(t, s, "first", "w", "r1")
	c.at = c.at.Add(time.Hour)
	again := put(t, s, "first", "w", "r2")
	other := put(t, s, "second", "w", "r2")
	if again.Ref != a.Ref || other.Ref == a.Ref || !again.CreatedAt.After(a.CreatedAt) {
		t.Errorf("refs %s, %s, %s", a.Ref, again.Ref, other.Ref)
	}
	for range 2 {
		if got := s.Of("r2"); len(got) != 2 || got[0].SHA256 == got[1].SHA256 || got[0].SizeBytes+got[1].SizeBytes != 11 {
			t.Errorf("of r2: %+v", got)
		}
		if text, err := s.Excerpt(a.Ref); err != nil || text != "first" {
			t.Errorf("%q, %v", text, err)
		}
		s = opened(t, dir, Limits{}, c)
	}
	if _, err := s.Get("art_000000000000000000000000"); !errors.Is(err, ErrNone) {
		t.Errorf("got %v", err)
	}
	if want := `[artifact ` + a.Ref + `: text/plain, 5 bytes, from "https://example.org/f"]`; a.Line() != want {
		t.Errorf("%s, want %s", a.Line(), want)
	}
}

func TestStore_limitsEachScope(t *testing.T) {
	t.Parallel()
	if l := (Limits{}).withDefaults(); l != (Limits{14 * 24 * time.Hour, 96, 256 << 20}) {
		t.Errorf("defaults %+v", l)
	}
	for name, l := range map[string]Limits{"files": {MaxFiles: 2}, "bytes": {MaxBytes: 250}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &clock{start}
			s := opened(t, t.TempDir(), l, c, "live")
			var all []Artifact
			other := put(t, s, strings.Repeat("z", 100), "other", "")
			for i := range 4 {
				c.at = c.at.Add(time.Minute)
				run := ""
				if i == 0 {
					run = "live"
				}
				all = append(all, put(t, s, strings.Repeat(string(rune('a'+i)), 100), "w", run))
			}
			for i, want := range []bool{true, false, false, true} {
				if has(s, all[i]) != want {
					t.Errorf("%d is there: %v, want %v", i, !want, want)
				}
			}
			if !has(s, other) {
				t.Error("another scope's is gone")
			}
		})
	}
}

func TestStore_limitsAge(t *testing.T) {
	t.Parallel()
	c, dir := &clock{start}, t.TempDir()
	s := opened(t, dir, Limits{}, c, "live")
	old, living := put(t, s, "old", "w", "r"), put(t, s, "living", "w", "live")
	c.at = start.Add(14 * 24 * time.Hour)
	young := put(t, s, "young", "w", "r")
	if n, err := s.Sweep(); n != 0 || err != nil || !has(s, old) {
		t.Errorf("at 14 days %d are removed, %v", n, err)
	}
	c.at = c.at.Add(time.Second)
	if n, err := s.Sweep(); n != 1 || err != nil || has(s, old) || !has(s, living) || !has(s, young) {
		t.Errorf("later %d are removed, %v", n, err)
	}
	if s = opened(t, dir, Limits{}, c); has(s, old) || !has(s, young) {
		t.Error("a restart brings the removed one back, or loses another")
	}
	if n, err := s.Sweep(); n != 1 || err != nil || has(s, living) {
		t.Errorf("when no run lives any more %d are removed, %v", n, err)
	}
}

func TestStore_refusesWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := opened(t, dir, Limits{MaxBytes: 10}, &clock{start})
	if _, err := s.Put(t.Context(), strings.NewReader("12345678901"), Source{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, files)); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// A run that goes on keeps no more than a scope may: nothing of what it refers to could be removed.
func TestStore_limitsALiveRun(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]Limits{"files": {MaxFiles: 2}, "bytes": {MaxBytes: 250}} {
		s := opened(t, t.TempDir(), l, &clock{start}, "live")
		for i, want := range []error{nil, nil, ErrFull} {
			letter := string(rune('a' + i))
			_, err := s.Put(t.Context(), strings.NewReader(strings.Repeat(letter, 100)), Source{Scope: "w", Run: "live", URL: "https://example.org/" + letter})
			if !errors.Is(err, want) {
				t.Errorf("%s: put %d: %v, want %v", name, i+1, err, want)
			}
		}
		again := put(t, s, strings.Repeat("a", 100), "w", "live")
		if !has(s, again) || len(s.Of("live")) != 2 {
			t.Errorf("%s: what is there already cannot be kept again, of %d", name, len(s.Of("live")))
		}
		if left, _ := os.ReadDir(filepath.Join(s.dir, files)); len(left) != 2 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

func TestExcerpt_isBoundedText(t *testing.T) {
	t.Parallel()
	s := opened(t, t.TempDir(), Limits{}, &clock{start})
	for content, want := range map[string]int{strings.Repeat("ü", 5000): ExcerptLength, "short": 5, strings.Repeat("💾", 3201): ExcerptLength, "%PDF\x00\xff": 0, "a\xffb": 0} {
		text, err := s.Excerpt(put(t, s, content, "w", "").Ref)
		if err != nil || utf8.RuneCountInString(text) != want || !utf8.ValidString(text) {
			t.Errorf("%.10q: %d characters, %v, want %d", content, utf8.RuneCountInString(text), err, want)
		}
	}
}

// A manifest that a crash has cut at any byte keeps every artifact whose line is whole, and can be written on.
func TestOpen_aTornLine(t *testing.T) {
	t.Parallel()
	c, dir := &clock{start}, t.TempDir()
	s := opened(t, dir, Limits{}, c)
	first, second := put(t, s, "first", "w", ""), put(t, s, "second", "w", "")
	whole, err := os.ReadFile(filepath.Join(dir, "manifest.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	line := strings.IndexByte(string(whole), '\n') + 1
	for _, cut := range []int{line, line + 1, line + 40, (line + len(whole)) / 2, len(whole) - 2, len(whole) - 1} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, files), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]string{"manifest.jsonl": string(whole[:cut]), first.Path: "first", second.Path: "second", "files/.new-1": "half"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, broken, err := Open(dir, Limits{}, func(string) bool { return false }, c.now)
		if err != nil || (broken == 1) != (cut > line) || !has(s, first) || has(s, second) {
			t.Fatalf("cut at %d: %d broken, %v", cut, broken, err)
		}
		if left, _ := os.ReadDir(filepath.Join(dir, files)); len(left) != 1 {
			t.Errorf("cut at %d: left %v", cut, left)
		}
		third := put(t, s, "third", "w", "")
		s.Close()
		s, broken, err = Open(dir, Limits{}, func(string) bool { return false }, c.now)
		// The line that lacked nothing but its end is whole then; its file is gone all the same.
		if err != nil || (broken == 1) != (cut > line && cut < len(whole)-1) || !has(s, first) || has(s, second) || !has(s, third) {
			t.Fatalf("cut at %d, written on: %d broken, %v", cut, broken, err)
		}
		s.Close()
	}
}

func TestOpen_believesNoLineThatLeadsOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines := `{"artifact_ref":"../../x","path":"files/../../x"}` + "\n" + `{"artifact_ref":"art_000000000000000000000000","path":"/etc/passwd"}` + "\n" + strings.Repeat("x", maxLine*2) + "\nnull\n"
	if err := os.WriteFile(filepath.Join(dir, "manifest.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	s, broken, err := Open(dir, Limits{}, func(string) bool { return false }, time.Now)
	if err != nil || broken != 4 || len(s.kept) != 0 {
		t.Fatalf("%d broken, %v, %v", broken, err, s)
	}
	s.Close()
}

func TestStore_manyAtOnce(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), &clock{start}
	s := opened(t, dir, Limits{MaxFiles: 20}, c)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 10 {
				a, err := s.Put(t.Context(), strings.NewReader(fmt.Sprint(g, i)), Source{Scope: fmt.Sprint(g % 2), Run: "r"})
				if err != nil {
					t.Error(err)
				}
				_, _ = s.Excerpt(a.Ref) // it may be swept already
			}
		})
	}
	all.Wait()
	if n := len(s.Of("r")); n != 40 {
		t.Errorf("%d are left, want 20 in each of 2 scopes", n)
	}
	if n := len(opened(t, dir, Limits{MaxFiles: 20}, c).Of("r")); n != 40 {
		t.Errorf("%d after a restart", n)
	}
}
