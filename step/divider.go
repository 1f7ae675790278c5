package step

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/step/parts"
	"github.com/vaultflow/vaultflow/vault"
)

// divider divides documents into the items of an @for_each.
type divider struct {
	inputs  Inputs
	memory  Memory
	library Library
}

// source is a document that can be divided.
type source struct {
	name     string // vault name of its note, or of the PDF file
	sha256   string // of that file
	pages    []parts.Page
	document manifest.Document // of an import
	text     []byte            // of a note without pages
}

// divide returns the parts of the documents that an @for_each selects, those that are done left out, and what became of others.
func (d divider) divide(ctx context.Context, s Context, vars []engine.Var) (found expansion, err error) {
	sources, warnings, err := d.sources(ctx, s, vars)
	if err != nil {
		return found, err
	}
	found.warnings, found.parts = warnings, &engine.PartsChange{}
	each := s.Step.ForEach
	several, asks := mayBeSeveral(*each, s.Facts), asked(s)
	for _, src := range sources {
		if err := ctx.Err(); err != nil {
			return found, fmt.Errorf("divide documents: %w", err)
		}
		old, err := d.memory.Parts(ctx, s.Plan.Name, s.Step.Name, src.name)
		if err != nil {
			return found, err
		}
		slices.SortStableFunc(old, func(a, b engine.PartState) int { return cmp.Compare(a.Begin(), b.Begin()) })
		known := parts.Known(partsIn(old), src.pages)
		list, warning := src.divide(*each, known)
		if warning != "" {
			found.warnings = append(found.warnings, directives.At(each.Target.At, directives.CodePartOutline, "", "%s", warning).String())
		}
		for _, part := range list {
			one := engine.Item{Name: src.name, SHA256: src.sha256, Pending: each.Selection.Pending, Part: &engine.ItemPart{Part: part, Called: part.Name, Asked: asks}}
			if several {
				one.Part.Called = directives.NameOf(src.name) + " " + part.Name
			}
			if err := d.take(ctx, s, &found, one, old, known); err != nil {
				return found, err
			}
		}
		found.parts.Gone = append(found.parts.Gone, gone(old, list)...)
	}
	if sel := each.Selection; sel.Limit > 0 && !sel.Latest && len(found.items) > sel.Limit {
		found.items = found.items[:sel.Limit]
	}
	return found, nil
}

// mayBeSeveral reports whether an @for_each may select several documents, so that the names of parts need the document's.
func mayBeSeveral(each directives.ForEach, f directives.Facts) bool {
	t := each.Target
	if t.Scheme == directives.SchemeTrigger {
		return len(f.Files) > 1
	}
	return !t.Link && !t.Literal && (strings.ContainsAny(t.Path, "*?[,") || each.Selection.Pending && strings.Contains(t.Path, "{pending") || strings.Contains(t.Path, "{latest"))
}

// take adds a part to the items, unless it is done. known are the parts of old with the identities that their pages have now.
func (d divider) take(ctx context.Context, s Context, found *expansion, one engine.Item, old []engine.PartState, known []parts.Part) error {
	found.all = append(found.all, one)
	i := slices.IndexFunc(old, func(o engine.PartState) bool { return o.Name == one.Part.Name })
	if one.Pending && !s.Plan.Fresh && i >= 0 {
		key := s.Step.ForEach.Input().Key(s.Plan.Name, s.Step.Name)
		marked, err := d.memory.Done(ctx, key, old[i].Key(), old[i].Digest())
		if err != nil {
			return err
		}
		if marked && known[i].Digest() == one.Part.Digest() {
			if parts.Moved(old[i].Part, one.Part.Part) {
				found.parts.Moved = append(found.parts.Moved, engine.PartMove{PartState: old[i], Now: one.Part.Part})
			}
			if old[i].Asked != one.Part.Asked {
				found.parts.Other++
			}
			return nil
		}
	}
	if i >= 0 {
		one.Part.Made = old[i].Files
	}
	found.items = append(found.items, item{one, one.Name})
	return nil
}

// gone returns the parts on record that a document does not have any more.
func gone(old []engine.PartState, now []parts.Part) []engine.PartState {
	return slices.DeleteFunc(slices.Clone(old), func(o engine.PartState) bool {
		return slices.ContainsFunc(now, func(p parts.Part) bool { return p.Name == o.Name })
	})
}

func partsIn(states []engine.PartState) []parts.Part {
	var list []parts.Part
	for _, s := range states {
		list = append(list, s.Part)
	}
	return list
}

// asked is a digest of what a step asks about each of its parts.
func asked(s Context) string {
	sum := sha256.Sum256([]byte(s.Plan.Instructions + "\x00" + s.Step.Prompt))
	return hex.EncodeToString(sum[:8])
}

// divide divides the document. The warning is the reason why it is not divided as wanted.
func (src source) divide(each directives.ForEach, old []parts.Part) (list []parts.Part, warning string) {
	switch {
	case len(src.pages) == 0:
		return parts.Named(src.sections(each.Depth()), old), ""
	case each.Parts == directives.PartPages:
		return parts.Windows(src.pages, old, each.Size(), each.Overlap), ""
	}
	var headings []parts.Heading
	for _, h := range src.document.Outline {
		if h.Level <= each.Depth() && slices.ContainsFunc(src.pages, func(p parts.Page) bool { return p.N == h.Page }) {
			headings = append(headings, parts.Heading{Title: h.Title, Page: h.Page})
		}
	}
	if len(headings) == 0 {
		return parts.Windows(src.pages, old, each.Size(), 0), fmt.Sprintf("%s has no outline, so its %s are ranges of %d pages", src.name, each.Parts, each.Size())
	}
	return parts.ByHeadings(each.Parts, src.pages, headings, old), ""
}

// sections divides a note at its headings down to a level. What comes before the first one is a section if it has text.
func (src source) sections(level int) []parts.Part {
	at, _ := chunking.Frontmatter(src.text)
	title := ""
	var list []parts.Part
	add := func(end int) {
		text := string(src.text[at:end])
		body := strings.TrimSpace(text)
		if body == "" || title == "" && len(list) == 0 && strings.Trim(body, "-\n ") == "" {
			return
		}
		sum := sha256.Sum256([]byte(body))
		first := 1 + strings.Count(string(src.text[:at]), "\n")
		last := first + strings.Count(strings.TrimRight(text, "\n"), "\n")
		list = append(list, parts.Part{
			Kind: parts.Sections, Title: cmp.Or(title, "Front matter"), Pages: []parts.Page{{ID: hex.EncodeToString(sum[:])}}, Lines: [2]int{first, last},
		})
	}
	for _, h := range chunking.Headings(src.text) {
		if h.Level <= level {
			add(h.Start)
			at, title = h.Start, cmp.Or(h.Text, "untitled")
		}
	}
	add(len(src.text))
	return list
}

// sources returns the documents that an @for_each selects, each once.
func (d divider) sources(ctx context.Context, s Context, vars []engine.Var) (list []source, warnings []string, err error) {
	each := *s.Step.ForEach
	input := each.Input()
	input.Selection.Pending = false // of parts, not of files
	if !input.Selection.Latest {
		input.Selection.Limit = 0
	}
	all := d.inputs
	all.MaxFiles = math.MaxInt
	found, diagnostics, err := all.Find(ctx, s, input, vars)
	if err != nil {
		return nil, nil, err
	}
	warnings = warningLines(diagnostics)
	var refused []diag.Diagnostic
	for _, file := range found.Files {
		src, err := d.source(ctx, each, file)
		if fault, is := errors.AsType[diag.Diagnostic](err); is {
			refused = append(refused, fault)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if !slices.ContainsFunc(list, func(o source) bool { return o.name == src.name }) {
			list = append(list, src)
		}
	}
	if len(list) == 0 && len(refused) > 0 {
		return nil, nil, failure.WithCode(refused[0], failure.Input)
	}
	for i := range refused {
		refused[i].Severity = diag.SeverityWarning
	}
	return list, append(warnings, warningLines(refused)...), nil
}

// source reads what is divided of a file: the document that it belongs to, or the note itself. A file that cannot be divided is a
// diagnostic.
func (d divider) source(ctx context.Context, each directives.ForEach, file engine.ResolvedFile) (source, error) {
	src := source{name: file.Name, sha256: file.SHA256}
	dir := path.Dir(file.Name)
	if note := vault.NewBundles(d.inputs.FS).ChapterOf(file.Name); note != "" {
		dir = path.Dir(note)
	}
	if strings.EqualFold(path.Ext(file.Name), ".pdf") {
		imported, err := d.pdf(ctx, &src)
		if err != nil || imported == "" {
			return src, failure.WithCode(err, failure.Input)
		}
		dir = imported
	}
	if m, note, err := bundleOf(d.inputs.FS, dir, file.Name); err == nil && len(m.Pages) > 0 {
		return d.imported(note, m)
	}
	switch {
	case directives.KindOf(file.Name) != "markdown":
		return src, directives.At(each.Target.At, directives.CodePartSource, "import it, and name its note", "%s is neither a note nor a document with pages", file.Name)
	case each.Parts != directives.PartSections:
		return src, directives.At(each.Target.At, directives.CodePartNoPages, "write sections of", "%s has no pages, and `%s of` needs them", file.Name, each.Parts)
	}
	data, _, err := d.inputs.Vault.Read(file.Name, d.inputs.MaxText)
	if err != nil {
		return src, failure.New(failure.Input, "", "read %s: %v", file.Name, err)
	}
	src.text = data
	return src, nil
}

// pdf reads the pages of a PDF file. It returns the folder of its import instead, if there is one.
func (d divider) pdf(ctx context.Context, src *source) (imported string, err error) {
	if m, _, err := bundleOf(d.inputs.FS, path.Dir(src.name), src.name); err == nil && len(m.Pages) > 0 {
		return path.Dir(src.name), nil
	}
	if d.library.Documents == nil {
		return "", failure.New(failure.Input, "import it, and name its note", "%s cannot be read here", src.name)
	}
	read, err := d.library.Documents.Describe(ctx, src.name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", src.name, err)
	}
	for i, p := range read.Pages {
		src.pages = append(src.pages, parts.Page{N: i + 1, ID: fmt.Sprintf("%s#%d", read.SHA256, i+1), Label: p.Label})
	}
	return read.Imported, nil
}

// imported returns an imported document.
func (d divider) imported(note string, m manifest.Manifest) (source, error) {
	src := source{name: note, document: m.Document}
	var err error
	if src.sha256, err = d.inputs.Hash(note); err != nil {
		return src, failure.New(failure.Input, "", "read %s: %v", note, err)
	}
	for _, p := range m.Pages {
		src.pages = append(src.pages, d.page(path.Dir(note), p))
	}
	return src, nil
}

// page returns a page of an import with its identity: of an older import the digest of the page's file.
func (d divider) page(dir string, p manifest.Page) parts.Page {
	page := parts.Page{N: p.N, Label: p.Label}
	var files []string
	if p.Image != nil {
		if p.Image.Identity != "" {
			page.ID, page.Former = short(p.Image.Identity), short(p.Image.SHA256)
			return page
		}
		files = append(files, p.Image.Path)
	}
	if p.Text != nil {
		files = append(files, p.Text.Path)
	}
	for _, name := range files {
		if sum, err := d.inputs.Hash(path.Join(dir, path.Clean("/"+name))); err == nil {
			page.ID = short(sum)
			return page
		}
	}
	page.ID = fmt.Sprintf("%s %d", p.Status, p.N) // nothing is known of it
	return page
}

// short is enough of a digest to tell the pages of a document apart.
func short(digest string) string { return digest[:min(len(digest), 32)] }

// bundleOf returns the manifest of the import that a file in a folder belongs to, and its note.
func bundleOf(fsys fs.FS, dir, name string) (manifest.Manifest, string, error) {
	m, err := readManifest(fsys, dir)
	if err != nil {
		return m, "", err
	}
	note := path.Join(dir, m.NoteName())
	if name != note && vault.NewBundles(fsys).ChapterOf(name) != note && name != path.Join(dir, m.Source.Name) && !strings.EqualFold(path.Ext(name), ".pdf") {
		return m, "", fs.ErrNotExist // a file beside the import
	}
	return m, note, nil
}

// readManifest reads the manifest of the import in a folder.
func readManifest(fsys fs.FS, dir string) (manifest.Manifest, error) {
	data, err := readBounded(fsys, path.Join(dir, manifest.File))
	if err != nil {
		return manifest.Manifest{}, err
	}
	return manifest.Parse(data)
}

// readBounded reads a file of an import, of a manifest's size at most.
func readBounded(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, manifest.MaxBytes))
}
