package ingestion

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

const ownLayout = "---\nstatus: unread\nsource_type: mine\ntags: [to/read]\n---\n## {{title}} by {{ author }}\n{{file}}\n\n{{outline}}\n" +
	"{{#pages}}\n### p. {{page}} of {{page_count}} {{label}}\n{{link}}\n{{image}}\n{{remarks}}\n{{text}}\n{{/pages}}\nend of {{source_type}} { not }} a placeholder\n"

func TestTemplate_laysOutTheNote(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	b.vault.Put("Templates/Own.md", ownLayout)
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	j.Settings.Template = "Templates/Own.md"
	made, _ := b.mustRun(j)
	note := b.read(made.Note)
	hasAll(t, note, "status: unread\n", "source_type: pdf\n", "tags: [to/read, imported/pdf]\n",
		indexnote.Begin+"\n## Quarterly: 100% \"growth\" by Ingrid Nordli\n[[./q3.pdf|q3.pdf]]\n\n## Contents\n",
		"### p. 2 of 4 \n[[./q3.pdf#page=2|q3.pdf, page 2]] ^p2\n![[./pages/page_0002.png]]\n\n### Chapter 2\n\nText of page 2.\n",
		"end of pdf { not }} a placeholder\n"+indexnote.End)
	if strings.Contains(note, "imported 21") || len(must(b.im.manifest(made.Bundle)).Import.Warnings) != 0 {
		t.Errorf("the built-in layout, or a warning:\n%s", note)
	}

	kept := strings.Replace(note, "status: unread", "status: read", 1) + "My words.\n"
	b.vault.Put(made.Note, kept)
	j = b.drop("imp-2", "Import/q3.pdf", append(pdfBytes, '\n'))
	j.Settings.Template = "Templates/Own.md"
	made, _ = b.mustRun(j)
	hasAll(t, b.read(made.Note), "status: read\n", indexnote.End+"\nMy words.\n", "### p. 2 of 4")
}

func must(m manifest.Manifest, ok bool) manifest.Manifest {
	if !ok {
		panic("no manifest")
	}
	return m
}

func TestTemplate_bodyOfEveryKind(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"a.txt": "Hello there", "a.html": "<html><body><h1>Hello there</h1><p>And a paragraph of text.</p></body></html>",
		"a.eml": "From: a@example.org\r\nSubject: S\r\n\r\nHello there\r\n", "a.bin": "\x00\x01\x02",
	} {
		b := newBench(t, extract.Document{})
		b.vault.Put("T.md", "Mine: {{body}}\n{{warnings}}")
		j := b.drop("imp-1", "Import/"+name, []byte(data))
		j.Settings.Template = "T.md"
		made, _ := b.mustRun(j)
		want := "Hello there"
		if name == "a.bin" {
			want = "does not read files of this kind"
		}
		hasAll(t, b.read(made.Note), indexnote.Begin+"\nMine: ", want)
	}
}

func TestTemplate_thatCannotBeUsedIsAWarning(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"unknown":     {"a\n\n{{tilte}}", "line 3: there is no {{tilte}}; there are #pages,"},
		"after front": {"---\na: 1\n---\nx\n{{nope}}", "line 5: there is no {{nope}}"},
		"open":        {"{{title", "line 1: {{ without }}"},
		"over lines":  {"{{\ntitle}}", "line 1: {{ without }}"},
		"section":     {"\n{{#pages}} {{text}}", "{{#pages}} has no {{/pages}}"},
		"nested":      {"{{#pages}}{{#pages}}{{/pages}}{{/pages}}", "there is no {{#pages}}"},
		"end alone":   {"{{/pages}}", "there is no {{/pages}}"},
		"outside":     {"{{text}}", "{{text}} is of a page"},
		"marks":       {"%% vaultflow:end %%", "contains a mark of vaultflow"},
		"code":        {"{{range .}}", "there is no {{range .}}"},
		"properties":  {"---\na: b: c\n---\n", "its properties cannot be read"},
		"large":       {strings.Repeat("x", indexnote.MaxLayout+1), "larger than 64 kB"},
		"missing":     {"", "there is no such note"},
		"overflowing": {"{{#pages}}" + strings.Repeat("{{text}}", 100) + "{{/pages}}", "it makes a note of more than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := extract.Document{Pages: 12}
			b := newBench(t, doc)
			if name == "overflowing" {
				b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
					p := goodPage(r)
					if r.Text && r.N == 1 {
						p.Text = layer(strings.Repeat("words ", 200_000))
					}
					return p, nil
				}
			}
			if c.text != "" {
				b.vault.Put("T.md", c.text)
			}
			j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
			j.Settings.Template = "T.md"
			made, _ := b.mustRun(j)
			m := must(b.im.manifest(made.Bundle))
			if len(m.Import.Warnings) != 1 || !strings.Contains(m.Import.Warnings[0], "the template T.md was not used: ") || !strings.Contains(m.Import.Warnings[0], c.want) {
				t.Errorf("warnings %q, want %q", m.Import.Warnings, c.want)
			}
			hasAll(t, b.read(made.Note), "imported 21 November 2026", "> - the template T.md was not used", "## Page 12")
		})
	}
}
