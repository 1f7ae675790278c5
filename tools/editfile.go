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
	`"path":{"type":"string","minLength":1,"description":"The file, from the vault's root."},` +
	`"old_text":{"type":"string","minLength":1,"description":"The text to replace, exactly as it stands in the file, without line numbers. It must stand there once."},` +
	`"new_text":{"type":"string","description":"What stands there afterwards; empty to remove it."},` +
	`"replace_all":{"type":"boolean","description":"Replace every place where old_text stands."}` +
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
		Description: "Replaces a text in a file by another one. Everything else in the file stays as it is, byte for byte.",
	}
}

func (w *Writer) edit(ctx context.Context, input json.RawMessage) content.ToolResult {
	in, err := parse[editInput](input, `{"path": "Notes/plan.md", "old_text": "- [ ] call", "new_text": "- [x] call"}`)
	switch {
	case err != nil:
		return Failed("%v", err)
	case in.Old == "":
		return Failed("old_text is empty: write the text that is to be replaced; append_file adds at the end")
	case in.New == nil:
		return Failed("new_text is missing: write the text that is to stand there, or an empty one")
	case len(in.Old)+len(*in.New) > maxContent:
		return Failed("old_text and new_text have %s together at most", content.FormatSize(maxContent))
	case in.Old == *in.New:
		return Failed("old_text and new_text are the same")
	}
	name, err := w.file(in.Path)
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

// replaced is a file with old replaced by a new text: once, or everywhere. A text with the line ends of Windows is found
// by one without them. lines are those at which the replaced texts began.
func replaced(data []byte, old, text string, all bool) (next []byte, lines []int, err error) {
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, nil, errors.New("it is no text in UTF-8")
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
		return nil, nil, fmt.Errorf("old_text stands there %d times, %s; write more of what is around the one that is meant, or replace_all=true",
			len(lines), lineWords(lines))
	case bytes.Equal(find, []byte(text)):
		return nil, nil, errors.New("old_text and new_text are the same")
	}
	return bytes.ReplaceAll(data, find, []byte(text)), lines, nil
}

// linesOf are the lines at which a text begins, in order; places do not overlap.
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

// notFound says what may be wrong with a text that does not stand in a file.
func notFound(data []byte, old string) error {
	if n := likeness(data, old); n > 0 {
		return fmt.Errorf("old_text does not stand there exactly; line %d has it with other white space: read the lines again and copy them without their numbers", n)
	}
	return errors.New("old_text does not stand there; read the file again")
}

// likeness is the line at which a text stands when white space does not count; 0 when it does not.
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
