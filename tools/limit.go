package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
)

// TextOf returns the text of a result without its media: what a file or variable receives. For a result with nothing but data
// it is the JSON.
func TextOf(r content.ToolResult) string {
	var parts []string
	if r.Output != "" {
		parts = append(parts, r.Output)
	}
	for _, b := range r.Blocks {
		if t, ok := b.(content.Text); ok && t.Value != "" {
			parts = append(parts, t.Value)
		}
	}
	if len(parts) == 0 && len(r.Blocks) == 0 {
		return string(r.Data)
	}
	var b strings.Builder
	for i, part := range parts {
		if i > 0 && !strings.HasSuffix(parts[i-1], "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(part)
	}
	return b.String()
}

// WithoutText returns the result with its text replaced by said. Its media stay.
func WithoutText(r content.ToolResult, said string) content.ToolResult {
	media := slices.DeleteFunc(slices.Clone(r.Blocks), func(b content.Block) bool { return b.Type() == content.TypeText })
	r.Output, r.Data = "", nil
	r.Blocks = append([]content.Block{content.Text{Value: said}}, media...)
	return r
}

// CutText returns the result with its text cut at a whole character, followed by a note. All media stay.
func CutText(r content.ToolResult, most int, note string) content.ToolResult {
	size := len(TextOf(r))
	if len(r.Error) > most {
		r.Error = cutText(r.Error, most)
	}
	if size <= most {
		return r
	}
	if note == "" {
		note = fmt.Sprintf("[cut: %s in all]", content.FormatSize(int64(size)))
	}
	left := most - len(note) - 1
	var blocks []content.Block
	add := func(text string) {
		if text = cutText(text, left); text != "" {
			blocks, left = append(blocks, content.Text{Value: text}), left-len(text)
		}
	}
	if r.Output != "" {
		add(r.Output)
	} else if len(r.Blocks) == 0 {
		add(string(r.Data))
	}
	r.Output, r.Data = "", nil
	for _, b := range r.Blocks {
		if t, ok := b.(content.Text); ok {
			add(t.Value)
			continue
		}
		blocks = append(blocks, b)
	}
	r.Blocks = append(blocks, content.Text{Value: "\n" + note})
	return r
}
