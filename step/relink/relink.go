// Package relink rewrites links when files move, so that each leads to the file that it led to before. Everything else in a text
// stays as it is, byte for byte.
package relink

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/vault"
)

// Moves are files of a vault with their names before and after. It is safe for concurrent use.
type Moves struct {
	before, after *vault.LinkIndex
	to            map[string]string
	stems         []string // folded names, before and after, of what moves, without folder and .md
}

// New returns the moves of some of a vault's files: names are those before, to has the new names. No link meant the fresh files, which
// only just came into the vault.
func New(names []string, to map[string]string, fresh ...string) *Moves {
	m := &Moves{before: vault.NewLinkIndex(), after: vault.NewLinkIndex(), to: to}
	for _, name := range fresh {
		m.after.Add(name)
	}
	for _, name := range names {
		m.before.Add(name)
		m.after.Add(m.To(name))
	}
	for was, is := range to {
		m.stems = append(m.stems, stem(was), stem(is))
	}
	slices.Sort(m.stems)
	m.stems = slices.Compact(m.stems)
	return m
}

func stem(name string) string { return strings.TrimSuffix(vault.Fold(path.Base(name)), ".md") }

// To returns the name of a file afterwards.
func (m *Moves) To(name string) string {
	if is, moved := m.to[name]; moved {
		return is
	}
	return name
}

// Has reports whether a file can have links: notes, canvases and bases.
func Has(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".canvas", ".base":
		return true
	}
	return false
}

// Result is a text with its links rewritten.
type Result struct {
	Data  []byte
	Links int      // how many were rewritten
	Lost  []string // links to files that no link can name, because of a character in the name
}

// Rewrite returns the text of a file, whose name was this one, with the links that would lead elsewhere rewritten.
func (m *Moves) Rewrite(was string, data []byte) Result {
	if !m.concerns(was, data) {
		return Result{Data: data}
	}
	w := &writer{Moves: m, was: was, is: m.To(was)}
	switch strings.ToLower(path.Ext(was)) {
	case ".md", ".markdown":
		w.links(chunking.Links(data), 0, nil)
	case ".canvas":
		w.canvas(data)
	case ".base":
		w.base(data)
	}
	return w.result(data)
}

// maxStems is how many names are searched for in a text before it is parsed. With more, every text is parsed.
const maxStems = 64

// concerns reports whether a text may have a link that changes. It is quick, because every note is checked.
func (m *Moves) concerns(was string, data []byte) bool {
	if m.To(was) != was || len(m.stems) > maxStems {
		return true
	}
	folded := vault.Fold(string(data))
	plain := ""
	if strings.ContainsAny(folded, `%\&`) {
		plain = vault.Fold(decoded(strings.NewReplacer(`\`, "", "&amp;", "&").Replace(string(data))))
	}
	return slices.ContainsFunc(m.stems, func(stem string) bool { return strings.Contains(folded, stem) || strings.Contains(plain, stem) })
}

var escapes = regexp.MustCompile(`(?:%[0-9A-Fa-f]{2})+`)

// decoded returns a text with its percent signs decoded.
func decoded(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(s string) string {
		if plain, err := url.PathUnescape(s); err == nil {
			return plain
		}
		return s
	})
}

// edit replaces a span of a text.
type edit struct {
	start, end int
	text       string
}

// writer rewrites one text.
type writer struct {
	*Moves
	was, is string // names of the file
	edits   []edit
	lost    []string
}

func (w *writer) result(data []byte) Result {
	r := Result{Data: data, Links: len(w.edits), Lost: w.lost}
	if len(w.edits) == 0 {
		return r
	}
	r.Data = make([]byte, 0, len(data)+64*len(w.edits))
	at := 0
	for _, e := range w.edits {
		r.Data = append(append(r.Data, data[at:e.start]...), e.text...)
		at = e.end
	}
	r.Data = append(r.Data, data[at:]...)
	return r
}

// links rewrites links whose offsets begin at base. place converts an offset and a text, if the links are in an encoded text.
func (w *writer) links(list []chunking.Link, base int, place func(start, end int, text string) edit) {
	for _, l := range list {
		text, changed := w.target(l)
		switch {
		case !changed:
		case text == "":
			w.lost = append(w.lost, l.Target)
		case place != nil:
			w.edits = append(w.edits, place(l.Start, l.End, text))
		default:
			w.edits = append(w.edits, edit{base + l.Start, base + l.End, text})
		}
	}
}

// target returns what a link must name now, as it is written there, and whether that differs; "" if no link can name it.
func (w *writer) target(l chunking.Link) (text string, changed bool) {
	loc := w.before.Locate(l.Target, w.was)
	if !loc.Found {
		return "", false
	}
	want := w.To(loc.Name)
	wiki := l.Syntax == chunking.SyntaxWikilink || l.Syntax == chunking.SyntaxProperty
	parted := !wiki && beside(w.was, l.Target, loc.Name) && !beside(w.is, l.Target, want) // other programs know only relative paths
	if w.leads(l.Target, want) && !parted {
		return "", false
	}
	if wiki && strings.ContainsAny(want, "[]|#^") {
		return "", true
	}
	return encode(l, w.name(l.Target, loc.Name, want, wiki)), true
}

// leads reports whether a name leads to a file afterwards.
func (w *writer) leads(name, want string) bool {
	loc := w.after.Locate(name, w.is)
	return loc.Found && loc.Name == want
}

// name returns the name for a link to a file, in the style of the one before: as short, relative or whole.
func (w *writer) name(old, from, want string, wiki bool) string {
	shown := func(name string) string {
		if strings.HasSuffix(strings.ToLower(name), ".md") && !strings.HasSuffix(strings.ToLower(old), ".md") {
			name = name[:len(name)-len(".md")]
		}
		return name
	}
	plain, rooted := vault.NormaliseLink(old)
	switch {
	case rooted:
		return "/" + shown(want)
	case strings.HasPrefix(plain, "./"), strings.HasPrefix(plain, "../"):
		if rel := shown(relative(path.Dir(w.is), want)); strings.HasPrefix(rel, "../") {
			old = rel
		} else {
			old = "./" + rel
		}
		if w.leads(old, want) {
			return old
		}
	case !wiki && beside(w.was, old, from):
		if rel := shown(relative(path.Dir(w.is), want)); w.leads(rel, want) {
			return rel
		}
	case sameFile(plain, from) && strings.Contains(plain, "/"):
	default:
		if short := shown(lastParts(want, strings.Count(plain, "/")+1)); w.unique(short, want) {
			return short
		}
	}
	for _, name := range []string{shown(want), want} {
		if w.leads(name, want) {
			return name
		}
	}
	return "/" + want
}

// unique reports whether a short name leads to a file and fits no other.
func (w *writer) unique(name, want string) bool {
	loc := w.after.Locate(name, w.is)
	return loc.Found && loc.Name == want && len(loc.Ambiguous) < 2 && !loc.Longer
}

// beside reports whether a linkpath is the path to a file from the folder of a note.
func beside(note, linkpath, name string) bool {
	plain, rooted := vault.NormaliseLink(linkpath)
	return !rooted && sameFile(path.Join(path.Dir(note), plain), name)
}

// sameFile reports whether a linkpath is the whole name of a file, with or without .md.
func sameFile(linkpath, name string) bool {
	linkpath, name = vault.Fold(linkpath), vault.Fold(name)
	return linkpath == name || linkpath+".md" == name
}

// lastParts returns the last n parts of a name.
func lastParts(name string, n int) string {
	parts := strings.Split(name, "/")
	return strings.Join(parts[max(0, len(parts)-n):], "/")
}

// relative returns the path from a folder to a file.
func relative(dir, name string) string {
	if dir == "." {
		return name
	}
	from, to := strings.Split(dir, "/"), strings.Split(name, "/")
	for len(from) > 0 && len(to) > 1 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	return strings.Repeat("../", len(from)) + strings.Join(to, "/")
}

// encode writes a name as the syntax of a link needs it.
func encode(l chunking.Link, name string) string {
	switch {
	case l.Syntax == chunking.SyntaxProperty && l.Quote == '\'':
		return strings.ReplaceAll(name, "'", "''")
	case l.Syntax == chunking.SyntaxWikilink, l.Syntax == chunking.SyntaxProperty:
		return name
	case l.Angle:
		return strings.NewReplacer("<", "%3C", ">", "%3E", "%", "%25", "#", "%23", `\`, "%5C", "&", "%26").Replace(name)
	}
	return escaped(name)
}

const upperHex = "0123456789ABCDEF"

// escaped returns a name without characters that mean something in Markdown or HTML.
func escaped(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; c <= ' ' || strings.IndexByte("()<>[]\"'\\%#?&`*|", c) >= 0 {
			b.Write([]byte{'%', upperHex[c>>4], upperHex[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
