package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// TestRun_footnotes has a model cite a document of which it was sent two pages: the note names the page that a reader of the
// whole document finds.
func TestRun_footnotes(t *testing.T) {
	t.Parallel()
	passages := []llmtest.Passage{{Document: 0, Page: 2, Text: "Closing words\nof the [[board]]."}, {Document: 5, Page: 1, Text: "of nothing"}}
	b := libraryBench(t, "[text, pdf, citations]\n      citations: true", "", llmtest.Reply{Answer: llmtest.Answer{
		Deltas: []string{"The board ", "closes.\n"}, Passages: passages, Input: 5000, Output: 5,
	}})
	b.write("Files/Report.pdf", string(mixedPDF()))
	b.write("Workflows/Look.md", strings.ReplaceAll(look, "%s", "file: Files/Report.pdf (pages=2-3)"))
	if _, said := b.run(exitDone, "check"); strings.Contains(said, "citations") {
		t.Errorf("check says %q", said)
	}
	b.run(exitDone, "run", "Look")
	parts := b.onlyRequest()
	if body := string(b.server.Requests()[0].Body); !strings.Contains(body, `"citations":{"enabled":true}`) || len(parts) == 0 {
		t.Errorf("the request asks for no citations: %.600s", body)
	}
	got, err := os.ReadFile(filepath.Join(b.dir, "vault", "Out.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`^The board closes\.(\[\^[0-9a-f]{6}\])\n\n(\[\^[0-9a-f]{6}\]): \[\[Files/Report\.pdf#page=3\]\]: “Closing words of the \\\[\\\[board\\\]\\\]\.”\n$`)
	if m := want.FindStringSubmatch(string(got)); m == nil || m[1] != m[2] {
		t.Errorf("the note is %q", got)
	}
	out, _ := b.run(exitDone, "runs", "--json", "--limit", "1")
	if strings.Contains(out, "Closing words") {
		t.Errorf("runs shows the passage: %s", out)
	}
	b.finish()
}

// TestCheck_citationsInVain: an alias that wants what its model does not give is told of, and runs.
func TestCheck_citationsInVain(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[0], seeing+"      citations: true\n", says("Seen."))
	b.write("Workflows/Look.md", "## Look\n@output file: Out\n@write_mode replace\n\nHi\n")
	if _, said := b.run(exitDone, "check"); !strings.Contains(said, "warning: models.aliases.seer.citations has no effect") {
		t.Errorf("check says %q", said)
	}
	b.run(exitDone, "run", "Look")
	if strings.Contains(string(b.server.Requests()[0].Body), "citations") {
		t.Error("citations were asked for")
	}
	b.holds("Out.md", "Seen.\n")
}
