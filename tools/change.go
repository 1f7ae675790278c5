package tools

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/vault"
)

// Kinds of a [Change].
const (
	ChangeCreate = "create"
	ChangeWrite  = "write"
	ChangeMove   = "move"
	ChangeDelete = "delete"
)

// Change is what one call of a tool does to the vault.
type Change struct {
	Kind string
	Name string
	To   string // of a move: the new name
	Data []byte // of a create and a write: the new content
	Base string // SHA-256 of the content that it builds on; empty for a create
	Said string // what the model is told when it is done
}

// Store is the vault to the tools that change it. A call of a tool makes one change at most.
type Store interface {
	vault.Reader
	// Change carries out a change on condition that the file still is the one that was read, and keeps the content
	// before. When somebody else was faster the error matches vault.ErrConflict, and nothing has changed.
	Change(ctx context.Context, c Change) error
}

// Writer holds the tools that change files. It belongs to one turn of a step.
type Writer struct {
	Paths
	Store     Store
	Kind      func(name string) string // the kind of file that an extension promises; "" for one that the language does not know
	MayDelete bool                     // the workflow lets the model delete files, or a person is asked before
}

// Bounds of what is written, in bytes.
const (
	maxContent = 4 << 20  // that a model gives
	maxEdited  = 64 << 20 // of a file that is changed
)

// maxTries is how often a change is made again on top of somebody else's.
const maxTries = 5

// target is the name of a text that is to be written: without an extension that the language knows it gets .md.
func (w *Writer) target(written string) (string, error) {
	name, _ := linkTarget(written)
	name, err := clean(name)
	if err != nil {
		return "", err
	}
	switch kind := w.Kind(name); kind {
	case "":
		name += ".md"
	case "markdown", "text":
	default:
		return "", errors.New(name + ": only texts can be written")
	}
	return name, w.writable(name)
}

// change does what make decides on, again when somebody else was faster.
func (w *Writer) change(ctx context.Context, name string, make func(data []byte, sha string, there bool) (Change, error)) content.ToolResult {
	for range maxTries {
		data, sha, err := w.Store.Read(name, maxEdited)
		there := err == nil
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Failed("%s cannot be read: %v", name, plain(err))
		}
		c, err := make(data, sha, there)
		if err != nil {
			return Failed("%v", err)
		}
		if err = w.Store.Change(ctx, c); err == nil {
			return done(c)
		}
		if !errors.Is(err, vault.ErrConflict) {
			return Failed("%s is not changed: %v", name, plain(err))
		}
	}
	return Failed("%s is not changed: someone else is changing it; read it again", name)
}

// done is the result of a change.
func done(c Change) content.ToolResult {
	r := said(c.Said)
	r.FilesChanged = []string{c.Name}
	if c.To != "" {
		r.FilesChanged = append(r.FilesChanged, c.To)
	}
	return r
}

// lineEnd is what ends the lines of a text: \r\n when its first line ends so.
func lineEnd(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// withEnds gives a model's text the line ends of a file.
func withEnds(text, end string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if end == "\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", end)
}
