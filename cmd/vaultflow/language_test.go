package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// language is what the settings say of models that do all that the language asks for.
const (
	withTools  = "      capabilities: [text, vision, tools]\n"
	withSchema = "      capabilities: [text, structured_output]\n"
	priced     = "      price: {input: 1, output: 100}\n      max_output_tokens: 1000\n" // a call: $0.10 and a little
)

const planSchema = "```yaml\ntype: object\nrequired: [chapters]\nadditionalProperties: false\nproperties:\n  chapters:\n    type: array\n    items: {type: string}\n```\n"

// TestLanguage_schemaRepair: an answer that does not fit is mended by the model; what is written is the JSON alone.
func TestLanguage_schemaRepair(t *testing.T) {
	forAdapters(t, func(t *testing.T, a adapter) {
		b := newBench(t, a, seeing, says("Here you are: {\"chapters\": [1]}"), says("```json\n{\"chapters\": [1]}\n```"), says("```json\n{\"chapters\": [\"One\"]}\n```"))
		b.write("Workflows/Plan.md", "## Plan\n@schema (retries=2)\n"+planSchema+"@output file: Plan.json (format=json)\n@write_mode replace\n\nWhat is there?\n")
		b.run(exitDone, "run", "Plan")
		b.holds("Plan.json", "{\"chapters\": [\"One\"]}\n")
		requests := b.server.Requests()
		if len(requests) != 3 {
			t.Fatalf("%d requests, want 3", len(requests))
		}
		last := texts(requests[2].Parts)
		if !strings.Contains(last, "the answer is not JSON") || !strings.Contains(last, "at /chapters/0: got number, want string") {
			t.Errorf("the model was not told what was wrong:\n%s", last)
		}
		if requests[0].Schema() != nil || !strings.Contains(string(requests[0].Body), "additionalProperties") {
			t.Errorf("the schema is not in the prompt of a model without structured output")
		}
		b.finish()
	})
}

// TestLanguage_schemaNeverFits: nothing is written, the answer is kept, and the failure says what is wrong.
func TestLanguage_schemaNeverFits(t *testing.T) {
	forAdapters(t, func(t *testing.T, a adapter) {
		b := newBench(t, a, seeing, says(`{"chapters": 5}`))
		b.write("Workflows/Plan.md", "## Plan\n@schema (retries=1)\n"+planSchema+"@output file: Plan.json\n\nWhat is there?\n")
		out, _ := b.run(exitInvalidAnswer, "run", "Plan")
		if b.has("Plan.json") || len(b.server.Requests()) != 2 || !strings.Contains(out, "at /chapters: got number, want array") {
			t.Errorf("written: %t, %d requests\n%s", b.has("Plan.json"), len(b.server.Requests()), out)
		}
	})
}

// TestLanguage_schemaNative: a provider with structured output is given the schema, and the answer is checked all the same.
func TestLanguage_schemaNative(t *testing.T) {
	forAdapters(t, func(t *testing.T, a adapter) {
		b := newBench(t, a, withSchema, says(`{"chapters": [2]}`), says(`{"chapters": ["Two"]}`))
		b.write("Schemas/plan.json", `{"type":"object","required":["chapters"],"additionalProperties":false,"properties":{"chapters":{"type":"array","items":{"type":"string"}}}}`)
		b.write("Workflows/Plan.md", "## Plan\n@schema file: Schemas/plan.json\n@output file: Plan.json (format=json)\n\nWhat is there?\n")
		b.run(exitDone, "run", "Plan")
		b.holds("Plan.json", "{\"chapters\": [\"Two\"]}\n")
		for i, r := range b.server.Requests() {
			if r.Schema() == nil || !json.Valid(r.Schema()) {
				t.Errorf("request %d has no schema:\n%s", i+1, r.Body)
			}
		}
	})
}

// TestLanguage_cache: the second run asks nobody, costs nothing and writes the same; a changed note is asked again.
func TestLanguage_cache(t *testing.T) {
	forAdapters(t, func(t *testing.T, a adapter) {
		b := newBench(t, a, seeing, says("First."), says("Second."))
		b.write("Note.md", "Text.\n")
		b.write("Workflows/Look.md", "## Look\n@cache weekly\n@input file: Note\n@output file: Out\n\nWhat is there?\n")
		b.run(exitDone, "run", "Look")
		out, _ := b.run(exitDone, "run", "Look", "--json")
		b.holds("Out.md", "First.\n\nFirst.\n")
		if n := len(b.server.Requests()); n != 1 {
			t.Errorf("%d requests after two runs, want 1", n)
		}
		if !strings.Contains(out, `"cached":true`) {
			t.Errorf("the record does not say that the answer was kept:\n%s", out)
		}
		b.write("Note.md", "Other text.\n")
		b.run(exitDone, "run", "Look")
		b.holds("Out.md", "First.\n\nFirst.\n\nSecond.\n")
	})
}

// TestLanguage_toolsReadOn: what had no room is read with read_chunks, and is no omission then.
func TestLanguage_toolsReadOn(t *testing.T) {
	forAdapters(t, func(t *testing.T, a adapter) {
		var note strings.Builder
		b := newBench(t, a, withTools,
			llmtest.Reply{Answer: llmtest.Answer{ToolCalls: []llmtest.ToolCall{{Name: "read_chunks", Input: `{"range":"c1-c99"}`}}, Input: 10, Output: 5}},
			says("Seen all."))
		for i := range 4 {
			b.paint(fmt.Sprintf("p%d.png", i), uint8(i))
			fmt.Fprintf(&note, "Text %d.\n\n![[p%d.png]]\n\n", i, i)
		}
		b.write("Note.md", note.String())
		b.write("Workflows/Look.md", "---\nbudget: {max_images: 1}\n---\n"+lookAll)
		b.run(exitDone, "run", "Look")
		requests := b.server.Requests()
		if len(requests) != 2 || len(requests[0].Tools()) != 1 || images(requests[0].Parts) != 1 || images(requests[1].Parts) != 4 {
			t.Fatalf("%d requests, tools %v, pictures %d and %d: want 1 and 4", len(requests), requests[0].Tools(), images(requests[0].Parts), images(requests[len(requests)-1].Parts))
		}
		b.holds("Out.md", "Seen all.\n")
		b.finish()
	})
}

// TestLanguage_budgetRefusesBeforeAnyRequest: max_cost_usd of step, run and settings.
func TestLanguage_budgetRefusesBeforeAnyRequest(t *testing.T) {
	forAdapters(t, func(t *testing.T, a adapter) {
		for name, tt := range map[string]struct {
			more, front, directive string
			code, requests         int
		}{
			"step":     {priced, "", "@budget (max_cost_usd=0.09)\n", exitRefused, 0},
			"run":      {priced, "---\nbudget: {max_cost_usd: 0.09}\n---\n", "", exitRefused, 0},
			"no price": {"", "", "@budget (max_cost_usd=5)\n", exitRefused, 0},
			"enough":   {priced, "", "@budget (max_cost_usd=0.2)\n", exitDone, 1},
		} {
			b := newBench(t, a, seeing+tt.more, says("Seen."))
			b.write("Workflows/Look.md", tt.front+"## Look\n"+tt.directive+"@output file: Out\n\nWhat is there?\n")
			b.run(tt.code, "run", "Look")
			if n := len(b.server.Requests()); n != tt.requests || b.has("Out.md") != (tt.requests > 0) {
				t.Errorf("%s: %d requests, want %d", name, n, tt.requests)
			}
		}
	})
}

// TestLanguage_retry: @retry says how often a failed request is repeated.
func TestLanguage_retry(t *testing.T) {
	forAdapters(t, func(t *testing.T, a adapter) {
		down := llmtest.Reply{Status: 503, Code: "overloaded_error", Message: "overloaded"}
		for _, tt := range []struct {
			directive      string
			code, requests int
		}{
			{"@retry 0\n", exitProvider, 1},
			{"@retry 2 (backoff=1ms)\n", exitDone, 3},
		} {
			b := newBench(t, a, seeing, down, down, says("Up."))
			b.write("Workflows/Look.md", "## Look\n"+tt.directive+"@output file: Out\n\nWhat is there?\n")
			b.run(tt.code, "run", "Look")
			if n := len(b.server.Requests()); n != tt.requests {
				t.Errorf("%s: %d requests, want %d", tt.directive, n, tt.requests)
			}
		}
	})
}

// TestLanguage_timeout: a step that takes longer than it may fails, and writes nothing.
func TestLanguage_timeout(t *testing.T) {
	forAdapters(t, func(t *testing.T, a adapter) {
		hold := make(chan struct{})
		slow := llmtest.Reply{Answer: llmtest.Answer{Deltas: []string{"One ", "two."}, Between: func() { <-hold }}}
		b := newBench(t, a, seeing, slow)
		t.Cleanup(func() { close(hold) }) // before the server ends, which waits for its answers
		b.write("Workflows/Look.md", "## Look\n@timeout 1s\n@output file: Out\n\nWhat is there?\n\n## After\n@model none\n@input file: Workflows/Look.md\n@output file: After\n")
		out, _ := b.run(exitFailed, "run", "Look")
		if b.has("Out.md") || !strings.Contains(out, "the step timed out (1s)") {
			t.Errorf("written: %t\n%s", b.has("Out.md"), out)
		}
	})
}

// TestLanguage_forEach: a request for each batch with its own items; a second run asks for nothing.
func TestLanguage_forEach(t *testing.T) {
	forAdapters(t, func(t *testing.T, a adapter) {
		b := newBench(t, a, seeing, says("A."), says("B."), says("C."))
		for i := range 7 {
			b.write(fmt.Sprintf("Pages/p%d.md", i+1), fmt.Sprintf("Page number %d.\n", i+1))
		}
		b.write("Workflows/Pages.md", "## Pages\n@for_each file: Pages/*.md (pending, batch=3, as=pages)\n@output file: Out/{batch}\n\nWhat is there? {{pages}}\n")
		b.run(exitDone, "run", "Pages")
		for i, want := range []string{"A.\n", "B.\n", "C.\n"} {
			b.holds(fmt.Sprintf("Out/%d.md", i+1), want)
		}
		requests := b.server.Requests()
		if len(requests) != 3 {
			t.Fatalf("%d requests, want 3", len(requests))
		}
		for i, r := range requests {
			for page := 1; page <= 7; page++ {
				has := strings.Contains(texts(r.Parts), fmt.Sprintf("Page number %d.", page))
				if want := (page-1)/3 == i; has != want {
					t.Errorf("request %d holds page %d: %t, want %t", i+1, page, has, want)
				}
			}
		}
		out, _ := b.run(exitDone, "run", "Pages")
		if len(b.server.Requests()) != 3 || !strings.Contains(out, "no items") {
			t.Errorf("%d requests after the second run\n%s", len(b.server.Requests()), out)
		}
		b.finish()
	})
}

// TestLists_pagesToChapters: the pages that a model calls weak are read again, each once.
func TestLists_pagesToChapters(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[0], seeing, says(`["page_0002", "page_0004"]`), says("Two."), says("Four."), says("## One")).withWorker()
	example, err := os.ReadFile("testdata/workflows/Pages to chapters.md")
	if err != nil {
		t.Fatal(err)
	}
	b.write("Workflows/Pages to chapters.md", string(example))
	b.write("Imported/Book/manifest.json", `{"version": 1}`)
	for n := 1; n <= 5; n++ {
		b.paint(fmt.Sprintf("Imported/Book/pages/page_%04d.png", n), uint8(n))
		b.write(fmt.Sprintf("Imported/Book/text/page_%04d.md", n), fmt.Sprintf("Words of page %d.\n", n))
	}
	b.run(exitDone, "run", "Pages to chapters")
	b.holds("Book/pages/page_0002.md", "Two.\n")
	b.holds("Book/pages/page_0004.md", "Four.\n")
	b.holds("Book/Chapters.md", "## One\n")
	requests := b.server.Requests()
	if len(requests) != 4 || images(requests[1].Parts) != 1 || !strings.Contains(texts(requests[2].Parts), "Words of page 4.") {
		t.Errorf("got %d requests, want one for the weak pages, one with the picture of each, and one for the chapters", len(requests))
	}
}
