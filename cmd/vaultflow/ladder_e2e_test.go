package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// bundle puts the import of a book into the vault. Each page has a picture, and a text with a code word of its own.
func (b *bench) bundle(pages int) {
	b.t.Helper()
	var note, manifest strings.Builder
	note.WriteString("# Workbook\n")
	for n := 1; n <= pages; n++ {
		picture, text := fmt.Sprintf("pages/page_%04d.png", n), fmt.Sprintf("text/page_%04d.md", n)
		fmt.Fprintf(&note, "\n## Page %d\n\n![[./%s]]\n[[./Workbook.pdf#page=%d|Workbook.pdf, page %d]] · [[./%s|text]] ^p%d\n", n, picture, n, n, text, n)
		fmt.Fprintf(&manifest, `,{"n":%d,"image":{"path":%q},"text":{"path":%q,"source":"layer"},"status":"done"}`+"\n", n, picture, text)
		b.paint("Imported/Workbook/"+picture, uint8(n%200))
		b.write("Imported/Workbook/"+text, fmt.Sprintf("w%04d. %s\n", n, strings.Repeat("Eigenvalues of a matrix are found here. ", 6)))
	}
	b.write("Imported/Workbook/index.md", note.String())
	b.write("Imported/Workbook/manifest.json", `{"version":1,"source":{"name":"Workbook.pdf"},"pages":[`+strings.TrimPrefix(manifest.String(), ",")+"]}")
}

// newest is the id of the newest run.
func (b *bench) newest() string {
	b.t.Helper()
	out, _ := b.run(exitDone, "runs", "--json", "--limit", "1")
	var newest struct{ ID string }
	if err := json.Unmarshal([]byte(out), &newest); err != nil {
		b.t.Fatalf("runs --json: %v\n%s", err, out)
	}
	return newest.ID
}

// TestLadder_bookOf600Pages: a step with a budget of 20 pages gets the text of as many others as max_fallback_tokens holds,
// the rest in one range that read_pages reads. The run is done with omissions, which record, status and note tell.
func TestLadder_bookOf600Pages(t *testing.T) {
	t.Parallel()
	read := llmtest.Reply{Answer: llmtest.Answer{ToolCalls: []llmtest.ToolCall{{Name: "read_pages", Input: `{"path":"Imported/Workbook/index.md","page_start":300,"page_end":301}`}}, Input: 60_000, Output: 5}}
	b := newBench(t, adapter{kind: "openai_chat", path: "/v1", wire: llmtest.OpenAI{}}, "      capabilities: [text, vision, tools]\n", read, says("Plan.")).withWorker()
	b.bundle(600)
	b.write("Workflows/Plan.md", "## Plan\n@input file: Imported/Workbook/index.md (images=auto)\n@output file: Out (omissions=on)\n@write_mode replace\n\nMake a plan.\n")
	out, _ := b.run(exitOmissions, "run", "Plan")
	requests := b.server.Requests()
	if len(requests) != 2 {
		t.Fatalf("%d requests, want 2\n%s", len(requests), out)
	}
	said := texts(requests[0].Parts)
	if n := strings.Count(said, "Eigenvalues of a matrix are found here. Eigenvalues of a matrix are found here. Eigen"); n < 200 || images(requests[0].Parts) != 20 {
		t.Errorf("%d texts, %d pictures", n, images(requests[0].Parts))
	}
	if n := len(said); n > 105_000 || strings.Count(said, "-600 are not shown") != 1 || strings.Contains(said, "IMAGE_REFS") {
		t.Errorf("the prompt has %d bytes of text, and ends with\n%s", n, said[len(said)-500:])
	}
	if got := strings.Join(requests[0].Tools(), " "); got != "read_chunks read_pages" {
		t.Errorf("tools %q", got)
	}
	if answer := texts(requests[1].Parts); !strings.Contains(answer, "w0300.") || !strings.Contains(answer, "w0301.") {
		t.Error("read_pages gave no text")
	}
	shown, _ := b.run(exitDone, "show", b.newest())
	status, _ := b.run(exitDone, "status")
	written, err := os.ReadFile(filepath.Join(b.dir, "vault", "Out.md"))
	if err != nil {
		t.Fatal(err)
	}
	note := string(written)
	for where, text := range map[string]string{"run": out, "show": shown, "status": status, "note": note} {
		if !strings.Contains(text, "Imported/Workbook/index.md, pages 21-") {
			t.Errorf("%s does not say which pages the model did not see:\n%s", where, text)
		}
	}
	for where, text := range map[string]string{"show": shown, "note": note} {
		if !strings.Contains(text, "-299, 302-600: not shown (max_images 20 reached)") || strings.Count(text, "index.md, page") != 2 {
			t.Errorf("%s does not have the pages in ranges:\n%s", where, text)
		}
	}
	if !strings.HasPrefix(note, "Plan.\n\n> [!warning] ") {
		t.Errorf("the note is\n%s", note)
	}
}

// TestLadder_textOnlyModel: with the text of a picture in its place nothing is missed; a picture of which the model gets a
// label alone is an omission.
func TestLadder_textOnlyModel(t *testing.T) {
	t.Parallel()
	for text, code := range map[string]int{"TOTAL 12.50\n": exitDone, "": exitOmissions} {
		b := newBench(t, adapter{kind: "openai_chat", path: "/v1", wire: llmtest.OpenAI{}}, "      capabilities: [text]\n", says("Seen."))
		b.paint("Scan/pages/page_0001.png", 7)
		if text != "" {
			b.write("Scan/text/page_0001.md", text)
		}
		b.write("Note.md", "A bill: ![[Scan/pages/page_0001.png]]\n")
		b.write("Workflows/Look.md", lookAll)
		out, _ := b.run(code, "run", "Look")
		if said := texts(b.onlyRequest()); strings.Contains(said, "TOTAL 12.50") != (text != "") {
			t.Errorf("the model got %q", said)
		}
		if told := strings.Contains(out, "Scan/pages/page_0001.png: its name alone (the model has no vision)"); told != (text == "") {
			t.Errorf("text %q: the record says\n%s", text, out)
		}
	}
}

// TestLadder_cite: a page that the ladder shows as text, and one that read_pages returns, count as shown; a page in a range does not.
func TestLadder_cite(t *testing.T) {
	t.Parallel()
	read := llmtest.Reply{Answer: llmtest.Answer{ToolCalls: []llmtest.ToolCall{{Name: "read_pages", Input: `{"path":"Imported/Workbook/index.md","page_start":40}`}}, Input: 20_000, Output: 5}}
	b := newBench(t, adapter{kind: "openai_chat", path: "/v1", wire: llmtest.OpenAI{}}, "      capabilities: [text, vision, tools]\n", read,
		says("Picture [Workbook, p. 2], text [Workbook, p. 6], read [Workbook, p. 40], neither [Workbook, p. 30]."))
	b.bundle(60)
	b.write("Workflows/Cite.md", "---\nbudget: {max_images: 3, max_fallback_tokens: 1500}\n---\n\n## Cite\n@cite pages\n@input file: Imported/Workbook/index.md (images=auto)\n@output file: Out\n@write_mode replace\n\nCite.\n")
	out, _ := b.run(exitOmissions, "run", "Cite")
	written, err := os.ReadFile(filepath.Join(b.dir, "vault", "Out.md"))
	if err != nil {
		t.Fatal(err)
	}
	for n, shown := range map[int]bool{2: true, 6: true, 40: true, 30: false} {
		mark := regexp.MustCompile(fmt.Sprintf(`p%d\|p\. %d\]\] \[page not shown\]`, n, n))
		if link := fmt.Sprintf("p%d|p. %d]]", n, n); !strings.Contains(string(written), link) || mark.Match(written) == shown {
			t.Errorf("page %d: shown %t, the note is\n%s\n%s", n, shown, written, out)
		}
	}
}
