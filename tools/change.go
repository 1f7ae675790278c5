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

// Change is what one tool call does to the vault.
type Change struct {
	Kind string
	Name string
	To   string // of a move: the new name; of an imported document, whose note is Name, its new folder
	Data []byte // of a create and a write: the new content
	Base string // SHA-256 of the content it changes; empty for a create
	Said string // the result for the model
}

// Store is the vault as tools change it. A call makes at most one change.
type Store interface {
	vault.Reader
	// Change makes a change if the file still has the content that was read, and keeps that content. If someone else was faster
	// the error matches vault.ErrConflict, and nothing has changed.
	Change(ctx context.Context, c Change) error
}

// Writer holds the tools that change files. It belongs to one turn of a step.
type Writer struct {
	Paths
	Store Store
	Kind  func(name string) string // kind of a file by its extension; "" if unknown
	// Document returns the folder of the imported document whose note a file is, or ""; nil: there are none.
	Document  func(name string) string
	MayDelete bool // the workflow lets models delete files, or a person approves each call
}

// Bounds of what is written, in bytes.
const (
	maxContent = 4 << 20  // from a model
	maxEdited  = 64 << 20 // of a file to change
)

// maxTries is how often a change is attempted while someone else changes the file.
const maxTries = 5

// target returns the name of a text to write. Without a known extension it gets .md.
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
		return "", errors.New(name + ": only text files can be written")
	}
	name = vault.Actual(w.FS, name)
	return name, w.writable(name)
}

// change makes the change that make decides on, and tries again when someone else was faster.
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

// lineEnd returns the line ending of a text: that of its first line.
func lineEnd(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// withEnds returns a text with the given line ending.
func withEnds(text, end string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if end == "\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", end)
}
