package ingestion

import (
	"context"
	"io"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/charset"
	"github.com/vaultflow/vaultflow/ingestion/export"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// textFile copies text into the note: notes and plain text as they are, everything else as a code block.
type textFile struct{}

func (textFile) name() string { return "text" }

func (textFile) extract(ctx context.Context, w *work) error {
	if w.job.Size > w.set.Text.MaxBytes {
		return keeper{}.extract(ctx, w)
	}
	if _, ok, err := w.store.document(); err != nil || ok {
		if err != nil {
			return err
		}
		if _, ok, err := w.store.page(1); err != nil || ok {
			return err
		}
	}
	file, size, err := w.im.open(w.job.at())
	if err != nil {
		return fault.Storage("open "+w.job.at(), err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.NewSectionReader(file, 0, min(size, w.set.Text.MaxBytes)))
	if err != nil {
		return fault.Storage("read "+w.job.at(), err)
	}
	return copyText(ctx, w, data)
}

func copyText(ctx context.Context, w *work, data []byte) error {
	d := charset.Decode(data)
	rec := w.store.begin(manifest.Document{Pages: 1})
	if remark := d.Remark(); remark != "" {
		rec.Warnings = append(rec.Warnings, remark)
	}
	if w.job.Route.MediaType == "text/markdown" {
		rec.Warnings = append(rec.Warnings, bounded(missingFrom(d.Text, w.job.base()), "%d more pictures are not there")...)
	}
	if err := save(ctx, w.store.records, documentName, rec); err != nil {
		return err
	}
	if _, err := w.store.missing(1); err != nil {
		return err
	}
	w.store.tally = tally{pages: 1}
	p := manifest.Page{N: 1, Status: manifest.PageDone, Text: &manifest.PageText{Source: manifest.TextNone}}
	if md := asMarkdown(d.Text, w.job.Route.MediaType); md != "" {
		if err := (pageFiles{w: w}).keepText(ctx, &p, md, manifest.TextLayer); err != nil {
			return err
		}
	}
	return w.store.finish(ctx, p)
}

// missingFrom lists what a note that came alone shows.
func missingFrom(text, name string) []string {
	var lines []string
	for _, what := range export.New([]string{name}).Note(text, 0).Missing {
		lines = append(lines, missingLine(name, what))
	}
	return lines
}

// fenceNames maps media types to the languages of code blocks.
var fenceNames = map[string]string{
	"application/json": "json", "application/jsonl": "json", "application/x-ndjson": "json", "application/geo+json": "json",
	"application/yaml": "yaml", "application/x-yaml": "yaml", "application/toml": "toml", "application/xml": "xml", "text/xml": "xml",
	"text/csv": "csv", "text/tab-separated-values": "csv", "text/x-ini": "ini", "text/x-tex": "latex", "application/x-tex": "latex",
	"text/x-bibtex": "bibtex", "text/x-rst": "rst", "text/x-org": "org", "text/x-go": "go", "text/x-python": "python",
	"text/javascript": "javascript", "application/javascript": "javascript", "text/x-typescript": "typescript", "text/x-java": "java",
	"text/x-c": "c", "text/x-c++": "cpp", "text/x-rust": "rust", "text/x-ruby": "ruby", "text/x-shellscript": "bash", "application/x-sh": "bash",
	"text/x-sql": "sql", "application/sql": "sql", "text/css": "css", "text/x-lua": "lua", "text/x-r": "r",
}

// asMarkdown returns a text file as part of a note.
func asMarkdown(s, mediaType string) string {
	switch mediaType {
	case "text/markdown":
		return markdown.Note(s)
	case "text/plain":
		return markdown.Sanitise(markdown.FromOCR(s)) // lines stay lines, and nothing is markup
	}
	if strings.TrimSpace(s) == "" {
		return ""
	}
	name := fenceNames[mediaType]
	if name == "" {
		name = "text"
	}
	return markdown.Fenced(s, name)
}
