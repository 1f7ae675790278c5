package prompt

import (
	"context"
	"errors"
	"strings"
)

// documentReader reads each document, and each of its pages, once in a Build.
type documentReader struct {
	documents Documents // nil: none can be read
	files     *files
	described map[string]described
	pages     map[pageKey]pageText
}

// described is what is known about a document, or why nothing is.
type described struct {
	Document
	bundle *bundle // of an original that was imported
	err    error
}

type pageKey struct {
	name string
	page int
}

type pageText struct {
	text string
	err  error
}

// describe returns what is known about a document.
func (r *documentReader) describe(ctx context.Context, name string) described {
	d, seen := r.described[name]
	if seen {
		return d
	}
	if r.documents == nil {
		d.err = errors.New("documents cannot be read here")
	} else {
		d.Document, d.err = r.documents.Describe(ctx, name)
	}
	if d.err == nil && d.Imported != "" {
		if m, err := r.files.bundle(d.Imported); err == nil {
			d.bundle = m
		}
	}
	r.described[name] = d
	return d
}

// text returns the text of a page. The text of an import is preferred to the document's own.
func (r *documentReader) text(ctx context.Context, name string, d described, n int) (string, error) {
	key := pageKey{name, n}
	t, seen := r.pages[key]
	if seen {
		return t.text, t.err
	}
	if file := d.bundle.textOf(n); file != "" {
		t.text, t.err = r.files.text(file)
	}
	if t.text == "" && r.documents != nil {
		t.text, t.err = r.documents.PageText(ctx, name, n)
	}
	t.text = strings.ToValidUTF8(t.text, "\uFFFD")
	r.pages[key] = t
	return t.text, t.err
}
