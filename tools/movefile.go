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
	`"from":{"type":"string","minLength":1,"description":"Path from the vault's root."},` +
	`"to":{"type":"string","minLength":1,"description":"New path from the vault's root. A path that ends in / is a folder: the file keeps its name. For the note of an imported document, the document's new name: its folder moves."}` +
	`},"required":["from","to"],"additionalProperties":false}`

type moveInput struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// MoveTool is move_file.
func (w *Writer) MoveTool() Tool {
	return Tool{
		Name: MoveFile, Effect: EffectWrite, Parameters: json.RawMessage(moveParameters), Run: w.move,
		Description: "Renames a file or moves it to another folder. Never overwrites a file. Links to the file follow. An imported document moves as one: name its note.",
	}
}

func (w *Writer) move(ctx context.Context, input json.RawMessage) content.ToolResult {
	in, err := parse[moveInput](input, `{"from": "Inbox/plan.md", "to": "Notes/plan.md"}`)
	if err != nil {
		return Failed("%v", err)
	}
	from, err := w.File(in.From)
	if err == nil {
		err = w.writable(from)
	}
	if err != nil {
		return Failed("%v", err)
	}
	place := from // what gets the new name
	to := ""
	if w.Document != nil && w.Document(from) != "" {
		place = w.Document(from)
		to, err = documentTo(place, in.To)
	} else {
		to, err = w.moved(from, in.To)
	}
	switch {
	case err != nil:
		return Failed("%v", err)
	case to == place:
		return Failed("%s has that name already", place)
	}
	return w.change(ctx, from, func(_ []byte, sha string, there bool) (Change, error) {
		switch _, err := fs.Stat(w.FS, to); {
		case !there:
			return Change{}, w.missing(from)
		case err == nil && !strings.EqualFold(place, to):
			return Change{}, errors.New(to + " exists: choose another name")
		}
		return Change{Kind: ChangeMove, Name: from, To: to, Base: sha, Said: "moved " + place + " to " + to}, nil
	})
}

// documentTo returns the new folder of an imported document. Models may write it like a note, or with the note in it.
func documentTo(dir, written string) (string, error) {
	to, err := clean(written)
	if err != nil {
		return "", err
	}
	if strings.HasSuffix(strings.TrimSpace(written), "/") {
		return path.Join(to, path.Base(dir)), nil
	}
	to = strings.TrimSuffix(to, ".md")
	if path.Base(path.Dir(to)) == path.Base(to) {
		to = path.Dir(to)
	}
	return to, nil
}

// moved returns the new name of a file. The extension stays.
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
		return "", errors.New("the new name of " + from + " must end in " + ext + " as well")
	}
	return to, w.writable(to)
}

const deleteParameters = `{"type":"object","properties":{` +
	`"path":{"type":"string","minLength":1,"description":"Path from the vault's root."}` +
	`},"required":["path"],"additionalProperties":false}`

type deleteInput struct {
	Path string `json:"path"`
}

// DeleteTool is delete_file.
func (w *Writer) DeleteTool() Tool {
	return Tool{
		Name: DeleteFile, Effect: EffectWrite, Parameters: json.RawMessage(deleteParameters), Run: w.delete,
		Description: "Deletes a file. The run's record keeps its content.",
	}
}

func (w *Writer) delete(ctx context.Context, input json.RawMessage) content.ToolResult {
	in, err := parse[deleteInput](input, `{"path": "Notes/old.md"}`)
	if err != nil {
		return Failed("%v", err)
	}
	if !w.MayDelete {
		return Failed("deleting needs approval: the workflow's author can add @approve tools to the step, or delete_file to permissions.tools")
	}
	name, err := w.File(in.Path)
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
