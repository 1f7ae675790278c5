package prompt

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// bundleNote is a note of an import, divided by its pages.
type bundleNote struct {
	name    string
	p       *parsed
	parts   []vault.PagePart
	digests map[int]string // of the pages as they were generated
}

// part returns what the note has about a page, and whether somebody edited it since the import.
func (n *bundleNote) part(page int) (part vault.PagePart, edited bool) {
	for _, part := range n.parts {
		if part.Page == page {
			was := n.digests[page]
			return part, was != "" && was != vault.PageDigest(string(n.p.text.text[part.From:part.To]))
		}
	}
	return vault.PagePart{}, false
}

// note returns a note of an import by its path in the bundle, or nil if it cannot be read.
func (f *files) note(m *bundle, rel string) *bundleNote {
	if n, known := m.notes[rel]; known {
		return n
	}
	if m.notes == nil {
		m.notes = map[string]*bundleNote{}
	}
	m.notes[rel] = nil
	name := m.inside(rel)
	if name == "" || !f.mayRead(name) {
		return nil
	}
	p, err := f.load(name)
	if err != nil || p.text == nil || p.size > int64(len(p.text.raw)) {
		return nil
	}
	m.notes[rel] = &bundleNote{name: name, p: p, parts: vault.PageParts(string(p.text.text)), digests: m.Generated[rel]}
	return m.notes[rel]
}

// edited returns the part of a note with a page, and whether somebody edited it.
func (f *files) edited(m *bundle, page int) (*bundleNote, vault.PagePart, bool) {
	rel := m.Note
	for _, c := range m.Chapters {
		if c.First <= page && page <= c.Last {
			rel = c.Note
		}
	}
	if m.Generated[rel][page] == "" {
		return nil, vault.PagePart{}, false
	}
	note := f.note(m, rel)
	if note == nil {
		return nil, vault.PagePart{}, false
	}
	part, edited := note.part(page)
	return note, part, edited
}

// remarkWriter writes the pages of an import, with what people wrote around them in the notes.
type remarkWriter struct {
	documentWriter
	s    shown
	m    *bundle
	said []string // edited parts of notes that are shown
}

// says reports whether an edited part that is shown has the text of a page.
func (w *remarkWriter) says(text string) bool {
	longest := longestLine(text)
	return slices.ContainsFunc(w.said, func(said string) bool { return strings.Contains(said, longest) })
}

// longestLine returns the longest line of a text, by which it is recognised.
func longestLine(text string) string {
	longest := ""
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) > len(longest) {
			longest = line
		}
	}
	return longest
}

// above lists what the document's note has above the generated part, and that part if somebody edited it.
func (w *remarkWriter) above(ctx context.Context, overview *parsed) error {
	if overview == nil || w.s.page > 0 {
		return nil
	}
	from, to, found := vault.Generated(string(overview.text.text))
	if !found {
		return nil
	}
	begin, end := from-len(vault.GeneratedBegin), to+len(vault.GeneratedEnd)
	part := selected{ranges: [][2]int{{0, begin}}, why: "its pages follow"}
	if note := w.files.note(w.m, w.m.Note); note != nil {
		if _, edited := note.part(0); edited {
			part.ranges = append(part.ranges, [2]int{from, to})
		}
	}
	pieces := slices.DeleteFunc(part.clip(overview.pieces()), func(one piece) bool { return one.chunk.Start >= end })
	return w.notes.chunks(ctx, w.s.inside(w.s.name), overview, pieces)
}

// below lists what the document's note has below the generated part.
func (w *remarkWriter) below(ctx context.Context, overview *parsed) error {
	if overview == nil || w.s.page > 0 {
		return nil
	}
	_, to, found := vault.Generated(string(overview.text.text))
	if !found {
		return nil
	}
	return w.remark(ctx, w.s.name, overview, [][2]int{{to + len(vault.GeneratedEnd), len(overview.text.text)}})
}

// page lists a page, with what people wrote in the note of its chapter above the first page and below the last one.
func (w *remarkWriter) page(ctx context.Context, n int) error {
	for _, c := range w.m.Chapters {
		if c.First != n || w.s.page > 0 {
			continue
		}
		if err := w.ofChapter(ctx, c.Note, true); err != nil {
			return err
		}
	}
	if err := w.importedPage(ctx, n); err != nil {
		return err
	}
	for _, c := range w.m.Chapters {
		if c.Last == n && w.s.page == 0 {
			return w.ofChapter(ctx, c.Note, false)
		}
	}
	return nil
}

// ofChapter lists what people wrote in the note of a chapter above its pages, or below them.
func (w *remarkWriter) ofChapter(ctx context.Context, rel string, above bool) error {
	note := w.files.note(w.m, rel)
	if note == nil {
		return nil
	}
	from, to, found := vault.Generated(string(note.p.text.text))
	if !found {
		return nil
	}
	ranges := [][2]int{{to + len(vault.GeneratedEnd), len(note.p.text.text)}}
	if above {
		ranges = [][2]int{{0, from - len(vault.GeneratedBegin)}}
		if part, edited := note.part(0); edited {
			ranges = append(ranges, [2]int{part.From, part.To})
			w.said = append(w.said, string(note.p.text.text[part.From:part.To]))
		}
	}
	return w.remark(ctx, note.name, note.p, ranges)
}

// remark lists parts of a note of the import, unless they are empty.
func (w *remarkWriter) remark(ctx context.Context, name string, p *parsed, ranges [][2]int) error {
	pieces := slices.DeleteFunc(selected{ranges: ranges, why: "its pages are shown"}.clip(p.pieces()), func(one piece) bool {
		return one.cut != "" || one.chunk.Kind == chunking.Text && strings.TrimSpace(one.chunk.Text) == ""
	})
	if len(pieces) == 0 {
		return nil
	}
	if name != w.s.name {
		w.out.reads = append(w.out.reads, policy.Read{Kind: policy.ReadFile, Name: name})
	}
	w.out.say("[in the note " + quoted(strings.TrimPrefix(name, w.m.dir+"/")) + "]")
	return w.notes.chunks(ctx, w.s.inside(name), p, pieces)
}

// inside is what is shown in place of a note's own text, in a note.
func (s shown) inside(name string) shown {
	s.name, s.fragment, s.page = name, "", 0
	s.trail = append(slices.Clone(s.trail), trailKey(name, ""))
	return s
}

// editedText lists a page as the note has it, after somebody edited it there, without the page's heading and picture.
func (w *remarkWriter) editedText(ctx context.Context, p *bundlePage, note *bundleNote, part vault.PagePart, one *media, l Line) (told bool, err error) {
	w.out.reads = append(w.out.reads, policy.Read{Kind: policy.ReadFile, Name: note.name})
	l.Name = note.name
	w.said = append(w.said, string(note.p.text.text[part.From:part.To]))
	picture := path.Base(w.m.picture(p))
	for _, each := range (selected{ranges: note.own(part, p.N), why: "heading"}).clip(note.p.pieces()) {
		switch k := each.chunk; {
		case each.cut != "", k.Kind == chunking.Text && strings.TrimSpace(k.Text) == "":
		case k.Kind == chunking.Image && path.Base(k.Target) == picture:
		case k.Kind == chunking.Text:
			text := *one
			if told {
				text.page += ", continued"
			}
			w.pageParts(strings.TrimSpace(k.Text)+"\n", &text, l)
			told = true
		default:
			if err := w.notes.piece(ctx, w.s.inside(note.name), note.p, each); err != nil {
				return told, err
			}
		}
	}
	return told, nil
}

// own returns the bytes of a page's part without what the import wrote above the text: heading, line with the page's id, doubts.
func (n *bundleNote) own(part vault.PagePart, page int) [][2]int {
	head := string(n.p.text.text[part.From:part.Body])
	var own selected
	at := part.From
	for line := range strings.Lines(head) {
		from := at
		at += len(line)
		words := strings.TrimSpace(line)
		if at < part.Body && words != "" && words != "## Page "+strconv.Itoa(page) {
			own.add(from, at)
		}
	}
	at = part.Body
	for line := range strings.Lines(string(n.p.text.text[part.Body:part.To])) {
		if !strings.HasPrefix(line, doubtCallout) { // the user has read the page
			own.add(at, at+len(line))
		}
		at += len(line)
	}
	return own.ranges
}

// doubtCallout begins the line that an import writes above doubtful text.
const doubtCallout = "> [!warning] The text of this page is doubtful: "
