package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step"
)

//go:embed preview.html.tmpl
var previewPage string

// thumbnailSide is the longest side of a picture in the page, in pixels.
const thumbnailSide = 480

// htmlStep is one step's prompt in the page.
type htmlStep struct {
	Name     string
	Model    string
	Notes    []string
	System   string
	Parts    []htmlPart
	Receipt  *prompt.Receipt
	Places   []string // where media go
	Warnings []string
}

// htmlPart is a block of the message: text, or a picture behind its label.
type htmlPart struct {
	Text    string
	Picture template.URL // a data: URL; empty for text, and for a picture that could not be read
	Caption string
}

// htmlPreview collects the steps of a preview and writes them as one self-contained page, with the pictures in it.
type htmlPreview struct {
	title    string
	steps    []htmlStep
	pictures llm.Loader
}

// add takes a step into the page.
func (h *htmlPreview) add(ctx context.Context, name string, p step.Previewed) {
	s := htmlStep{Name: name, Model: p.Model, Warnings: p.Warnings, Notes: previewNotes(p)}
	if p.Prompt != nil {
		s.System, s.Receipt = p.Prompt.System, &p.Prompt.Receipt
		for _, block := range p.Prompt.Blocks {
			s.Parts = append(s.Parts, h.part(ctx, block))
		}
		for _, m := range append(p.Media, p.ToolMedia...) {
			s.Places = append(s.Places, placeLine(m))
		}
	}
	h.steps = append(h.steps, s)
}

func (h *htmlPreview) part(ctx context.Context, block content.Block) htmlPart {
	image, ok := block.(content.Image)
	if !ok {
		return htmlPart{Text: block.Text()}
	}
	image.Fallback = ""
	part := htmlPart{Caption: strings.Trim(image.Text(), "[]")}
	data, mediaType, err := h.pictures.Load(ctx, image)
	if err != nil {
		part.Caption += ": no picture here (" + err.Error() + ")"
		return part
	}
	//nolint:gosec // made here of bytes that were decoded and encoded again
	part.Picture = template.URL("data:" + mediaType + ";base64," + base64.StdEncoding.EncodeToString(data))
	return part
}

// notWritten is the error for a page that could not be written, without the name that it had meanwhile.
func notWritten(path string, err error) error {
	if info, missing := os.Stat(path); missing == nil && info.IsDir() {
		return usagef("--html %s: it is a folder; name a file in it, such as %s", path, filepath.Join(path, "preview.html"))
	}
	var renamed *os.LinkError
	var opened *fs.PathError
	switch {
	case errors.As(err, &renamed):
		err = renamed.Err
	case errors.As(err, &opened):
		err = opened.Err
	}
	return usagef("--html %s: %w", path, err)
}

// write makes the file, whole or not at all. It is the caller's file: outside the vault's rules, and replaced.
func (h *htmlPreview) write(path string) error {
	page, err := template.New("preview").Funcs(template.FuncMap{
		"size": content.FormatSize, "what": receiptWhat, "where": receiptWhere,
	}).Parse(previewPage)
	if err != nil {
		return fmt.Errorf("read the page's template: %w", err)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, map[string]any{"Title": h.title, "Steps": h.steps}); err != nil {
		return fmt.Errorf("make the page: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".preview-*")
	if err != nil {
		return notWritten(path, err)
	}
	_, err = f.Write(b.Bytes())
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return notWritten(path, err)
	}
	return nil
}
