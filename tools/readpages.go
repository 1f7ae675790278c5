package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/tools/allowance"
)

// maxTextPages is how many pages are given as text when the model asks for no last one.
const maxTextPages = 20

const readPagesParameters = `{"type":"object","properties":{` +
	`"path":{"type":"string","minLength":1,"description":"The note of an imported document, such as Imported/Workbook/Workbook.md, or the document itself."},` +
	`"page_start":{"type":"integer","minimum":1,"description":"The first page; 1 when missing."},` +
	`"page_end":{"type":"integer","minimum":1,"description":"The last page; as far as a result goes when missing."}` +
	`},"required":["path"],"additionalProperties":false}`

type readPagesInput struct {
	Path      string `json:"path"`
	PageStart int    `json:"page_start"`
	PageEnd   int    `json:"page_end"`
}

// PagesTool is read_pages.
func (r *FileReader) PagesTool() Tool {
	return Tool{
		Name: ReadPages, Parameters: json.RawMessage(readPagesParameters), Run: r.readPages,
		Description: "Reads the text of pages of an imported document, without pictures. Use read_file to see what a page looks like.",
	}
}

func (r *FileReader) readPages(ctx context.Context, input json.RawMessage) content.ToolResult {
	in, err := parse[readPagesInput](input, `{"path": "Imported/Workbook/Workbook.md", "page_start": 3, "page_end": 5}`)
	if err != nil {
		return Failed("%v", err)
	}
	if err := ordered(in.PageStart, in.PageEnd, "page_start", "page_end"); err != nil {
		return Failed("%v", err)
	}
	name, file, failed := r.look(ctx, in.Path)
	switch {
	case file == nil:
		return failed
	case file.Pages == 0:
		return Failed("%s has no pages: use read_file", name)
	}
	return r.pages(ctx, name, *file, in.PageStart, in.PageEnd, true)
}

// pages returns a range of a document's pages, as many as fit, with a note on how to read more.
func (r *FileReader) pages(ctx context.Context, name string, file File, first, last int, textOnly bool) content.ToolResult {
	first = max(first, 1)
	if first > file.Pages {
		return Failed("%s has %d pages; page_start is %d", name, file.Pages, first)
	}
	if last == 0 || last > file.Pages {
		last = file.Pages
	}
	note := ""
	textOnly = textOnly || r.TextOnly
	if !textOnly && r.Media.Spent() {
		textOnly = true
		note = fmt.Sprintf("[as text: the step has received all the pictures it may have (%d)]\n", r.Media.Step)
	}
	blocks, shown, err := r.fitting(ctx, name, View{First: first, Last: last, Pages: true, TextOnly: textOnly})
	if err != nil {
		return Failed("%s cannot be shown: %v", name, plain(err))
	}
	if r.Given != nil {
		r.Given(name, first, shown)
	}
	if note != "" {
		blocks = append([]content.Block{content.Text{Value: note}}, blocks...)
	}
	if first > 1 || shown < file.Pages {
		note := fmt.Sprintf("[pages %d-%d of %d]", first, shown, file.Pages)
		if shown < file.Pages {
			note = fmt.Sprintf("[pages %d-%d of %d; call again with page_start=%d]", first, shown, file.Pages, shown+1)
		}
		blocks = append(blocks, content.Text{Value: note})
	}
	return content.ToolResult{Success: true, Blocks: blocks}
}

// fitting shows as much of a range as fits into one result, at least one page or line; last is the last one shown. The toolbox cuts
// a single one that is too long.
func (r *FileReader) fitting(ctx context.Context, name string, v View) (blocks []content.Block, last int, err error) {
	v.Media = r.Media.Left()
	if v.Pages {
		most := maxTextPages
		if !v.TextOnly {
			most = max(min(v.Media, maxTextPages), 1)
		}
		v.Last = min(v.Last, v.First+most-1)
	}
	for {
		if blocks, err = r.Viewer.Show(ctx, name, v); err != nil {
			return nil, 0, err
		}
		blocks = r.Media.Admit(blocks)
		text, media := allowance.Weight(blocks)
		over := text > room(r.MaxText)-reserve || media > v.Media && !v.TextOnly
		if !over || v.Last == v.First {
			r.Media.Take(blocks)
			return blocks, v.Last, nil
		}
		v.Last = v.First + (v.Last-v.First)/2
	}
}
