package tools

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/content"
)

// Names of the tools that move and delete.
const (
	MoveFile   = "move_file"
	DeleteFile = "delete_file"
)

const moveParameters = `{"type":"object","properties":{` +
	`"from":{"type":"string","minLength":1,"description":"The file, from the vault's root."},` +
	`"to":{"type":"string","minLength":1,"description":"Its new name, from the vault's root. A name that ends in / is a folder: the file keeps its own name."}` +
	`},"required":["from","to"],"additionalProperties":false}`

type moveInput struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// MoveTool is move_file.
func (w *Writer) MoveTool() Tool {
	return Tool{
		Name: MoveFile, Effect: EffectWrite, Parameters: json.RawMessage(moveParameters), Run: w.move,
		Description: "Gives a file another name or folder. A file that has the new name stays: nothing is overwritten. Links to the file are not rewritten.",
	}
}

func (w *Writer) move(ctx context.Context, input json.RawMessage) content.ToolResult {
	in, err := parse[moveInput](input, `{"from": "Inbox/plan.md", "to": "Notes/plan.md"}`)
	if err != nil {
		return Failed("%v", err)
	}
	from, err := w.file(in.From)
	if err == nil {
		err = w.writable(from)
	}
	if err != nil {
		return Failed("%v", err)
	}
	to, err := w.moved(from, in.To)
	switch {
	case err != nil:
		return Failed("%v", err)
	case to == from:
		return Failed("%s has that name already", from)
	}
	return w.change(ctx, from, func(_ []byte, sha string, there bool) (Change, error) {
		switch _, err := fs.Stat(w.FS, to); {
		case !there:
			return Change{}, w.missing(from)
		case err == nil && !strings.EqualFold(from, to):
			return Change{}, errors.New(to + " is there already: choose another name")
		}
		return Change{Kind: ChangeMove, Name: from, To: to, Base: sha, Said: "moved " + from + " to " + to}, nil
	})
}

// moved is the new name of a file. It keeps its extension, which says what it is.
func (w *Writer) moved(from, written string) (string, error) {
	to, err := clean(written)
	if err != nil {
		return "", err
	}
	if strings.HasSuffix(strings.TrimSpace(written), "/") {
		to = path.Join(to, path.Base(from))
	}
	ext := path.Ext(from)
	if w.Kind(from) != "" && w.Kind(to) == "" {
		to += ext
	}
	if !strings.EqualFold(path.Ext(to), ext) && w.Kind(from) != w.Kind(to) {
		return "", errors.New("the new name of " + from + " ends in " + ext + ", as the old one: the file does not become another kind")
	}
	return to, w.writable(to)
}

const deleteParameters = `{"type":"object","properties":{` +
	`"path":{"type":"string","minLength":1,"description":"The file, from the vault's root."}` +
	`},"required":["path"],"additionalProperties":false}`

type deleteInput struct {
	Path string `json:"path"`
}

// DeleteTool is delete_file.
func (w *Writer) DeleteTool() Tool {
	return Tool{
		Name: DeleteFile, Effect: EffectWrite, Parameters: json.RawMessage(deleteParameters), Run: w.delete,
		Description: "Removes a file from the vault. Its content is kept with the run's record.",
	}
}

func (w *Writer) delete(ctx context.Context, input json.RawMessage) content.ToolResult {
	in, err := parse[deleteInput](input, `{"path": "Notes/old.md"}`)
	if err != nil {
		return Failed("%v", err)
	}
	if !w.MayDelete {
		return Failed("deleting needs a person's yes: the workflow's author writes @approve tools in the step, or names delete_file in permissions.tools; the file stays")
	}
	name, err := w.file(in.Path)
	if err == nil {
		err = w.writable(name)
	}
	if err != nil {
		return Failed("%v", err)
	}
	return w.change(ctx, name, func(_ []byte, sha string, there bool) (Change, error) {
		if !there {
			return Change{}, w.missing(name)
		}
		return Change{Kind: ChangeDelete, Name: name, Base: sha, Said: "deleted " + name}, nil
	})
}
