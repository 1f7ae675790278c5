package previewed

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Each change between a preview and a run is listed with its reason, and an equal prompt has none.
func TestDifferences(t *testing.T) {
	t.Parallel()
	picture := Part{Kind: "image", Name: "p.png", Digest: "1", Fate: "sent"}
	base := func() Sketch {
		return Sketch{
			Digest: "a", Model: "near (lab, some:7b)", Window: 16384, Guess: "the server did not answer", Service: "http://lab.example/v1", Settings: map[string]string{"temperature": "1"}, Limits: map[string]string{"max_images": "8"},
			Parts: []Part{Text(KindText, "the step's text", "Look."), Text(KindNote, "a.md", "one"), picture},
		}
	}
	for want, change := range map[string]func(s *Sketch){
		"model changed: far, was near (lab, some:7b)":                    func(s *Sketch) { s.Model = "far" },
		"window learned: 8192 tokens, guessed were 16384":                func(s *Sketch) { s.Window, s.Guess = 8192, "" },
		"window changed: 8192 tokens, was 16384":                         func(s *Sketch) { s.Window = 8192 },
		"service changed: http://far.example, was http://lab.example/v1": func(s *Sketch) { s.Service = "http://far.example" },
		"setting changed: max_images is 2, was 8":                        func(s *Sketch) { s.Limits["max_images"] = "2" },
		"setting changed: max_images is not set, was 8":                  func(s *Sketch) { s.Limits = nil },
		"setting changed: temperature is 0, was 1":                       func(s *Sketch) { s.Settings["temperature"] = "0" },
		"note is untrusted now: a.md":                                    func(s *Sketch) { s.Parts[1].Untrusted = true },
		"note changed: a.md":                                             func(s *Sketch) { s.Parts[1] = Text(KindNote, "a.md", "two") },
		"text changed: the step's text":                                  func(s *Sketch) { s.Parts[0] = Text(KindText, "the step's text", "See.") },
		"picture changed: p.png":                                         func(s *Sketch) { s.Parts[2].Digest = "2" },
		"picture changed: p.png is resized (too wide), was sent":         func(s *Sketch) { p := &s.Parts[2]; p.Digest, p.Fate, p.Why = "2", "resized", "too wide" },
		"picture is resized (too wide), was sent: p.png":                 func(s *Sketch) { s.Parts[2].Fate, s.Parts[2].Why = "resized", "too wide" },
		"picture torn: p.png (ends early)": func(s *Sketch) {
			p := &s.Parts[2]
			p.Digest, p.Fate, p.Why, p.Torn = "2", "refused", "ends early", true
		},
		"picture added: q.png":               func(s *Sketch) { s.Parts = append(s.Parts, Part{Kind: "image", Name: "q.png"}) },
		"picture added: p.png":               func(s *Sketch) { s.Parts = append(s.Parts, picture) },
		"picture removed: p.png":             func(s *Sketch) { s.Parts = s.Parts[:2] },
		"the order of the inputs changed":    func(s *Sketch) { s.Parts[1], s.Parts[2] = s.Parts[2], s.Parts[1] },
		"the text around the inputs changed": func(*Sketch) {},
		"picture is sent for another reason: p.png (asked for by the author)": func(s *Sketch) { s.Parts[2].Why = "asked for by the author" },
	} {
		now := base()
		now.Digest = "b"
		change(&now)
		if diff := cmp.Diff([]string{want}, Differences(base(), now)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	before, now := base(), base()
	before.Parts[2] = Part{Kind: "image", Name: "https://lab.example/p.png", Fate: "deferred"}
	now.Parts[2], now.Digest = Part{Kind: "image", Name: "https://lab.example/p.png", Fate: "sent", Digest: "1"}, "b"
	if diff := cmp.Diff([]string{"remote picture fetched: https://lab.example/p.png"}, Differences(before, now)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Differences(base(), base()); got != nil {
		t.Errorf("the same prompt: %q", got)
	}
}

// A limit, and a window that is no part of requests, count if they decided something.
func TestDifferences_ofLimits(t *testing.T) {
	t.Parallel()
	base := func() Sketch {
		return Sketch{
			Digest: "a", Window: 16384, Limits: map[string]string{"max_images": "8"},
			Parts: []Part{Text(KindNote, "a.md", "one"), {Kind: "image", Name: "p.png", Digest: "1", Fate: "sent"}, {Kind: "image", Name: "q.png", Digest: "2", Fate: "sent"}},
		}
	}
	now := base()
	now.Digest, now.Window, now.Limits["max_images"], now.Parts[0] = "b", 8192, "2", Text(KindNote, "a.md", "two")
	if diff := cmp.Diff([]string{"note changed: a.md"}, Differences(base(), now)); diff != "" {
		t.Errorf("limits without effect (-want +got):\n%s", diff)
	}
	now.Parts[2].Fate, now.Parts[2].Why = "deferred", "max_images 2 reached"
	want := []string{
		"window changed: 8192 tokens, was 16384", "setting changed: max_images is 2, was 8", "note changed: a.md",
		"picture is deferred (max_images 2 reached), was sent: q.png",
	}
	if diff := cmp.Diff(want, Differences(base(), now)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	now = base()
	now.Digest, now.Window, now.Reserved, now.Parts[0] = "b", 8192, true, Text(KindNote, "a.md", "two")
	if diff := cmp.Diff([]string{"window changed: 8192 tokens, was 16384", "note changed: a.md"}, Differences(base(), now)); diff != "" {
		t.Errorf("a window that is a part of the request (-want +got):\n%s", diff)
	}
}

// The last preview of each key is kept, of the latest keys.
func TestStore(t *testing.T) {
	t.Parallel()
	s, now := Store{t.TempDir()}, time.Now()
	for _, digest := range []string{"1", "2"} {
		if err := s.Put(Key("w", "s", "a"), Sketch{Digest: digest, Time: now, Parts: []Part{}}); err != nil {
			t.Fatal(err)
		}
	}
	if got, ok := s.Last(Key("w", "s", "a"), now); !ok || got.Digest != "2" {
		t.Errorf("last is %+v, %t", got, ok)
	}
	if _, ok := s.Last(Key("w", "s"), now); ok {
		t.Error("a preview of other files counts")
	}
	if _, ok := s.Last(Key("w", "s", "a"), now.Add(maxAge+time.Hour)); ok {
		t.Error("a preview of last month counts")
	}
	dir := filepath.Join(s.Dir, folder)
	old := now.Add(time.Hour)
	for i := range maxKept {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.sweep(dir, now); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != maxKept {
		t.Errorf("%d are kept, %v", len(list), err)
	}
	if _, ok := s.Last(Key("w", "s", "a"), now); ok {
		t.Error("the oldest is kept")
	}
	if err := s.sweep(dir, now.Add(maxAge+2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 0 {
		t.Errorf("%d are kept after their time, %v", len(list), err)
	}
	none := Store{filepath.Join(s.Dir, "none")}
	if err := none.Put("k", Sketch{}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(none.Dir); !os.IsNotExist(err) {
		t.Errorf("a state directory was made: %v", err)
	}
}
