//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// document puts an import into the vault: one page for each label, with its text. pdf is the name of its original, "" for none.
func (b *bench) document(dir, pdf string, labels []string, texts map[int]string) {
	b.t.Helper()
	m := manifest.Manifest{Version: manifest.Version, Source: manifest.Source{Name: pdf, Kind: filetype.KindPDF}, Document: manifest.Document{Pages: len(labels)}}
	note := "---\nsource_type: pdf\n---\n%% vaultflow:begin %%\n# " + filepath.Base(dir) + "\n"
	for i, label := range labels {
		n := i + 1
		name := fmt.Sprintf("text/page_%04d.md", n)
		text := texts[n]
		if text == "" {
			text = fmt.Sprintf("Words of page %d of %s.", n, dir)
		}
		b.write(dir+"/"+name, text+"\n")
		m.Pages = append(m.Pages, manifest.Page{N: n, Label: label, Status: manifest.PageDone, Text: &manifest.PageText{Path: name, Chars: len(text), Source: manifest.TextLayer}})
		note += fmt.Sprintf("\n## Page %d\n\n%s, page %d ^p%d\n\n%s\n", n, filepath.Base(dir), n, n, text)
	}
	if pdf == "" {
		m.Source.Name = filepath.Base(dir) + ".pdf" // not kept
	} else {
		b.write(dir+"/"+pdf, "%PDF-1.4\n")
	}
	data, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	b.write(dir+"/manifest.json", string(data))
	b.write(dir+"/index.md", note+"\n%% vaultflow:end %%\n")
}

// library has a workbook with a Roman preface, a reader without labels and without a PDF, and an atlas that nobody is shown.
func (b *bench) library() {
	b.t.Helper()
	b.document("Imported/Workbook", "Workbook.pdf", []string{"i", "ii", "1", "2", "3", "4", "5", "6"}, map[int]string{
		3: "An eigen-\nvalue is a number λ with Av = λv.", 5: "Nothing is known of the ﬁrst case.",
	})
	b.document("Imported/Reader", "", make([]string, 4), nil)
	b.document("Imported/Old/Atlas", "Atlas.pdf", make([]string, 3), nil)
}

const citing = `## Notes
@cite %s
@input file: Imported/Workbook/index.md (pages=1-6)
@input file: Imported/Reader/index.md
@output file: Out
@write_mode replace

Take notes.
`

func TestCite_pages(t *testing.T) {
	t.Parallel()
	answer := strings.Join([]string{
		"Right [Workbook, p. 1], roman [Workbook, p. ii], counted [Workbook, p. #3].",
		"Unlabelled [Reader, p. 2], a range [Workbook, pp. 1–3], both [Workbook, p. 2; Reader, p. 2].",
		"Gone [Workbook, p. 99], unseen [Workbook, p. 6], elsewhere [Atlas, p. 2], twice [p. 2].",
		"`[Workbook, p. 1]` and [Workbook, p. 3](https://evil.example/?q=1)![Workbook, p. 3]",
		"[Workbook, p. 99]: https://evil.example/?q=2",
	}, "\n\n")
	b := newBench(t, adapters()[0], seeing, says(answer))
	b.library()
	b.write("Workflows/Look.md", fmt.Sprintf(citing, "pages"))
	b.run(exitDone, "run", "Look")
	body := string(b.server.Requests()[0].Body)
	if !strings.Contains(body, "[Workbook, pp. 12–14]") || strings.Contains(body, "Each quotation is looked up") {
		t.Errorf("the prompt does not explain the form: %.900s", body)
	}
	b.holds("Out.md", strings.Join([]string{
		"Right [[Workbook.pdf#page=3|Workbook, p. 1]], roman [[Workbook.pdf#page=2|Workbook, p. ii]], counted [[Workbook.pdf#page=3|Workbook, p. 1]].",
		"Unlabelled [[Reader/index#^p2|Reader, p. 2]], a range [[Workbook.pdf#page=3|Workbook, pp. 1–3]], both [[Workbook.pdf#page=4|Workbook, p. 2]]; [[Reader/index#^p2|Reader, p. 2]].",
		"Gone [Workbook, p. 99] [page not found], unseen [[Workbook.pdf#page=8|Workbook, p. 6]] [page not shown], elsewhere [[Atlas.pdf#page=2|Atlas, p. 2]] [page not shown], twice [p. 2] [page not found].",
		"`[Workbook, p. 1]` and [Workbook, p. 3]⟦⟧(https⟦⟧://evil.example/?q=1)! [[Workbook.pdf#page=5|Workbook, p. 3]]",
		"[Workbook, p. 99]⟦⟧: https⟦⟧://evil.example/?q=2",
	}, "\n\n")+"\n")
	shown, _ := b.run(exitDone, "show", b.runsOf("Look")[0].ID)
	for _, want := range []string{
		"page references checked: 12, marked: 4", "marked [Workbook, p. 99] [page not found]: Workbook has no page 99",
		"marked [Workbook, p. 6] [page not shown]: the model was not shown p. 6 of Workbook", "several documents fit: Imported/Workbook, Imported/Reader",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("show does not say %q:\n%s", want, shown)
		}
	}
	out, _ := b.run(exitDone, "show", b.runsOf("Look")[0].ID, "--json")
	if !strings.Contains(out, `"mark":"[page not shown]"`) {
		t.Errorf("the record has no marks: %s", out)
	}
}

func TestCite_quotes(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[0], seeing, says(strings.Join([]string{
		"“An eigenvalue is a number” [Workbook, p. 1], “Nothing is known of the first case” [Workbook, p. 3].",
		"“An eigenvalue is a vector” [Workbook, p. 1] and “Words of page 2” [Reader, p. 3].",
		"- “nobody has ever said this” is loose.",
	}, "\n\n")))
	b.library()
	b.write("Workflows/Look.md", fmt.Sprintf(citing, "quotes"))
	b.run(exitDone, "run", "Look")
	if !strings.Contains(string(b.server.Requests()[0].Body), "Each quotation is looked up") {
		t.Error("the prompt does not ask for quotations")
	}
	b.holds("Out.md", strings.Join([]string{
		"“An eigenvalue is a number” [[Workbook.pdf#page=3|Workbook, p. 1]], “Nothing is known of the first case” [[Workbook.pdf#page=5|Workbook, p. 3]].",
		"“An eigenvalue is a vector” [quotation not found] [[Workbook.pdf#page=3|Workbook, p. 1]] and “Words of page 2” [quotation not found] [[Reader/index#^p3|Reader, p. 3]].",
		"- “nobody has ever said this” [quotation without page] is loose.",
	}, "\n\n")+"\n")
	shown, _ := b.run(exitDone, "show", b.runsOf("Look")[0].ID)
	if !strings.Contains(shown, "quotations: 5, marked: 3") {
		t.Errorf("show says\n%s", shown)
	}
}

// TestCite_throughOutputs: pages count as shown that an earlier step was shown, in this run or, by its links, in another one; and what
// tools have shown.
func TestCite_throughOutputs(t *testing.T) {
	t.Parallel()
	b := newBench(
		t, adapters()[0], "      capabilities: [text, vision, tools]\n",
		says("A summary."), says("So [Workbook, p. 1], not [Workbook, p. 6]."), // both steps of the first run
		says("Again [Workbook, p. 1], not [Workbook, p. 2]."), // a run that reads the note
		llmtest.Reply{Answer: llmtest.Answer{ToolCalls: []llmtest.ToolCall{{Name: "read_pages", Input: `{"path":"Imported/Workbook/index.md","page_start":7,"page_end":8}`}}}},
		says("Now [Workbook, p. 6], not [Workbook, p. 2]."),
	)
	b.library()
	b.write("Workflows/Two.md", `## Summary
@input file: Imported/Workbook/index.md (pages=3)
@output variable: summary

Sum up.

## Plan
@cite pages
@input variable: summary
@output file: Plan
@write_mode section (heading=Plan)

Make a plan.
`)
	b.write("Workflows/Again.md", "## A\n@cite pages\n@input file: Plan\n@output file: Again\n\nGo on.\n")
	b.write("Workflows/Tool.md", "## A\n@cite pages\n@tools read_pages\n@output file: Tool\n\nLook it up.\n")
	b.run(exitDone, "run", "Two")
	b.holds("Plan.md", "## Plan\n\nSo [[Workbook.pdf#page=3|p. 1]], not [[Workbook.pdf#page=8|p. 6]] [page not shown].\n")
	b.run(exitDone, "run", "Again")
	b.holds("Again.md", "Again [[Workbook.pdf#page=3|p. 1]], not [[Workbook.pdf#page=4|p. 2]] [page not shown].\n")
	b.run(exitDone, "run", "Tool")
	b.holds("Tool.md", "Now [[Workbook.pdf#page=8|p. 6]], not [[Workbook.pdf#page=4|p. 2]] [page not shown].\n")
}

// TestCite_properties: the strings of properties may have links. The quotation marks of JSON are no quotations.
func TestCite_properties(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[0], seeing, says(`{"source": "[Workbook, p. 1]", "pages": ["[Workbook, p. 99]"]}`))
	b.library()
	b.write("Out.md", "Mine.\n")
	b.write("Workflows/Look.md", strings.Replace(fmt.Sprintf(citing, "quotes"), "replace", "frontmatter", 1))
	b.run(exitDone, "run", "Look")
	got, err := os.ReadFile(filepath.Join(b.dir, "vault", "Out.md"))
	if err != nil || !strings.Contains(string(got), `[[Workbook.pdf#page=3|p. 1]]`) || !strings.Contains(string(got), "[Workbook, p. 99] [page not found]") || !strings.HasSuffix(string(got), "Mine.\n") {
		t.Errorf("the note is %q (%v)", got, err)
	}
}

// TestCite_sameName: links lead to the right one of two documents with the same name.
func TestCite_sameName(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[0], seeing, says("[Physics/Workbook, p. 1] and [Maths/Workbook, p. 2], or [Workbook, p. 1]"))
	b.document("Imported/Maths/Workbook", "Workbook.pdf", make([]string, 3), nil)
	b.document("Imported/Physics/Workbook", "Workbook.pdf", make([]string, 3), nil)
	b.write("Workflows/Look.md", "## A\n@cite pages\n@input file: Imported/*/Workbook/index.md\n@output file: Out\n\nx\n")
	b.run(exitDone, "run", "Look")
	b.holds("Out.md", "[[Physics/Workbook/Workbook.pdf#page=1|Workbook, p. 1]] and [[Maths/Workbook/Workbook.pdf#page=2|Workbook, p. 2]], or [Workbook, p. 1] [page not found]\n")
}

// TestCite_refused: check refuses @cite for data, and the run never begins.
func TestCite_refused(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[0], seeing)
	b.write("Workflows/Look.md", "## A\n@cite pages\n@output file: out.json\n\nx\n")
	if out, said := b.run(exitInvalid, "check"); !strings.Contains(out+said, "VF157") {
		t.Errorf("check says %s%s", out, said)
	}
	b.run(exitInvalid, "run", "Look")
}

// TestServe_citesAnImport: a workbook with a Roman preface is dropped, and the run that it starts cites it. The run waits for approval
// while serve is killed; what is approved and written has the links and the marks, and the model is asked once.
func TestServe_citesAnImport(t *testing.T) {
	t.Parallel()
	server := llmtest.NewServer(t, adapters()[0].wire,
		says("Preface [Workbook, p. ii], “vectors keep their direction” [Workbook, p. 1], “vectors lose it” [Workbook, p. 1], unseen [Workbook, p. 2], gone [Workbook, p. 4]."))
	s := newSite(t, worker(t), "models:\n  default: seer\n  aliases: {seer: {provider: lab, model: m, capabilities: [text]}}\n"+
		fmt.Sprintf("providers: {lab: {kind: %s, base_url: %q, api_key_env: LAB_KEY}}\n", adapters()[0].kind, server.URL+adapters()[0].path))
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	s.write("Workflows/Cite.md", note(`on_import: "*.pdf"`,
		"@cite quotes\n@approve outputs\n@input file: Imported/Workbook/index.md (pages=1-3, required)\n@output file: Out/Cited", "Take notes."))
	d := s.serve()
	s.Write("Import/Workbook.pdf", pdftest.New().RomanLabels(2).
		TextPage(pdftest.Text("Preface of the book, one.")...).TextPage(pdftest.Text("Preface of the book, two.")...).
		TextPage(pdftest.Text("Some vectors keep their di-", "rection under a map.")...).TextPage(pdftest.Text("The second chapter is not shown.")...).Bytes())
	waits := func() (bool, string) {
		runs := s.Runs("Cite")
		return len(runs) == 1 && runs[0].Status == engine.AwaitingApproval, fmt.Sprint(runs)
	}
	s.Wait(patience, "an approval", waits)
	d.Kill()
	s.serve()
	run := s.Runs("Cite")[0].ID
	if out := s.Must("approvals", run); !strings.Contains(out, "[[Workbook.pdf#page=3|p. 1]]") || !strings.Contains(out, "[page not found]") {
		t.Errorf("the approval does not show the links: %s", out)
	}
	s.Must("approve", run)
	s.ran("Cite", 1)
	want := "Preface [[Workbook.pdf#page=2|p. ii]], “vectors keep their direction” [[Workbook.pdf#page=3|p. 1]], “vectors lose it” [quotation not found] [[Workbook.pdf#page=3|p. 1]], " +
		"unseen [[Workbook.pdf#page=4|p. 2]] [page not shown], gone [Workbook, p. 4] [page not found].\n"
	if got := s.Read("Out/Cited.md"); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if n := len(server.Requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
	if out := s.Must("show", run); !strings.Contains(out, "page references checked: 5, quotations: 2, marked: 3") {
		t.Errorf("show says %s", out)
	}
}

// TestCite_batches: each batch of an @for_each is checked against what it was shown itself, also when its text is appended.
func TestCite_batches(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[0], seeing, says("[Workbook, p. 1]"), says("[Workbook, p. 1], [Reader, p. 4]"))
	b.library()
	b.write("Workflows/Look.md", "## A\n@cite pages\n@for_each file: Imported/*/index.md (order=name, dir=desc)\n@input file: {item}\n@output file: Out\n\nx\n")
	b.run(exitDone, "run", "Look")
	b.holds("Out.md", "[[Workbook.pdf#page=3|p. 1]]\n\n[[Workbook.pdf#page=3|Workbook, p. 1]] [page not shown], [[Reader/index#^p4|Reader, p. 4]]\n")
	if r := b.runsOf("Look")[0]; len(r.Steps) != 1 || r.Steps[0].Citations.Pages != 3 || len(r.Steps[0].Citations.Marked) != 1 {
		t.Errorf("the record is %+v", r.Steps)
	}
}
