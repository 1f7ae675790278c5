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
	`"path":{"type":"string","minLength":1,"description":"Path from the vault's root; a note (.md) unless it has an extension."},` +
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
		return in, errors.New("content is missing")
	case len(*in.Content) > maxContent:
		return in, fmt.Errorf("content has %s; at most %s fit into one call", content.FormatSize(int64(len(*in.Content))), content.FormatSize(maxContent))
	}
	return in, nil
}

// WriteTool is write_file. It only creates files.
func (w *Writer) WriteTool() Tool {
	return Tool{
		Name: WriteFile, Effect: EffectWrite, Parameters: json.RawMessage(writeParameters), Run: w.write,
		Description: "Creates a text file in the vault, and missing folders. Never overwrites: use edit_file or append_file to change a file.",
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
			return Change{}, fmt.Errorf("%s exists: use edit_file or append_file, or choose another name", name)
		}
		return Change{Kind: ChangeCreate, Name: name, Data: []byte(text), Said: "created " + name + ", " + lineCount([]byte(text))}, nil
	})
}

// AppendTool is append_file.
func (w *Writer) AppendTool() Tool {
	return Tool{
		Name: AppendFile, Effect: EffectWrite, Parameters: json.RawMessage(writeParameters), Run: w.append,
		Description: "Adds text at the end of a file, on a new line. Creates the file if it does not exist.",
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
		return Failed("content is empty")
	}
	return w.change(ctx, name, func(data []byte, sha string, there bool) (Change, error) {
		if !there {
			return Change{Kind: ChangeCreate, Name: name, Data: []byte(*in.Content), Said: "created " + name + ", " + lineCount([]byte(*in.Content))}, nil
		}
		if bytes.IndexByte(data, 0) >= 0 {
			return Change{}, fmt.Errorf("%s is not UTF-8 text", name)
		}
		next := appended(data, *in.Content)
		return Change{Kind: ChangeWrite, Name: name, Data: next, Base: sha, Said: "appended to " + name + ", now " + lineCount(next)}, nil
	})
}

// appended returns a text followed by another on a new line, with the line endings of the first.
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
