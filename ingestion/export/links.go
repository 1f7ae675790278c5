package export

import (
	"html"
	"path"
	"regexp"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// Link is a link of a note, or the picture or note that it shows.
type Link struct {
	dest  string // as written, without a shown text
	wiki  bool
	embed bool
}

var (
	definition = regexp.MustCompile(`^( {0,3}\[)([^\]\[]+)(\]:[ \t]*)(<[^<>]*>|[^ \t<]+)(.*)$`)
	htmlImage  = regexp.MustCompile(`(?i)<img\s[^<>]*>`)
	attribute  = regexp.MustCompile(`(?i)\b(src|alt|width)\s*=\s*("[^"]*"|'[^']*'|[^\s"'<>/]+)`)
	propLink   = regexp.MustCompile(`(["'])(\[\[[^\[\]"']+\]\])(["'])`)
)

// rewriter rewrites the links of one line. at returns what a link becomes, or reports that it leads out of the tree.
type rewriter struct {
	at      func(Link) (string, bool)
	defined map[string]bool // reference names that lead into the tree
}

// Bounds of what is looked ahead on a line, in bytes, so that hostile lines take no longer than others.
const (
	maxWikilink = 2000
	maxDest     = 4000
	maxCode     = 10_000
)

// line returns a line with its links rewritten. Embeds that stay begin with [markdown.Kept].
func (r rewriter) line(s string) string {
	if m := definition.FindStringSubmatch(s); m != nil && m[2][0] != '^' {
		if to, ok := r.at(Link{dest: strings.Trim(m[4], "<>")}); ok {
			return m[1] + m[2] + m[3] + to + m[5]
		}
		return s
	}
	s = htmlImage.ReplaceAllStringFunc(s, r.image)
	out := make([]byte, 0, len(s)+len(s)/8)
	table := strings.HasPrefix(strings.TrimLeft(s, " \t"), "|")
	var open []int // positions in out of the brackets that are open
	for i := 0; i < len(s); {
		n := 1
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			n = 2
		case c == '`':
			n = codeSpan(s[i:min(len(s), i+maxCode)])
		case strings.HasPrefix(s[i:], "[["):
			if inner, ok := between(s[i+2 : min(len(s), i+maxWikilink)]); ok {
				out = r.wikilink(out, inner, table)
				i += len(inner) + 4
				continue
			}
			n = 2
		case c == '[':
			open = append(open, len(out))
		case c == ']' && len(open) > 0:
			at := open[len(open)-1]
			open = open[:len(open)-1]
			var made string
			made, n = r.closed(out, s[i:], at)
			out = append(out, made...)
			i += n
			continue
		}
		out = append(out, s[i:i+n]...)
		i += n
	}
	return string(out)
}

// between returns the text up to the brackets that close a wikilink.
func between(s string) (string, bool) {
	inner, _, ok := strings.Cut(s, "]]")
	return inner, ok && !strings.Contains(inner, "[[")
}

// codeSpan returns the length of the code span at the beginning of s, or of its backticks if it does not end.
func codeSpan(s string) int {
	n := len(s) - len(strings.TrimLeft(s, "`"))
	for i := n; i < len(s); {
		next := strings.IndexByte(s[i:], '`')
		if next < 0 {
			break
		}
		i += next
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if i += run; run == n {
			return i
		}
	}
	return n
}

// isEmbed reports whether the bracket at a position of out begins an embed.
func isEmbed(out []byte, at int) bool {
	return at > 0 && out[at-1] == '!' && (at < 2 || out[at-2] != '\\')
}

// keep marks the embed whose bracket is at a position of out as one that stays.
func keep(out []byte, at int) {
	if isEmbed(out, at) {
		out[at-1] = markdown.Kept[0]
	}
}

// wikilink appends the link with this text between its brackets.
func (r rewriter) wikilink(out []byte, inner string, table bool) []byte {
	at := len(out)
	target, shown, named := strings.Cut(inner, "|")
	bar := "|"
	if table {
		bar = `\|`
	}
	target = strings.TrimSuffix(target, `\`) // in a table
	embed := isEmbed(out, at)
	to, ok := r.at(Link{dest: target, wiki: true, embed: embed})
	if !ok {
		return append(out, "[["+inner+"]]"...)
	}
	text := "[[" + to
	switch {
	case named:
		text += bar + shown
	case !embed && to != target:
		text += bar + strings.ReplaceAll(target, "#", " > ")
	}
	out = append(out, text+"]]"...)
	keep(out, at)
	return out
}

// closed returns what replaces the beginning of s, a bracket that was opened at a position of out, and how much of s that is.
func (r rewriter) closed(out []byte, s string, at int) (made string, n int) {
	embed := isEmbed(out, at)
	if strings.HasPrefix(s, "](") {
		dest, n := destination(s[2:min(len(s), maxDest)])
		if n == 0 {
			return "]", 1
		}
		to, ok := r.at(Link{dest: dest, embed: embed})
		if !ok {
			return s[:2+n], 2 + n
		}
		keep(out, at)
		return "](" + to, 2 + n
	}
	if !embed || len(r.defined) == 0 {
		return "]", 1
	}
	name := string(out[at+1 : min(len(out), at+1000)])
	if rest, ok := strings.CutPrefix(s, "]["); ok {
		if given, _, ok := strings.Cut(rest[:min(len(rest), 1000)], "]"); ok && given != "" {
			name = given
		}
	}
	if r.defined[key(name)] {
		keep(out, at)
	}
	return "]", 1
}

// destination reads the destination at the beginning of s, and how long it is there.
func destination(s string) (dest string, n int) {
	start := len(s) - len(strings.TrimLeft(s, " \t"))
	if strings.HasPrefix(s[start:], "<") {
		if end := strings.IndexByte(s[start:], '>'); end > 0 {
			return s[start+1 : start+end], start + end + 1
		}
		return "", 0
	}
	depth := 0
	for i := start; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return s[start:i], i
			}
		case ' ', '\t':
			if title := strings.TrimLeft(s[i:], " \t"); title != "" && strings.ContainsRune("\"'()", rune(title[0])) {
				return s[start:i], i
			} // otherwise a space that should have been encoded
		}
	}
	return "", 0
}

// image returns an HTML picture as a Markdown one if it shows a file of the tree.
func (r rewriter) image(tag string) string {
	values := map[string]string{}
	for _, m := range attribute.FindAllStringSubmatch(tag, -1) {
		values[strings.ToLower(m[1])] = html.UnescapeString(strings.Trim(m[2], `"'`))
	}
	if _, ok := r.at(Link{dest: values["src"], embed: true}); !ok {
		return tag
	}
	shown := markdown.Alias(values["alt"])
	if width := strings.TrimSuffix(values["width"], "px"); width != "" && strings.Trim(width, "0123456789") == "" {
		shown += "|" + width
	}
	return "![" + shown + "](<" + values["src"] + ">)" // its path is written with the others of the line
}

// Links returns the links of a note, to be looked up with [Tree.Mentions].
func Links(text string) []Link {
	var found []Link
	r := rewriter{at: func(l Link) (string, bool) {
		found = append(found, l)
		return "", false
	}}
	for line := range strings.SplitSeq(text, "\n") {
		r.line(line)
	}
	return found
}

// Mentions adds the files that links of a note mean: true for those that it shows.
func (t *Tree) Mentions(links []Link, from string, into map[int]bool) {
	for _, l := range links {
		if i, _, ok := t.target(l, from); ok {
			into[i] = into[i] || l.embed
		}
	}
}

// target returns the file that a link means, and its path as it is written, decoded.
func (t *Tree) target(l Link, from string) (file int, written string, ok bool) {
	if l.wiki {
		name, _, _ := strings.Cut(l.dest, "#")
		i, ok := t.find(name, from)
		return i, name, ok
	}
	if id, ok := strings.CutPrefix(l.dest, ":/"); ok {
		id, _, _ = strings.Cut(id, "#")
		i, ok := t.ids[id]
		return i, l.dest, ok
	}
	paths, ok := local(l.dest)
	if !ok {
		for _, p := range paths { // a name may have a colon
			if i, ok := t.at(path.Join(path.Dir(from), p)); ok {
				return i, p, true
			}
		}
		return 0, "", false
	}
	return t.follow(paths, from)
}

// maxMissing is how many missing pictures of a note are named.
const maxMissing = 20

// Note is a note of the tree as it is put into the bundle.
type Note struct {
	Text    string
	Missing []string // some of what it shows that is not in the tree
	Remote  int      // pictures of the web that it shows
}

// Note returns a note made harmless, with its properties and with links that lead to the files of the tree where they are placed.
// Links and pictures that lead out of the tree are treated as in any foreign note.
func (t *Tree) Note(text string, file int) Note { return t.note(text, file, markdown.Exported) }

// Part is Note for a note that becomes part of another. Its properties become a code block.
func (t *Tree) Part(text string, file int) Note { return t.note(text, file, markdown.ExportedPart) }

type maker func(text string, line, property func(string) string) string

func (t *Tree) note(text string, file int, make maker) Note {
	var n Note
	from := t.Files[file]
	r := rewriter{defined: map[string]bool{}}
	r.at = func(l Link) (string, bool) {
		i, written, ok := t.target(l, from.From)
		if !ok || t.Files[i].To == "" {
			switch _, isLocal := local(l.dest); {
			case !l.embed:
			case (l.wiki || isLocal) && len(n.Missing) < maxMissing:
				n.Missing = append(n.Missing, l.dest)
			case strings.HasPrefix(strings.ToLower(l.dest), "http"):
				n.Remote++
			}
			return "", false
		}
		return t.written(l, written, from.To, t.Files[i].To), true
	}
	for line := range strings.SplitSeq(markdown.Clean(text), "\n") {
		if m := definition.FindStringSubmatch(line); m != nil {
			if _, _, ok := t.target(Link{dest: strings.Trim(m[4], "<>")}, from.From); ok {
				r.defined[key(m[2])] = true
			}
		}
	}
	n.Text = make(text, r.line, func(property string) string {
		return propLink.ReplaceAllStringFunc(property, func(s string) string {
			if to := string(r.wikilink(nil, s[3:len(s)-3], false)); s[0] == s[len(s)-1] && !strings.ContainsAny(to, `"'\`) {
				return s[:1] + to + s[:1]
			}
			return s
		})
	})
	return n
}

// written returns what a link to a placed file says. A link that leads there already stays as it is. Paths begin with a dot, or
// Obsidian would first look for them from the root of the vault, and show a note of the user instead.
func (t *Tree) written(l Link, written, from, to string) string {
	_, fragment, _ := strings.Cut(l.dest, "#")
	if fragment != "" {
		fragment = "#" + fragment
	}
	if l.wiki {
		if leads(written, from, to) || leads(written+".md", from, to) {
			return l.dest
		}
		return strings.TrimSuffix(way(from, to), ".md") + fragment
	}
	if leads(written, from, to) && !strings.ContainsAny(l.dest, " \t") {
		return l.dest
	}
	return encode(way(from, to)) + fragment
}
