package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/vault"
)

// ListFiles is the name of the tool that lists files.
const ListFiles = "list_files"

const (
	maxListed = 200    // rows in one result
	maxWalked = 100000 // entries visited by one call
)

// Finder holds list_files and search_files. It is safe for concurrent use.
type Finder struct {
	Paths
	MaxText int // bytes of text in one result; 0: content.MaxToolText
}

const listFilesParameters = `{"type":"object","properties":{` +
	`"folder":{"type":"string","description":"Folder from the vault's root; default: the whole vault."},` +
	`"glob":{"type":"string","description":"Pattern below the folder, such as *.md or **/*.{png,pdf}. ** matches folders."},` +
	`"from":{"type":"integer","minimum":0,"description":"Rows to skip. A cut result names the next one."}` +
	`},"additionalProperties":false}`

// listFilesInput is the input of list_files, and the part of search_files' input that names the files.
type listFilesInput struct {
	Folder string `json:"folder"`
	Glob   string `json:"glob"`
	From   int    `json:"from"`
}

// where returns the folder to list or search.
func (in listFilesInput) where(p Paths) (string, error) {
	dir, err := p.folder(in.Folder)
	switch {
	case err != nil:
		return "", err
	case in.Glob != "" && !doublestar.ValidatePattern(in.Glob):
		return "", fmt.Errorf("%.80q is not a valid glob; write for example **/*.md", in.Glob)
	case in.From < 0:
		return "", errors.New("from must not be negative")
	}
	return dir, nil
}

// fits reports whether the glob matches a file below the folder.
func (in listFilesInput) fits(bundles *vault.Bundles, dir, name string) bool {
	return in.Glob == "" || bundles.Fits(func(name string) bool {
		return doublestar.MatchUnvalidated(in.Glob, strings.TrimPrefix(name, dir+"/"))
	}, name)
}

// ListTool is list_files.
func (f *Finder) ListTool() Tool {
	return Tool{
		Name: ListFiles, Parameters: json.RawMessage(listFilesParameters), Run: f.list,
		Description: "Lists files of the vault with size and date of change. Without a glob: the files and folders directly in the folder. " +
			"With a glob: all matching files below it.",
	}
}

func (f *Finder) list(ctx context.Context, input json.RawMessage) content.ToolResult {
	in, err := parse[listFilesInput](input, `{"folder": "Notes", "glob": "**/*.md"}`)
	if err != nil {
		return Failed("%v", err)
	}
	dir, err := in.where(f.Paths)
	if err != nil {
		return Failed("%v", err)
	}
	var rows, names []string
	bundles := vault.NewBundles(f.FS)
	whole, err := f.walk(ctx, dir, in.Glob == "", func(name string, d fs.DirEntry) error {
		if in.fits(bundles, dir, name) {
			rows, names = append(rows, row(name, d)), append(names, name)
		}
		return nil
	})
	if err != nil {
		return Failed("list %s: %v", folderWords(dir), plain(err))
	}
	text, shown := f.page(rows, in.From, whole, folderWords(dir))
	f.named(names[min(in.From, len(names)):][:shown]...)
	return said(text)
}

// page returns the rows from an offset as text, and how many they are.
func (f *Finder) page(rows []string, from int, whole bool, dir string) (text string, shown int) {
	if len(rows) == 0 {
		return "[no matching file in " + dir + "]", 0
	}
	if from >= len(rows) {
		return fmt.Sprintf("[there are %d rows; from is %d]", len(rows), from), 0
	}
	var b strings.Builder
	n := from
	for ; n < len(rows) && n < from+maxListed && b.Len()+len(rows[n]) < room(f.MaxText)-reserve; n++ {
		b.WriteString(rows[n] + "\n")
	}
	if n < len(rows) {
		fmt.Fprintf(&b, "[rows %d-%d of %d; call again with from=%d]\n", from+1, n, len(rows), n)
	}
	if !whole {
		fmt.Fprintf(&b, "[more than %d entries: choose a folder below]\n", maxWalked)
	}
	return b.String(), n - from
}

// row is one line of a listing.
func row(name string, d fs.DirEntry) string {
	if d.IsDir() {
		return name + "/"
	}
	info, err := d.Info()
	if err != nil {
		return name
	}
	return fmt.Sprintf("%s  %s  %s", name, content.FormatSize(info.Size()), info.ModTime().UTC().Format(time.DateOnly))
}

func folderWords(dir string) string {
	if dir == "." {
		return "the vault"
	}
	return dir
}

// folder checks the name of a folder.
func (p Paths) folder(written string) (string, error) {
	if s := strings.Trim(strings.TrimSpace(written), "/"); s == "" || s == "." {
		return ".", nil
	}
	name, err := clean(written)
	if err != nil {
		return "", err
	}
	real, err := p.real(name)
	if err != nil {
		return "", err
	}
	if _, err := clean(real); err != nil {
		return "", err
	}
	info, err := fs.Stat(p.FS, real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("no folder %.200q", name)
	case err != nil:
		return "", fmt.Errorf("%s cannot be read: %w", name, plain(err))
	case !info.IsDir():
		return "", fmt.Errorf("%s is a file: read_file reads it", name)
	}
	return real, nil
}

// walk visits the files that may be read, and with flat their folders, by name. It skips links and hidden names. whole is
// false if it stopped at maxWalked entries.
func (p Paths) walk(ctx context.Context, dir string, flat bool, fn func(name string, d fs.DirEntry) error) (whole bool, err error) {
	walked := 0
	err = fs.WalkDir(p.FS, dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case name == dir:
			return err
		case err != nil:
			return nil //nolint:nilerr // what cannot be read is not listed
		case strings.HasPrefix(path.Base(name), "."):
			return skipped(d)
		}
		if walked++; walked > maxWalked {
			return fs.SkipAll
		}
		if d.IsDir() {
			if !flat {
				return nil
			}
			if !p.holds(ctx, name) {
				return fs.SkipDir
			}
			return cmp.Or(fn(name, d), fs.SkipDir)
		}
		if !d.Type().IsRegular() || p.Read != nil && p.Read(name) != nil {
			return nil
		}
		return fn(name, d)
	})
	return walked <= maxWalked, err
}

func skipped(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// holds reports whether a folder contains a file that may be read. Without read limits every folder counts.
func (p Paths) holds(ctx context.Context, dir string) bool {
	if p.Read == nil {
		return true
	}
	found := false
	_, err := p.walk(ctx, dir, false, func(string, fs.DirEntry) error {
		found = true
		return fs.SkipAll
	})
	return err == nil && found
}
