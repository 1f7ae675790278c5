package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// TestCheck plays what the runner is there to find.
func TestCheck(t *testing.T) {
	const whole, half = "one\ntwo\n", "one\n"
	for _, c := range []struct {
		name, arrived, kept, lacks string
		state                      engine.ImportState
		want                       string // in the one problem
		count                      func(*report) int
	}{
		{name: "whole", arrived: whole, kept: whole, state: engine.ImportDone},
		{name: "half", arrived: half, kept: half, state: engine.ImportDone, want: "HALF", count: func(r *report) int { return r.Half }},
		{name: "half, and the original grew", arrived: half, kept: whole, state: engine.ImportDone, want: "HALF", count: func(r *report) int { return r.Half }},
		{name: "lost", arrived: whole, kept: "", state: engine.ImportDone, want: "LOST", count: func(r *report) int { return r.Lost }},
		{name: "below its quality without a word", arrived: whole, kept: whole, lacks: "half resolution", state: engine.ImportDone, want: "below its quality", count: func(r *report) int { return r.WrongQuality }},
		{name: "below its quality, and told", arrived: whole, kept: whole, lacks: "half resolution", state: engine.ImportPartial},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := site{vault: t.TempDir()}
			dir := filepath.Join(s.vault, "Imported", "log")
			write(t, filepath.Join(dir, "log.md"), "note")
			write(t, filepath.Join(dir, "log.txt"), c.kept)
			m := manifest.Manifest{
				Version: manifest.Version, Note: "log.md",
				Source: manifest.Source{Name: "log.txt", SHA256: sum(t, c.arrived)},
				Import: manifest.Import{ID: "1"},
				Pages:  []manifest.Page{{N: 1, Status: manifest.PageDone, Lacks: c.lacks}},
			}
			data, err := m.Encode()
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "manifest.json"), string(data))
			record := engine.ImportRecord{ID: "1", State: c.state, SHA256: sum(t, c.arrived), Bundle: "Imported/log", Pages: 1}
			if c.lacks != "" && c.state == engine.ImportPartial {
				record.Lacking = []int{1}
			}
			r := &report{quiet: true}
			s.o.time = 1
			s.check(r, &result{source: source{name: "log.txt", sha256: sum(t, whole)}, ImportRecord: record})
			said := strings.Join(r.Problems, "\n")
			if c.want == "" && said != "" || !strings.Contains(said, c.want) || c.count != nil && c.count(r) != 1 {
				t.Errorf("problems:\n%s", said)
			}
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func sum(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x")
	write(t, name, text)
	d, err := digest(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
