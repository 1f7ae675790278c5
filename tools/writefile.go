package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vaultflow/vaultflow/content"
)

// Names of the tools that write texts.
const (
	WriteFile  = "write_file"
	AppendFile = "append_file"
)

const writeParameters = `{"type":"object","properties":{` +
	`"path":{"type":"string","minLength":1,"description":"The file, from the vault's root; without an extension it is a note (.md)."},` +
	`"content":{"type":"string","description":"The text."}` +
	`},"required":["path","content"],"additionalProperties":false}`

type writeInput struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
}

func readWrite(input json.RawMessage) (writeInput, error) {
	in, err := parse[writeInput](input, `{"path": "Notes/plan.md", "content": "# Plan\n"}`)
	switch {
	case err != nil:
		return in, err
	case in.Content == nil:
		return in, errors.New("content is missing: write the text")
	case len(*in.Content) > maxContent:
		return in, fmt.Errorf("content has %s; %s go into one call", content.FormatSize(int64(len(*in.Content))), content.FormatSize(maxContent))
	}
	return in, nil
}

// WriteTool is write_file. It makes new files only.
func (w *Writer) WriteTool() Tool {
	return Tool{
		Name: WriteFile, Effect: EffectWrite, Parameters: json.RawMessage(writeParameters), Run: w.write,
		Description: "Makes a new text in the vault, with the folders on the way to it. A file that is there stays as it is: edit_file and append_file change it.",
	}
}

func (w *Writer) write(ctx context.Context, input json.RawMessage) content.ToolResult {
	in, err := readWrite(input)
	if err != nil {
		return Failed("%v", err)
	}
	name, err := w.target(in.Path)
	if err != nil {
		return Failed("%v", err)
	}
	text := *in.Content
	return w.change(ctx, name, func(_ []byte, _ string, there bool) (Change, error) {
		if there {
			return Change{}, fmt.Errorf("%s is there already: edit_file and append_file change it, or choose another name", name)
		}
		return Change{Kind: ChangeCreate, Name: name, Data: []byte(text), Said: "made " + name + ", " + lineCount([]byte(text))}, nil
	})
}

// AppendTool is append_file.
func (w *Writer) AppendTool() Tool {
	return Tool{
		Name: AppendFile, Effect: EffectWrite, Parameters: json.RawMessage(writeParameters), Run: w.append,
		Description: "Adds a text at the end of a file, on a line of its own. A file that is not there is made.",
	}
}

func (w *Writer) append(ctx context.Context, input json.RawMessage) content.ToolResult {
	in, err := readWrite(input)
	if err != nil {
		return Failed("%v", err)
	}
	name, err := w.target(in.Path)
	switch {
	case err != nil:
		return Failed("%v", err)
	case *in.Content == "":
		return Failed("content is empty: there is nothing to append")
	}
	return w.change(ctx, name, func(data []byte, sha string, there bool) (Change, error) {
		if !there {
			return Change{Kind: ChangeCreate, Name: name, Data: []byte(*in.Content), Said: "made " + name + ", " + lineCount([]byte(*in.Content))}, nil
		}
		if bytes.IndexByte(data, 0) >= 0 {
			return Change{}, fmt.Errorf("%s is no text in UTF-8: it cannot be appended to", name)
		}
		next := appended(data, *in.Content)
		return Change{Kind: ChangeWrite, Name: name, Data: next, Base: sha, Said: "appended to " + name + ", which has " + lineCount(next) + " now"}, nil
	})
}

// appended is a text with another one behind it, on a line of its own, with the line ends of the first.
func appended(data []byte, text string) []byte {
	end := lineEnd(data)
	next := bytes.Clone(data)
	if len(next) > 0 && next[len(next)-1] != '\n' {
		next = append(next, end...)
	}
	return append(next, withEnds(text, end)...)
}

func lineCount(data []byte) string {
	switch n := len(splitLines(string(data))); n {
	case 1:
		return "1 line"
	default:
		return fmt.Sprintf("%d lines", n)
	}
}
