package ingestion

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
)

// edited imports a document, lets edit change its note as a person would, imports a new version, and gives the new note.
func edited(t *testing.T, edit func(note string) string) string {
	t.Helper()
	b := newBench(t, extract.Document{Pages: 1, Title: "Old title", Author: "Ada"})
	first := b.drop("imp-1", "Import/q3.pdf", []byte("%PDF-1.4\nolder"))
	first.Settings.Tags = []string{"from/folder", "leaving"}
	made, _ := b.mustRun(first)
	was := b.read(made.Note)
	is := edit(was)
	if is == was {
		t.Fatalf("nothing was edited in\n%s", was)
	}
	b.vault.Put(made.Note, is)
	b.worker.doc.Title = "New title"
	second := b.drop("imp-2", "Import/q3.pdf", pdfBytes)
	second.Settings.Tags = []string{"from/folder", "arriving"}
	made, _ = b.mustRun(second)
	return b.read(made.Note)
}

func replaced(old, with string) func(string) string {
	return func(note string) string { return strings.Replace(note, old, with, 1) }
}

func TestRegenerate_keepsWhatAPersonWrote(t *testing.T) {
	t.Parallel()
	const mine = "My own words, *kept*.\n\n- [ ] a task\n"
	for name, c := range map[string]struct {
		edit   func(string) string
		has    []string
		hasNot []string
	}{
		"below":       {func(n string) string { return n + mine }, []string{indexnote.End + "\n" + mine}, nil},
		"above":       {replaced(indexnote.Begin, mine+indexnote.Begin), []string{"---\n" + mine + indexnote.Begin}, nil},
		"no line end": {func(n string) string { return n + "last words" }, []string{indexnote.End + "\nlast words"}, nil},
		"inside":      {replaced("imported 21", "INSIDE imported 21"), nil, []string{"INSIDE"}},
		"CRLF": {
			func(n string) string { return strings.ReplaceAll(n+mine, "\n", "\r\n") },
			[]string{strings.ReplaceAll(indexnote.End+"\n"+mine, "\n", "\r\n"), "---\r\ntitle: New title\r\n"},
			[]string{"\r\r"},
		},
		"BOM":             {func(n string) string { return "\ufeff" + n + mine }, []string{indexnote.End + "\n" + mine, "title: New title\n"}, []string{"\ufeff"}},
		"moved down":      {func(n string) string { return moved(n, mine) }, []string{"---\n" + mine + indexnote.Begin}, nil},
		"spaces at marks": {replaced(indexnote.End, indexnote.End+"  \n"+mine), []string{indexnote.End + "\n" + mine}, []string{"Old title"}},
		"begin deleted":   {replaced(indexnote.Begin, mine), []string{mine, "Old title"}, nil},
		"end deleted":     {replaced(indexnote.End, mine), []string{mine, "Old title"}, nil},
		"both deleted": {
			func(n string) string {
				return strings.NewReplacer(indexnote.Begin, mine, indexnote.End, "tail").Replace(n)
			},
			[]string{mine, "tail", "Old title"},
			nil,
		},
		"doubled": {
			func(n string) string { return n + "between\n" + n[strings.Index(n, indexnote.Begin):] + mine },
			[]string{indexnote.End + "\nbetween\n" + mine},
			[]string{"Old title"},
		},
		"marks swapped": {func(n string) string {
			return strings.NewReplacer(indexnote.Begin, indexnote.End, indexnote.End, indexnote.Begin).Replace(n) + mine
		}, []string{mine, "Old title"}, nil},
		"begin twice": {replaced(indexnote.Begin, indexnote.Begin+"\nbetween\n"+indexnote.Begin), []string{"between\n" + indexnote.Begin}, []string{"Old title"}},
		"emptied":     {func(string) string { return "" }, nil, nil},
		"only text":   {func(string) string { return mine }, []string{"---\n" + mine + indexnote.Begin}, nil},
		"front alone": {func(string) string { return "---\nmine: 1\n---" }, []string{"mine: 1\n"}, []string{"\n---\n---", "```"}},
		"rule first":  {func(string) string { return "---\nno properties, a rule\n" }, []string{"no properties, a rule\n"}, nil},

		"added property":   {replaced("source_type:", "rating: 5 # stars\nsource_type:"), []string{"rating: 5 # stars\nsource_type: pdf"}, nil},
		"reordered":        {replaced("title: Old title\n", "mine:\n  deep: [1, two]\nsource_type: x\ntitle: Old title\n"), []string{"---\nmine:\n  deep: [1, two]\nsource_type: pdf\ntitle: New title\n"}, nil},
		"own title":        {replaced("title: Old title", "title: Mine"), []string{"title: Mine\n", "# New title"}, []string{"title: New"}},
		"own facts":        {replaced("author: Ada\n", "author: Ada\nlanguages: [nb]\nsha256: mine\n"), []string{"languages: [nb]\nsha256: mine\n"}, nil},
		"own cover":        {replaced("author: Ada\n", "author: Ada\ncover: mine.png\n"), []string{"cover: mine.png\n"}, []string{"page_0001.png]]'"}},
		"author removed":   {replaced("author: Ada\n", ""), nil, []string{"author:"}},
		"fact changed":     {replaced("source_type: pdf", "source_type: book"), []string{"source_type: pdf"}, []string{"book"}},
		"tag added":        {replaced("leaving]", "leaving, mine]"), []string{"tags: [imported/pdf, from/folder, mine, arriving]"}, nil},
		"tag removed":      {replaced("imported/pdf, ", ""), []string{"tags: [from/folder, arriving]"}, nil},
		"tags removed":     {replaced("tags: [imported/pdf, from/folder, leaving]\n", ""), []string{"tags: [arriving]"}, nil},
		"tags as text":     {replaced("tags: [imported/pdf, from/folder, leaving]", "tags: imported/pdf, mine"), []string{"tags: [imported/pdf, mine, arriving]"}, nil},
		"alias added":      {replaced("author: Ada\n", "author: Ada\naliases:\n  - q3\n  - Third quarter\n"), []string{"aliases:\n  - q3\n  - Third quarter\n"}, nil},
		"alias of ours":    {replaced("title: Old title", "title: &t Old title\nmine: *t"), []string{"title: New title", "mine: *t"}, nil},
		"properties twice": {replaced("author: Ada\n", "author: Ada\nauthor: Bob\n"), []string{"author:"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := edited(t, c.edit)
			for _, want := range c.has {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			for _, bad := range c.hasNot {
				if strings.Contains(got, bad) {
					t.Errorf("%q is in\n%s", bad, got)
				}
			}
			wellFormed(t, strings.ReplaceAll(got, "\r\n", "\n"))
		})
	}
}

// moved is the note with its block behind what a person wrote.
func moved(note, mine string) string {
	i := strings.Index(note, indexnote.Begin)
	return note[:i] + mine + note[i:]
}

// wellFormed checks that a note has properties that can be read, once each, and one block.
func wellFormed(t *testing.T, note string) {
	t.Helper()
	front, body, found := indexnote.CutFront(note)
	var properties map[string]any
	if err := yaml.Unmarshal([]byte(front), &properties); !found || err != nil || properties["source_type"] != "pdf" {
		t.Errorf("properties: %v, %v in\n%s", properties, err, note)
	}
	if strings.Count(body, indexnote.Begin) != 1 || strings.Count(body, indexnote.End) != 1 {
		t.Errorf("not one block in\n%s", note)
	}
}

// A note that is written anew from what it holds already stays as it is.
func TestRegenerate_isStable(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 1, Title: "T: \"q\"", Author: "Ada"})
	made, _ := b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
	text := strings.Replace(b.read(made.Note), "author:", "mine: 'x'\nauthor:", 1) + "\nMine.\n"
	m, _ := b.im.manifest(made.Bundle)
	again, err := (&indexnote.Note{Manifest: &m, Bundle: fstest.MapFS{}}).Compose(&indexnote.Previous{Text: text, Manifest: m})
	front, _, _ := strings.Cut(string(again), indexnote.Begin)
	_, below, _ := strings.Cut(string(again), indexnote.End+"\n")
	if err != nil || below != "\nMine.\n" || front != text[:strings.Index(text, indexnote.Begin)] {
		t.Errorf("%v; below %q, front\n%s\nwant\n%s", err, below, front, text)
	}
}

// An alias makes a note findable by its file's name, where the note has another one. A note's own name is no alias.
func TestRegenerate_alias(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 1})
	made, _ := b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
	m, _ := b.im.manifest(made.Bundle)
	for note, want := range map[string]bool{"q3.md": false, "Q3.md": false, "q3 2.md": true, "": true} {
		m.Note = note
		text, err := (&indexnote.Note{Manifest: &m, Bundle: fstest.MapFS{}}).Compose(nil)
		if got := strings.Contains(string(text), "aliases: [q3]"); err != nil || got != want {
			t.Errorf("%q: %v, alias %v, want %v", note, err, got, want)
		}
	}
}

// An import writes properties in the forms that the vault declares, where they convert without loss, also in a later version.
func TestRegenerate_declaredTypes(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 3, Title: "Minutes", Author: "Ada", Created: "2024-05-01T00:00:00"})
	b.vault.Put(".obsidian/types.json", `{"types":{"author":"multitext","pages":"text","created":"date","tags":"tags","imported":"number"}}`)
	for version := range 2 {
		made, _ := b.mustRun(b.drop(fmt.Sprint("imp-", version), "Import/q3.pdf", append([]byte(fmt.Sprint(version)), pdfBytes...)))
		hasAll(t, b.read(made.Note), "author: [Ada]\n", "pages: \"3\"\n", "created: 2024-05-01\n", "tags: [imported/pdf]\n", "imported: 2026-11-21T12:00:00\n", "title: Minutes\n")
	}
}
