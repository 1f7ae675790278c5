//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// tides returns a document of four pages, each with words of its own.
func tides(first string) []byte {
	doc := pdftest.New().TextPage(pdftest.Text(first)...)
	for n := 2; n <= 4; n++ {
		doc = doc.TextPage(pdftest.Text(fmt.Sprintf("The tide of page %d is high.", n))...)
	}
	return doc.Bytes()
}

// A long document is dropped with serve running. Workflows that name its files as older versions did find them, wherever they name
// them, and its note represents all pages in order.
func TestStory_pathsOfOlderBundles(t *testing.T) {
	t.Parallel()
	server := llmtest.NewComposing(t, adapters()[0].wire, llmtest.Limits{}, func(c llmtest.Captured) llmtest.Reply {
		if slices.Contains(c.Tools(), "read_pages") && !slices.ContainsFunc(c.Parts, func(p llmtest.Part) bool { return p.Result != "" }) {
			return llmtest.Reply{Answer: llmtest.Answer{ToolCalls: []llmtest.ToolCall{
				{Name: "read_pages", Input: `{"path":"Imported/Book/index.md","page_start":3,"page_end":4}`},
				{Name: "read_file", Input: `{"path":"Imported/Book/text/page_0002.md"}`},
			}}}
		}
		return says("Seen.")
	})
	s := newSite(t, worker(t), "ingestion: {pdf: {inline_pages: 2}}\nmodels:\n  default: reader\n  aliases: {reader: {provider: lab, model: m, capabilities: [text, tools]}}\n"+
		fmt.Sprintf("providers: {lab: {kind: %s, base_url: %q, api_key_env: LAB_KEY}}\n", adapters()[0].kind, server.URL+adapters()[0].path))
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	s.write("Workflows/Watch.md", note("watch: Imported/*/index.md", "@input trigger\n@output file: Out/Watch {trigger-name}", "Ask WATCH."))
	s.write("Workflows/Broad.md", note("watch: Imported/Book/**/*.md\nruns: each", "@input trigger\n@output file: Out/Broad {trigger-name}", "Ask BROAD."))
	s.write("Notes/Quotes.md", "Mine.\n\n![[Book]]\n")
	for name, d := range map[string]string{
		"When":  "@when changed Imported/*/index.md\n@input file: Imported/Book/index.md (pages=3)\n@output file: Out/When",
		"Pages": "@when exists Imported/Book/text/page_0001.md\n@for_each file: Imported/Book/text/page_*.md (pending, order=name)\n@input file: {item}\n@output file: Out/Pages {item-name}",
		"Item":  "@for_each file: Imported/*/index.md\n@input file: {item}\n@output file: Out/Item {item-name}",
		"Link":  "@input file: [[Imported/Book/index]]\n@output file: Out/Link",
		"Embed": "@input file: Notes/Quotes\n@output file: Out/Embed",
		"Tools": "@tools read_pages, read_file\n@output file: Out/Tools",
	} {
		s.write("Workflows/"+name+".md", note("description: "+name, d, "Ask "+strings.ToUpper(name)+"."))
	}
	s.serve()
	s.Write("Import/Book.pdf", tides("The tide of page 1 is low."))
	s.write("Import/Shop.md", "# Shop\n\nBread.\n")
	s.ended(2)
	if s.Read("Imported/Shop/Shop.md") == "" || s.Read("Imported/Shop/Shop.md.original") != "# Shop\n\nBread.\n" || s.Read("Imported/Book/index.md") != "" {
		t.Errorf("imported: %q", s.Files("Imported", ""))
	}
	shown := func(ask string, words ...string) {
		t.Helper()
		for _, c := range server.Requests() {
			body := string(c.Body)
			if !strings.Contains(body, "Ask "+ask+".") || len(words) > 0 && !strings.Contains(body, words[0]) {
				continue
			}
			at := 0
			for _, word := range words {
				if next := strings.Index(body[at:], word); next < 0 || strings.Count(body, word) != 1 {
					t.Errorf("%s was not shown %q once in its place:\n%s", ask, word, body)
				} else {
					at += next
				}
			}
			return
		}
		t.Errorf("nothing was asked by %s about %q", ask, words)
	}
	whole := []string{"tide of page 1", "tide of page 2", "tide of page 3", "tide of page 4"}
	about := func(workflow string, want ...string) {
		t.Helper()
		var got []string
		for _, r := range s.ran(workflow, len(want)) {
			got = append(got, strings.Join(r.Trigger.Files, " "))
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("the runs of %s are about %q, want %q", workflow, got, want)
		}
	}
	about("Watch", "Imported/Book/Book.md", "Imported/Shop/Shop.md")
	shown("WATCH", whole...)
	about("Broad", "Imported/Book/Book.md")
	shown("BROAD", whole...)
	for _, name := range []string{"When", "Pages", "Item", "Link", "Embed", "Tools"} {
		s.Must("run", name)
		data, err := json.Marshal(s.Runs(name)[0])
		if err != nil || strings.Contains(string(data), "index.md") || strings.Contains(string(data), "/page_0001.md") {
			t.Errorf("the record of %s has names that no file has: %s", name, data)
		}
	}
	shown("WHEN", "tide of page 3")
	shown("ITEM", whole...)
	shown("LINK", whole...)
	shown("EMBED", append([]string{"Mine."}, whole...)...)
	shown("TOOLS")
	last := server.Requests()[len(server.Requests())-1]
	for _, word := range []string{"tide of page 2", "tide of page 3", "tide of page 4"} {
		if !slices.ContainsFunc(last.Parts, func(p llmtest.Part) bool { return p.Result != "" && strings.Contains(p.Text, word) }) {
			t.Errorf("the tools did not return %q:\n%s", word, last.Body)
		}
	}
	for n := 1; n <= 4; n++ {
		shown("PAGES", fmt.Sprintf("tide of page %d", n))
	}
	if s.Read("Out/Item Book.md") == "" || s.Read("Out/Pages page_0004.md") == "" {
		t.Errorf("written: %q", s.Files("Out", ""))
	}
	s.Must("run", "When")
	if r := s.Runs("When")[0]; r.Status != engine.Skipped {
		t.Errorf("a run about an unchanged document ended %s", r.Status)
	}

	s.Write("Import/Book.pdf", tides("The ebb of page 1 is over."))
	about("Watch", "Imported/Book/Book.md", "Imported/Book/Book.md", "Imported/Shop/Shop.md")
	shown("WATCH", "ebb of page 1", "tide of page 2")
	if out := s.Must("run", "When"); s.Runs("When")[0].Status != engine.Done {
		t.Errorf("a run about a new version: %s", out)
	}
	if s.Read("Imported/Book (version 1)/Book.md") == "" || s.Read("Imported/Book/index.md") != "" {
		t.Errorf("imported: %q", s.Files("Imported", ".md"))
	}
}
