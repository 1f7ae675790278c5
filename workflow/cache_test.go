package workflow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/workflow"
)

func noted(text string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(text), ModTime: time.Unix(1, 0)}
}

// A cache returns what Load does, whatever happened to the notes and to the plans that it returned.
func TestCache_isLoad(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"W/a.md": noted("## Step\n\nWrite one\n\n@model sonnet\n"), "W/sub/b.md": noted("---\nschedule: nonsense\n---\n\n## Step\n\nWrite\n"), "W/c.md": noted("## Step\n\nWrite three\n"),
	}
	var cache workflow.Cache
	same := func(when string) []workflow.Loaded {
		t.Helper()
		want, err := workflow.Load(files, "W")
		if err != nil {
			t.Fatal(err)
		}
		got, err := cache.Load(files, "W")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-Load +cache):\n%s", when, diff)
		}
		return got
	}
	same("at first")
	for _, l := range same("again") {
		l.Plan.Fresh, l.Plan.Meta.Model, l.Plan.Steps[0].Model, l.Plan.Steps[0].Prompt = true, "other", nil, "changed by a run"
		if len(l.Diagnostics) > 0 {
			l.Diagnostics[0].Message = "changed by a check"
		}
	}
	same("after a run changed what it got")
	files["W/a.md"] = noted("## Step\n\nWrite six\n\n@model sonnet\n")
	same("after a change that kept size and time")
	files["W/d.md"] = files["W/c.md"]
	delete(files, "W/c.md")
	same("after a note was renamed")
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if all, err := cache.Load(files, "W"); err != nil || len(all) != 3 {
				t.Errorf("%d workflows at once, %v", len(all), err)
			}
		})
	}
	wait.Wait()
}

// BenchmarkLoad lists 500 workflows that did not change: with and without their plans.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	for i := range 500 {
		text := fmt.Sprintf("---\nschedule: 0 %d * * *\ndescription: number %d\n---\n\n## Instructions\n\n%s\n", i%24, i, strings.Repeat("Be brief and cite your sources. ", 8))
		for s := range 3 {
			text += fmt.Sprintf("\n## Step %d\n\nSum up what {{notes}} says.\n\n@input file: Notes/%d/*.md (as=notes, pending, latest=3)\n@output file: Out/{today} %d\n@model sonnet (thinking=low)\n", s, i, i)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("w%d.md", i)), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for name, load := range map[string]func() ([]workflow.Loaded, error){
		"parsed": func() ([]workflow.Loaded, error) { return workflow.Load(os.DirFS(dir), ".") },
		"kept": func() func() ([]workflow.Loaded, error) {
			c := &workflow.Cache{}
			return func() ([]workflow.Loaded, error) { return c.Load(os.DirFS(dir), ".") }
		}(),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if all, err := load(); err != nil || len(all) != 500 {
					b.Fatalf("%d workflows, %v", len(all), err)
				}
			}
		})
	}
}
