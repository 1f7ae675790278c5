package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// calls is an answer that calls tools; each call is a name and its input.
func calls(pairs ...string) llmtest.Reply {
	a := llmtest.Answer{Input: 20000, Output: 5}
	for i := 0; i+1 < len(pairs); i += 2 {
		a.ToolCalls = append(a.ToolCalls, llmtest.ToolCall{Name: pairs[i], Input: pairs[i+1]})
	}
	return llmtest.Reply{Answer: a}
}

// docx is a word processor's file of some paragraphs.
func docx(t *testing.T, paragraphs ...string) string {
	t.Helper()
	var data bytes.Buffer
	z := zip.NewWriter(&data)
	body := ""
	for _, p := range paragraphs {
		body += "<w:p><w:r><w:t>" + p + "</w:t></w:r></w:p>"
	}
	for _, f := range [][2]string{
		{"[Content_Types].xml", `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
			`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>` +
			`<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		{"_rels/.rels", `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`},
		{"word/document.xml", `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` + body + `</w:body></w:document>`},
	} {
		w, err := z.Create(f[0])
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return data.String()
}

// TestTools_readFile reads a document of 100 pages, a locked one, a scan and a word processor's file through read_file: with
// a model that sees, with one that takes PDF, and with one that reads text alone.
func TestTools_readFile(t *testing.T) {
	t.Parallel()
	long := pdftest.New()
	for n := range 100 {
		long.TextPage(pdftest.Text(fmt.Sprintf("Chapter %d of the long report.", n+1))...)
	}
	files := map[string]string{
		"Long.pdf": string(long.Bytes()), "Scan.pdf": string(pdftest.New().ScanPage("Invoice number 4711").Bytes()),
		"Locked.pdf":  string(pdftest.New().TextPage(pdftest.Text("Secret words.")...).UserPassword("open sesame").Bytes()),
		"Letter.docx": docx(t, "Dear reader,", "all is well."),
	}
	for name, tt := range map[string]struct {
		capabilities  string
		first, second [2]int // pictures and documents in the requests behind the calls
		want, lacks   []string
	}{
		"a model that sees": {"[text, vision, tools]", [2]int{5, 0}, [2]int{4 + 1 + 3, 0}, []string{
			"Long.pdf, page 1 of 100", "Long.pdf, page 4 of 100", "[pages 1-4 of 100; call again with page_start=5]", "[pages 98-100 of 100]",
		}, []string{"Chapter 5 of the long report"}},
		"a model that takes PDF": {"[text, vision, tools, pdf]", [2]int{0, 2}, [2]int{0, 3}, []string{
			"[pages 1-4 of 100; call again with page_start=5]", "[pages 98-100 of 100]",
		}, nil},
		"a model that reads text": {"[text, tools]", [2]int{}, [2]int{}, []string{
			"Chapter 1 of the long report.", "Chapter 20 of the long report.", "[pages 1-20 of 100; call again with page_start=21]", "Chapter 100 of the long report.", "not shown: it has no text",
		}, []string{"Chapter 21 of the long report."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reads := []string{"read_file", `{"path":"Long.pdf"}`, "read_file", `{"path":"Scan.pdf"}`, "read_file", `{"path":"Letter.docx"}`}
			if tt.first[1] == 0 { // opening a locked file takes seconds, in which two renderers are tried: not once more
				reads = append(reads, "read_file", `{"path":"Locked.pdf"}`)
				tt.want = append(tt.want, "encrypted: it needs a password")
			}
			b := libraryBench(t, tt.capabilities, "", calls(reads...), calls("read_file", `{"path":"Long.pdf","page_start":98}`),
				llmtest.Reply{Answer: llmtest.Answer{Deltas: []string{"Read."}, Input: 20000, Output: 5}})
			for file, data := range files {
				b.write(file, data)
			}
			b.write("Workflows/Read.md", "---\nbudget: {max_tool_images: 4}\n---\n## Read\n@tools read_file\n@output file: Out\n\nRead them.\n")
			b.run(exitDone, "run", "Read")
			requests := b.server.Requests()
			if len(requests) != 3 {
				t.Fatalf("%d requests, want 3", len(requests))
			}
			for i, want := range [][2]int{tt.first, tt.second} {
				parts := requests[i+1].Parts
				if got := [2]int{images(parts), documents(parts)}; got != want {
					t.Errorf("request %d: %d pictures and %d documents, want %v", i+2, got[0], got[1], want)
				}
			}
			all := texts(requests[2].Parts)
			for _, want := range append(tt.want, "all is well.") {
				if !strings.Contains(all, want) {
					t.Errorf("%q is not on the wire:\n%.3000s", want, all)
				}
			}
			for _, lack := range tt.lacks {
				if strings.Contains(all, lack) {
					t.Errorf("%q is on the wire", lack)
				}
			}
		})
	}
}

func documents(parts []llmtest.Part) int {
	n := 0
	for _, p := range parts {
		if p.Kind() == "application" || strings.Contains(p.MediaType, "pdf") {
			n++
		}
	}
	return n
}

// TestTools_changesAreInTheRecord lets a model work on files: what it did stands in the vault and in the run's record.
func TestTools_changesAreInTheRecord(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[1], "      capabilities: [text, tools]\n",
		calls("list_files", `{}`, "search_files", `{"query":"call"}`, "read_file", `{"path":"Tasks"}`),
		calls("edit_file", `{"path":"Tasks.md","old_text":"- [ ] call","new_text":"- [x] call"}`, "append_file", `{"path":"Log","content":"called\n"}`,
			"move_file", `{"from":"Inbox/a.md","to":"Notes/"}`, "write_file", `{"path":"../out.md","content":"x"}`, "edit_file", `{"path":"Workflows/Do.md","old_text":"Do","new_text":"x"}`),
		says("Done."))
	b.write("Tasks.md", "# Tasks\r\n- [ ] call\r\n- [ ] write\r\n")
	b.write("Inbox/a.md", "a\n")
	flow := "## Do\n@tools list_files, search_files, read_file, write_file, edit_file, append_file, move_file\n@output file: Out\n\nDo it.\n"
	b.write("Workflows/Do.md", flow)
	out, _ := b.run(exitDone, "check", "--json")
	if strings.Contains(out, "VF") {
		t.Errorf("check: %s", out)
	}
	out, said := b.run(exitDone, "run", "Do")
	if !strings.Contains(out+said, "moved Inbox/a.md to Notes/a.md with move_file") {
		t.Errorf("the command does not say what the tools did:\n%s%s", out, said)
	}
	for name, want := range map[string]string{
		"Tasks.md": "# Tasks\r\n- [x] call\r\n- [ ] write\r\n", "Log.md": "called\n", "Notes/a.md": "a\n", "Workflows/Do.md": flow,
	} {
		if data, err := os.ReadFile(filepath.Join(b.dir, "vault", name)); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v; want %q", name, data, err, want)
		}
	}
	all := texts(b.server.Requests()[2].Parts)
	for _, want := range []string{"Tasks.md:2: - [ ] call", "     2\t- [ ] call", "changed Tasks.md at line 2", "moved Inbox/a.md to Notes/a.md", ". and .. are not allowed", "is the workflow itself"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not on the wire:\n%s", want, all)
		}
	}
	out, _ = b.run(exitDone, "runs", "--json", "--limit", "1")
	var run struct{ Changes []engine.Change }
	if err := json.Unmarshal([]byte(out), &run); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, c := range run.Changes {
		kinds = append(kinds, c.Kind+" "+c.Name)
		if c.Kind == "write" && (c.Before == "" || c.After == "" || c.Before == c.After) {
			t.Errorf("a change without its contents: %+v", c)
		}
	}
	if got := strings.Join(kinds, ", "); got != "write Tasks.md, create Log.md, move Inbox/a.md" {
		t.Errorf("changes: %s\n%s", got, out)
	}
}

// TestTools_resultsGoElsewhere sends results to a variable that the next step reads, and to a file.
func TestTools_resultsGoElsewhere(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[0], "      capabilities: [text, tools]\n",
		calls("list_files", `{"glob":"*.md"}`, "read_file", `{"path":"Note.md"}`, "read_variable", `{"action":"read","name":"files"}`), says("First."), says("Second."))
	b.write("Note.md", "Words of the note.\n")
	b.write("Workflows/Do.md", "## One\n@tools list_files (output=variable: files, write_mode=replace), read_file (output=file: Seen)\n@output file: One\n\nLook.\n\n"+
		"## Two\n@input variable: files\n@output file: Two\n\nSum up.\n")
	b.run(exitDone, "run", "Do")
	requests := b.server.Requests()
	if all := texts(requests[1].Parts); strings.Contains(all, "Words of the note") || !strings.Contains(all, "is in the variable files]") || !strings.Contains(all, "     1\tNote.md  19 bytes") {
		t.Errorf("the model was told:\n%s", all)
	}
	if all := texts(requests[2].Parts); !strings.Contains(all, "Note.md  19 bytes") {
		t.Errorf("the second step was told:\n%s", all)
	}
	b.holds("Seen.md", "     1\tWords of the note.\n")
	b.holds("One.md", "First.\n")
}
