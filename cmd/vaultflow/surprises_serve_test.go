//go:build unix

package main

import (
	"io"
	"os"
	"strings"
	"testing"
)

// What check warns of is in serve's log, once however often workflows are read, on the dashboard, and in doctor's count. A workflow
// that is off is only on the dashboard.
func TestServe_warningsOfWorkflows(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("Workflows/Newest.md", note(`watch: "Inbox/*.md"`, "@input file: Inbox/*.md (latest)\n@output file: Out/{run}\n@model none", ""))
	s.write("Workflows/Off.md", "---\nwatch: Inbox/*.md\nenabled: false\n---\n## A\n@input file: Inbox/*.md (latest)\n@output file: Out\n\nx\n")
	s.write("Workflows/Broken.md", "## A\n@inptu file: x\n\nx\n")
	d := s.serve()
	s.write("Inbox/a.md", "A.\n")
	s.ran("Newest", 1)
	s.write("Workflows/Newest.md", "---\ndescription: moved down\n"+strings.TrimPrefix(s.Read("Workflows/Newest.md"), "---\n"))
	s.write("Inbox/b.md", "B.\n")
	s.ran("Newest", 2)
	log, err := os.ReadFile(d.Log.Name())
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), "workflow has a warning"); n != 1 || !strings.Contains(string(log), "VF260") {
		t.Errorf("serve logs %d warnings, want one of Newest:\n%s", n, log)
	}
	if n := strings.Count(string(log), "workflow has a mistake and cannot run"); n != 1 {
		t.Errorf("serve logs %d mistakes, want one of Broken:\n%s", n, log)
	}
	page, err := io.ReadAll(s.browse("GET", "/", nil).Body)
	if err != nil || strings.Count(string(page), "and not the one that started the run") != 2 {
		t.Errorf("the dashboard does not show both warnings: %v\n%s", err, page)
	}
}
