package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/content"
)

// EditFile is the name of the tool that replaces a text in a file.
const EditFile = "edit_file"

const editParameters = `{"type":"object","properties":{` +
	`"path":{"type":"string","minLength":1,"description":"Path from the vault's root."},` +
	`"old_text":{"type":"string","minLength":1,"description":"The text to replace, exactly as in the file, without line numbers. It must occur once."},` +
	`"new_text":{"type":"string","description":"The replacement; empty to remove the text."},` +
	`"replace_all":{"type":"boolean","description":"Replace every occurrence of old_text."}` +
	`},"required":["path","old_text","new_text"],"additionalProperties":false}`

type editInput struct {
	Path       string  `json:"path"`
	Old        string  `json:"old_text"`
	New        *string `json:"new_text"`
	ReplaceAll bool    `json:"replace_all"`
}

// EditTool is edit_file.
func (w *Writer) EditTool() Tool {
	return Tool{
		Name: EditFile, Effect: EffectWrite, Parameters: json.RawMessage(editParameters), Run: w.edit,
		Description: "Replaces text in a file. The rest of the file stays, byte for byte.",
	}
}

func (w *Writer) edit(ctx context.Context, input json.RawMessage) content.ToolResult {
	in, err := parse[editInput](input, `{"path": "Notes/plan.md", "old_text": "- [ ] call", "new_text": "- [x] call"}`)
	switch {
	case err != nil:
		return Failed("%v", err)
	case in.Old == "":
		return Failed("old_text is empty: write the text to replace, or add text with append_file")
	case in.New == nil:
		return Failed("new_text is missing: write the replacement, or an empty text")
	case len(in.Old)+len(*in.New) > maxContent:
		return Failed("old_text and new_text may have at most %s together", content.FormatSize(maxContent))
	case in.Old == *in.New:
		return Failed("old_text and new_text are the same")
	}
	name, err := w.File(in.Path)
	if err == nil {
		err = w.writable(name)
	}
	if err != nil {
		return Failed("%v", err)
	}
	return w.change(ctx, name, func(data []byte, sha string, there bool) (Change, error) {
		if !there {
			return Change{}, w.missing(name)
		}
		next, at, err := replaced(data, in.Old, *in.New, in.ReplaceAll)
		if err != nil {
			return Change{}, fmt.Errorf("%s is not changed: %w", name, err)
		}
		return Change{Kind: ChangeWrite, Name: name, Data: next, Base: sha, Said: fmt.Sprintf("changed %s %s", name, lineWords(at))}, nil
	})
}

// replaced returns a file with old replaced by text, once or everywhere, and the lines of the replaced places. In a file with
// Windows line endings old may have plain ones.
func replaced(data []byte, old, text string, all bool) (next []byte, lines []int, err error) {
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, nil, errors.New("it is not UTF-8 text")
	}
	find := []byte(old)
	if !bytes.Contains(data, find) && lineEnd(data) == "\r\n" {
		find, text = []byte(withEnds(old, "\r\n")), withEnds(text, "\r\n")
	}
	lines = linesOf(data, find)
	switch {
	case len(lines) == 0:
		return nil, nil, notFound(data, old)
	case len(lines) > 1 && !all:
		return nil, nil, fmt.Errorf("old_text occurs %d times, %s: include more of the text around it, or set replace_all=true",
			len(lines), lineWords(lines))
	case bytes.Equal(find, []byte(text)):
		return nil, nil, errors.New("old_text and new_text are the same")
	}
	return bytes.ReplaceAll(data, find, []byte(text)), lines, nil
}

// linesOf returns the lines at which a text begins, in order.
func linesOf(data, find []byte) []int {
	var lines []int
	line := 1
	for {
		i := bytes.Index(data, find)
		if i < 0 {
			return lines
		}
		line += bytes.Count(data[:i], []byte("\n"))
		lines = append(lines, line)
		line += bytes.Count(find, []byte("\n"))
		data = data[i+len(find):]
	}
}

// lineWords names up to ten lines.
func lineWords(lines []int) string {
	const most = 10
	words := make([]string, 0, most)
	for _, n := range lines[:min(len(lines), most)] {
		words = append(words, fmt.Sprint(n))
	}
	said := "at line " + strings.Join(words, ", ")
	if len(lines) > most {
		said += " and more"
	}
	return said
}

// notFound returns the probable reason why a file does not contain a text.
func notFound(data []byte, old string) error {
	if n := likeness(data, old); n > 0 {
		return fmt.Errorf("old_text does not match exactly; line %d has it with other white space: read the file again and copy the text without line numbers", n)
	}
	return errors.New("the file does not contain old_text; read it again")
}

// likeness returns the line that contains a text if white space is ignored, or 0.
func likeness(data []byte, old string) int {
	first, _, _ := strings.Cut(strings.TrimSpace(old), "\n")
	want := strings.Join(strings.Fields(first), " ")
	if want == "" {
		return 0
	}
	for i, line := range splitLines(string(data)) {
		if strings.Contains(strings.Join(strings.Fields(line), " "), want) {
			return i + 1
		}
	}
	return 0
}
