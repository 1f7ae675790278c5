package step

import (
	"context"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step/cite"
	"github.com/vaultflow/vaultflow/vault"
)

// Library knows the pages of the vault's documents, for @cite: of imported ones by their manifests, and of PDF files.
type Library struct {
	FS          fs.FS
	Links       vault.Links      // nil: links lead nowhere
	Documents   prompt.Documents // nil: only imported documents are known
	ImportedDir string
}

// shelf is the documents that one activity has looked at.
type shelf struct {
	Library
	ctx    context.Context //nolint:containedctx // of the activity that the shelf belongs to
	known  map[string]*document
	pages  map[string]map[int]bool // that the model was shown, by document
	order  []string                // of documents with such pages
	output string                  // the note that is written, for links
}

// document is a document with what its links need.
type document struct {
	cite.Document
	dir      string            // of an import; "" for a PDF file
	original string            // vault name of the PDF; "" if there is none
	notes    map[string]string // texts of an import's notes, by vault name
	texts    map[int]string    // vault names of pages' texts
	pictures map[string]int    // pages by the vault names of their pictures and texts
}

func (l Library) open(ctx context.Context, shown []engine.PagesShown) *shelf {
	s := &shelf{Library: l, ctx: ctx, known: map[string]*document{}, pages: map[string]map[int]bool{}}
	for _, one := range shown {
		for _, n := range pageNumbers(one.Pages) {
			s.add(one.Document, n)
		}
	}
	return s
}

func (s *shelf) add(id string, n int) {
	if s.pages[id] == nil {
		s.pages[id] = map[int]bool{}
		s.order = append(s.order, id)
	}
	s.pages[id][n] = true
}

// list returns the pages that the model was shown.
func (s *shelf) list() []engine.PagesShown {
	var list []engine.PagesShown
	for _, id := range s.order {
		var pages []int
		for n := range s.pages[id] {
			pages = append(pages, n)
		}
		slices.Sort(pages)
		list = append(list, engine.PagesShown{Document: id, Pages: content.PageRange(pages)})
	}
	return list
}

// pageNumbers reads 1-20,35.
func pageNumbers(text string) []int {
	var pages []int
	for part := range strings.SplitSeq(text, ",") {
		low, high, ranged := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.Atoi(low)
		last := first
		if err == nil && ranged {
			last, err = strconv.Atoi(high)
		}
		for n := first; err == nil && n <= last && len(pages) < maxCitedPages; n++ {
			pages = append(pages, n)
		}
	}
	return pages
}

// maxCitedPages bounds the pages of one document.
const maxCitedPages = 100_000

var _ cite.Shelf = (*shelf)(nil)

// Shown implements [cite.Shelf].
func (s *shelf) Shown() []*cite.Document {
	var list []*cite.Document
	for _, id := range s.order {
		if d := s.byID(id); d != nil {
			list = append(list, &d.Document)
		}
	}
	return list
}

// Find implements [cite.Shelf].
func (s *shelf) Find(name string) *cite.Document {
	if d := s.imported(path.Join(s.ImportedDir, path.Clean("/" + name)[1:])); d != nil {
		return &d.Document
	}
	for _, try := range []string{name, name + ".pdf"} {
		if d, _ := s.Linked(try); d != nil {
			return d
		}
	}
	return nil
}

// Linked implements [cite.Shelf].
func (s *shelf) Linked(target string) (*cite.Document, bool) {
	if s.Links == nil {
		return nil, false
	}
	loc := s.Links.Locate(target, s.output)
	if !loc.Found {
		return nil, false
	}
	if d := s.of(loc.Name); d != nil {
		return &d.Document, true
	}
	return nil, true
}

// byID returns a document by its folder or file.
func (s *shelf) byID(id string) *document {
	if d := s.imported(id); d != nil {
		return d
	}
	return s.file(id)
}

// of returns the document that a file belongs to: an import's note, original, picture or text; or a PDF file. nil if none.
func (s *shelf) of(name string) *document {
	dir := path.Dir(name)
	if slices.Contains([]string{"pages", vault.TextDir, vault.ChaptersDir, "assets"}, path.Base(dir)) {
		dir = path.Dir(dir)
	}
	if d := s.imported(dir); d != nil {
		return d
	}
	return s.file(name)
}

// imported returns the document of a bundle's folder, or nil.
func (s *shelf) imported(dir string) *document {
	if d, asked := s.known[dir]; asked {
		return d
	}
	if !fs.ValidPath(dir) || dir == "." {
		return nil
	}
	var d *document
	if m, err := readManifest(s.FS, dir); err == nil {
		d = s.fromManifest(dir, m)
	}
	if d != nil {
		s.known[dir] = d
	}
	return d
}

func (s *shelf) fromManifest(dir string, m manifest.Manifest) *document {
	stem := strings.TrimSuffix(m.Source.Name, path.Ext(m.Source.Name))
	d := &document{dir: dir, notes: map[string]string{}, texts: map[int]string{}, pictures: map[string]int{}}
	d.ID, d.Name, d.Names = dir, path.Base(dir), []string{dir, path.Join(dir, m.Source.Name), path.Join(dir, stem)}
	if m.Document.Title != "" {
		d.Names = append(d.Names, m.Document.Title)
	}
	in := func(rel string) string {
		if rel == "" || !fs.ValidPath(rel) {
			return ""
		}
		return path.Join(dir, rel)
	}
	have := map[int]bool{}
	for _, p := range m.Pages {
		d.Pages, have[p.N] = append(d.Pages, cite.Page{N: p.N, Label: p.Label}), true
		if p.Text != nil && in(p.Text.Path) != "" {
			d.texts[p.N] = in(p.Text.Path)
			d.pictures[in(p.Text.Path)] = p.N
		}
		if p.Image != nil {
			d.pictures[in(p.Image.Path)] = p.N
		}
		for _, image := range p.Others {
			d.pictures[in(image.Path)] = p.N
		}
	}
	for n := 1; n <= min(m.Document.Pages, maxCitedPages); n++ {
		if !have[n] { // not imported
			d.Pages = append(d.Pages, cite.Page{N: n})
		}
	}
	entries, err := fs.ReadDir(s.FS, dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !e.IsDir() && strings.EqualFold(path.Ext(e.Name()), ".md") {
			name := path.Join(dir, e.Name())
			if data, err := readBounded(s.FS, name); err == nil {
				d.notes[name] = string(data)
				d.Names = append(d.Names, name)
			}
		}
	}
	for _, c := range m.Chapters {
		if data, err := readBounded(s.FS, in(c.Note)); err == nil {
			d.notes[in(c.Note)] = string(data)
			d.Names = append(d.Names, in(c.Note))
		}
	}
	if m.Source.Kind == filetype.KindPDF {
		d.original = s.originalOf(d, m.Source.Name)
	}
	s.complete(d)
	d.Text = func(n int) (string, bool) {
		data, err := readBounded(s.FS, d.texts[n])
		text := string(data) + editedPage(d, m, n)
		return text, err == nil || text != ""
	}
	return d
}

// editedPage returns the text of a page as somebody edited it in the note, or "".
func editedPage(d *document, m manifest.Manifest, n int) string {
	for rel, digests := range m.Generated {
		note := d.notes[path.Join(d.dir, rel)]
		if digests[n] == "" || note == "" {
			continue
		}
		for _, p := range vault.PageParts(note) {
			if text := note[p.From:p.To]; p.Page == n && vault.PageDigest(text) != digests[n] {
				return "\n\n" + note[p.Body:p.To]
			}
		}
	}
	return ""
}

var originalLink = regexp.MustCompile(`\[\[([^\[\]|#\n]+)#page=\d`)

// originalOf returns the vault name of an import's PDF: in the bundle, or where its note leads.
func (s *shelf) originalOf(d *document, base string) string {
	names := []string{path.Join(d.dir, base)}
	for _, text := range d.notes {
		if m := originalLink.FindStringSubmatch(text); m != nil && path.Base(m[1]) == base && !strings.HasPrefix(m[1], "./") {
			names = append(names, path.Clean(m[1]))
		}
	}
	for _, name := range names {
		if !fs.ValidPath(name) {
			continue
		}
		if info, err := fs.Stat(s.FS, name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// file returns a PDF file as a document: its import, if there is one.
func (s *shelf) file(name string) *document {
	if d, asked := s.known[name]; asked {
		return d
	}
	s.known[name] = nil
	if s.Documents == nil || !strings.EqualFold(path.Ext(name), ".pdf") {
		return nil
	}
	read, err := s.Documents.Describe(s.ctx, name)
	if err != nil {
		return nil
	}
	if read.Imported != "" {
		if d := s.imported(read.Imported); d != nil {
			s.known[name] = d
			return d
		}
	}
	d := &document{original: name}
	d.ID, d.Name, d.Names = name, strings.TrimSuffix(path.Base(name), path.Ext(name)), []string{name}
	for i, p := range read.Pages {
		d.Pages = append(d.Pages, cite.Page{N: i + 1, Label: p.Label})
	}
	s.complete(d)
	d.Text = func(n int) (string, bool) {
		text, err := s.Documents.PageText(s.ctx, name, n)
		return text, err == nil
	}
	s.known[name] = d
	return d
}

// complete adds what every document has.
func (s *shelf) complete(d *document) {
	d.Shown = func(n int) bool { return s.pages[d.ID][n] }
	d.Link = func(n int, words string) string { return s.link(d, n, words) }
}

// link returns a link to a page: of the PDF, or to the block of the page in the import's note.
func (s *shelf) link(d *document, n int, words string) string {
	if d.original != "" {
		return s.linkTo(d.original, "#page="+strconv.Itoa(n), words)
	}
	var names []string
	for name := range d.notes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if slices.ContainsFunc(vault.PageParts(d.notes[name]), func(p vault.PagePart) bool { return p.Page == n }) {
			return s.linkTo(name, "#^p"+strconv.Itoa(n), words)
		}
	}
	for _, name := range names {
		if len(names) == 1 || path.Base(name) == "index.md" || strings.TrimSuffix(path.Base(name), ".md") == path.Base(d.dir) {
			return s.linkTo(name, "", words)
		}
	}
	return words
}

// linkTo returns the shortest link that leads to a file and to no other, also once the output is written.
func (s *shelf) linkTo(name, fragment, words string) string {
	shown := strings.TrimSuffix(name, ".md")
	parts := strings.Split(shown, "/")
	for i := len(parts) - 1; i > 0 && s.Links != nil; i-- {
		short := strings.Join(parts[i:], "/")
		leads := func(from string) bool {
			loc := s.Links.Locate(short, from)
			return loc.Found && loc.Name == name && len(loc.Ambiguous) == 0 && !loc.Longer && (name == s.output || !meantBy(short, s.output))
		}
		if leads("") && leads(s.output) {
			shown = short
			break
		}
	}
	if notInLinks.MatchString(shown) {
		segments := strings.Split(name, "/")
		for i := range segments {
			segments[i] = url.PathEscape(segments[i])
		}
		return "[" + words + "](" + strings.Join(segments, "/") + fragment + ")"
	}
	return "[[" + shown + fragment + "|" + words + "]]"
}

// PagesShown returns the pages of documents that a model was shown by these lines of a receipt, and those that texts of the vault
// refer to: whoever wrote them was shown the pages.
func (l Library) PagesShown(ctx context.Context, lines []prompt.Line) []engine.PagesShown {
	s := l.open(ctx, nil)
	for _, line := range lines {
		s.line(line)
	}
	return s.list()
}

// isShown reports whether a model saw what a line is about.
func isShown(l prompt.Line) bool {
	switch l.Fate {
	case policy.Sent, policy.Resized, policy.Deduplicated:
		return true
	case policy.Converted:
		return strings.TrimSpace(l.Text) != ""
	}
	return false
}

func (s *shelf) line(l prompt.Line) {
	if !isShown(l) {
		return
	}
	switch l.Kind {
	case prompt.KindPage:
		if d := s.of(l.Source.Note); d != nil {
			s.add(d.ID, l.Source.Page)
		}
	case prompt.KindDocument:
		if d := s.of(l.Name); d != nil {
			for _, n := range pageNumbers(l.Pages) {
				s.add(d.ID, n)
			}
		}
	case prompt.KindImage:
		if l.Name != "" {
			s.picture(l.Name)
		}
	case prompt.KindText:
		s.text(l)
	}
}

// picture adds the page whose picture or text a file is.
func (s *shelf) picture(name string) {
	if d := s.of(name); d != nil && d.pictures[name] > 0 {
		s.add(d.ID, d.pictures[name])
	}
}

// text adds the pages of a text.
func (s *shelf) text(l prompt.Line) {
	d := (*document)(nil)
	if l.Source.Note != "" {
		d = s.of(l.Source.Note)
	}
	switch {
	case d == nil:
		s.references(l.Text, l.Source.Note)
	case d.pictures[l.Source.Note] > 0:
		s.add(d.ID, d.pictures[l.Source.Note])
	case l.Source.Extracted:
		for _, p := range d.Pages {
			s.add(d.ID, p.N)
		}
	default:
		from, to := l.Source.Bytes[0], l.Source.Bytes[1]
		if to == 0 {
			from, to = bytesOf(d.notes[l.Source.Note], l.Source.Lines)
		}
		s.noteText(d, l.Source.Note, from, to)
	}
}

// bytesOf returns the place of lines in a text.
func bytesOf(text string, lines [2]int) (from, to int) {
	n := 1
	for line := range strings.SplitAfterSeq(text, "\n") {
		if n < lines[0] {
			from += len(line)
		}
		if n <= lines[1] {
			to += len(line)
		}
		n++
	}
	return from, to
}

var wikilinks = regexp.MustCompile(`!?\[\[[^\[\]\n]*\]\]`)

// noteText adds the pages whose text is in a part of an import's note.
func (s *shelf) noteText(d *document, name string, from, to int) {
	note := d.notes[name]
	parts := vault.PageParts(note)
	if len(parts) == 1 && len(d.Pages) == 1 && note != "" {
		s.add(d.ID, d.Pages[0].N)
	}
	for _, p := range parts {
		first, last := max(p.Body, from), min(p.To, to, len(note))
		if p.Page > 0 && first < last && strings.ContainsFunc(wikilinks.ReplaceAllString(note[first:last], ""), unicode.IsLetter) {
			s.add(d.ID, p.Page)
		}
	}
}

// references adds the pages that a text links to. Imports are from outside, and their links prove nothing.
func (s *shelf) references(text, note string) {
	if s.Links == nil || note != "" && s.ImportedDir != "" && strings.HasPrefix(note, s.ImportedDir+"/") {
		return
	}
	for _, l := range cite.Links(text) {
		loc := s.Links.Locate(l.Target, note)
		if !loc.Found {
			continue
		}
		if d := s.of(loc.Name); d != nil {
			s.add(d.ID, l.Page)
		}
	}
}
