package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// imported is what the vault got of a document. It is the zero value if the import failed.
type imported struct {
	pages []string // the Markdown of each page, as programs read it from the bundle
	m     manifest.Manifest
}

func (i imported) page(n int) string {
	if n < 1 || n > len(i.pages) {
		return ""
	}
	return i.pages[n-1]
}

func (i imported) text() string { return strings.Join(i.pages, "\n\n") }

// reader imports documents with the shipped binaries.
type reader struct{ bin, scratch string }

// perCommand is how many files one command imports: below the limit for the length of a command line.
const perCommand = 200

// read imports the files into a vault of their own and returns what the vault got, by digest.
func (r reader) read(ctx context.Context, name string, files []document) (map[string]imported, error) {
	base, err := os.MkdirTemp(r.scratch, name+"-")
	if err != nil {
		return nil, err
	}
	vault := filepath.Join(base, "vault")
	if err := os.MkdirAll(filepath.Join(vault, ".obsidian"), 0o755); err != nil {
		return nil, err
	}
	for part := range slices.Chunk(files, perCommand) {
		if err := r.command(ctx, base, vault, part); err != nil {
			return nil, err
		}
	}
	got := map[string]imported{}
	err = filepath.WalkDir(filepath.Join(vault, "Imported"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "manifest.json" {
			return err
		}
		doc, err := bundle(filepath.Dir(path))
		got[doc.m.Source.SHA256] = doc
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return got, nil
}

// command imports files with one command. Each file is linked into a folder of its own, so that equal names do not meet.
func (r reader) command(ctx context.Context, base, vault string, files []document) error {
	var errs bytes.Buffer
	args := []string{"import"}
	for _, f := range files {
		args = append(args, f.path)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(r.bin, "vaultflow"), args...)
	cmd.Dir, cmd.Stderr = vault, &errs
	cmd.Env = []string{
		"HOME=" + base, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + r.scratch, "NO_COLOR=1", "VAULTFLOW_VAULT=" + vault,
		"VAULTFLOW_STATE_DIR=" + filepath.Join(base, "state"), "VAULTFLOW_INGESTION_WORKER=" + filepath.Join(r.bin, "vaultflow-worker"),
	}
	err := cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && (ended.ExitCode() == 1 || ended.ExitCode() == 4) {
		return nil // a file failed or lacks pages: it is measured as it is
	}
	if err != nil {
		return fmt.Errorf("vaultflow import: %w: %s", err, bytes.TrimSpace(errs.Bytes()))
	}
	return nil
}

// bundle reads the pages of a bundle.
func bundle(dir string) (imported, error) {
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return imported{}, err
	}
	m, err := manifest.Parse(data)
	if err != nil {
		return imported{}, err
	}
	doc := imported{m: m}
	for _, p := range m.Pages {
		text := []byte{}
		if p.Text != nil && p.Text.Path != "" {
			if text, err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(p.Text.Path))); err != nil {
				return imported{}, err
			}
		}
		doc.pages = append(doc.pages, string(text))
	}
	return doc, nil
}
