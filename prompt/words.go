package prompt

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// maxWords bounds what is quoted from a note in our own lines, in characters: alternative texts, targets, reasons.
const maxWords = 200

// unseen are characters that take no room and mean nothing in a name. The joiners of emoji are none of them.
var unseen = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x200b, Hi: 0x200b, Stride: 1}, {Lo: 0x2060, Hi: 0x2064, Stride: 1}, {Lo: 0xfeff, Hi: 0xfeff, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe007f, Stride: 1}},
}

// oneLine joins lines and drops control characters, and those that nobody sees: marks of direction, zero-width blanks and
// tag characters.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unseen, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.TrimSpace(s)
}

// unbracket takes away what ends a line of our own, or a quote in it.
var unbracket = strings.NewReplacer("[", "(", "]", ")", `"`, "'")

// quoted is a text of the note in our own line: one line, cut, and without the brackets that end such a line.
func quoted(s string) string {
	s = unbracket.Replace(oneLine(s))
	if utf8.RuneCountInString(s) > maxWords {
		s = string([]rune(s)[:maxWords]) + "…"
	}
	return s
}

func list(names []string) string { return strings.Join(names, ", ") }

// facts of an image: path, page, pixels, alternative text.
func (l Line) facts(page string) string {
	parts := []string{quoted(l.label())}
	if page != "" {
		parts = append(parts, page)
	}
	if l.Width > 0 && l.Height > 0 {
		parts = append(parts, fmt.Sprintf("%dx%d", l.Width, l.Height))
	}
	if l.Alt != "" {
		parts = append(parts, `alt "`+quoted(l.Alt)+`"`)
	}
	return list(parts)
}

// record is what else is known of an attached picture: type, size and digest of its file. A page is known by its document's label.
func (l Line) record(page string) string {
	if page != "" {
		return ""
	}
	parts := []string{""}
	if l.MediaType != "" {
		parts = append(parts, l.MediaType)
	}
	if l.Size > 0 {
		parts = append(parts, content.FormatSize(l.Size))
	}
	if l.SHA256 != "" {
		parts = append(parts, "sha256 "+l.SHA256[:min(12, len(l.SHA256))])
	}
	return list(parts)
}

// label is the best name: the vault's, else the target as written.
func (l Line) label() string {
	if l.Name != "" {
		return l.Name
	}
	return l.Target
}

// marker returns the prompt's line for an image: the label before it, or the text instead of it.
func marker(l Line, img media, d policy.Decision) string {
	head := "[image " + strconv.Itoa(img.number) + ": "
	switch d.Fate {
	case policy.Sent, policy.Resized:
		return head + l.facts(img.page) + l.record(img.page) + "]"
	case policy.Deduplicated:
		return head + "same picture as image " + strconv.Itoa(d.Same) + "]"
	case policy.Missing:
		near := ""
		if len(img.near) > 0 {
			near = "; similar names: " + quoted(list(img.near))
		}
		return head + `missing, "` + quoted(l.Target) + `" was not found` + near + "]"
	case policy.Deferred:
		return head + l.facts(img.page) + ", deferred as " + l.ID + ": " + d.Reason + "]"
	case policy.Converted:
		switch {
		case img.long:
			return head + l.facts(img.page) + "; this model cannot see images, and the prompt has no room for the text in it]"
		case img.fallback == "":
			return head + l.facts(img.page) + "; this model cannot see images]"
		}
		return head + l.facts(img.page) + "; this model cannot see images, the text in it is:]\n" + img.fallback +
			"\n[end of the text of image " + strconv.Itoa(img.number) + "]"
	case policy.Reference, policy.Refused:
		if img.remote {
			return head + "remote, " + quoted(l.Target) + ", " + quoted(strings.TrimPrefix(d.Reason, "remote image, ")) + "]"
		}
	}
	return head + l.facts(img.page) + ", not shown: " + quoted(d.Reason) + "]"
}

// documentWords is the label of a document that is sent as a file.
func documentWords(l Line, m *media, d policy.Decision) string {
	doc, _ := m.block.(content.Document)
	facts := []string{quoted(l.Name), fmt.Sprintf("%s of %d", pagesOf(l.Pages), doc.Pages)}
	if l.Size > 0 {
		facts = append(facts, content.FormatSize(l.Size))
	}
	if !d.Fate.Attached() {
		return "[document: " + list(facts) + ", not shown: " + quoted(l.Reason) + "]"
	}
	return "[document: " + list(facts) + "]"
}

// refLine is one line of IMAGE_REFS.
func refLine(l Line, img media, d policy.Decision, mode policy.ImageMode) string {
	known := func(s string) string {
		if s == "" {
			return "-"
		}
		return strings.ReplaceAll(s, "|", "/")
	}
	pixels, bytes := "", ""
	if l.Width > 0 && l.Height > 0 {
		pixels = fmt.Sprintf("%dx%d", l.Width, l.Height)
	}
	if l.Size > 0 {
		bytes = content.FormatSize(l.Size)
	}
	where := quoted(l.label())
	if img.page != "" {
		where += ", " + img.page
	}
	status := string(d.Fate)
	switch {
	case d.Fate == policy.Deferred:
		status = "deferred as " + l.ID
	case d.Fate == policy.Reference && mode == policy.Ignore:
		status = "ignored"
	case (d.Fate == policy.Reference || d.Fate == policy.Refused) && d.Bound == "" && img.remote:
		status = "remote"
	}
	return strings.Join([]string{
		"image " + strconv.Itoa(img.number), known(where), known(l.MediaType), known(pixels), known(bytes),
		known(l.SHA256[:min(12, len(l.SHA256))]), status,
	}, " | ")
}

// run is a row of neighbours for which the prompt has no room. One marker replaces them.
type run struct {
	fate        policy.Fate
	reason      string
	cut         bool // the prompt was cut here: the items have fates of their own
	first, last string
	texts       int
	images      int
	pages       int
	others      int
}

// add counts an item.
func (r *run) add(it *item) {
	if r.first == "" {
		r.first = it.line.ID
	}
	r.last = it.line.ID
	switch {
	case it.line.Kind == KindPage:
		r.pages++
	case it.role == roleMedia:
		r.images++
	case it.role == roleText:
		r.texts++
	default:
		r.others++
	}
}

// words is the marker.
func (r run) words() string {
	ids := r.first
	if r.last != r.first {
		ids += "-" + r.last
	}
	var parts []string
	for _, kind := range []struct {
		n    int
		what string
	}{{r.texts, "text"}, {r.images, "image"}, {r.pages, "page"}, {r.others, "reference"}} {
		if kind.n > 0 {
			parts = append(parts, count(kind.n, kind.what))
		}
	}
	head := "not shown, " + ids
	switch r.fate {
	case policy.Deferred:
		head = "deferred as " + ids
	case policy.Omitted:
		head = "left out, " + ids
	}
	return "[" + head + ": " + list(parts) + "; " + r.reason + "]"
}

// refList collects the lines of IMAGE_REFS.
type refList struct {
	ranges bool // neighbours of one status share a line
	refs   []ref
}

type ref struct {
	number              int
	label, line, status string
}

// fewRefs is how many neighbours have a line each.
const fewRefs = 3

func (l *refList) add(line Line, img media, text string) {
	status := text[strings.LastIndex(text, " | ")+3:]
	l.refs = append(l.refs, ref{number: img.number, label: quoted(line.label()), line: text, status: status})
}

// lines returns one line for each image, or for many neighbours of one status.
func (l *refList) lines() []string {
	var lines []string
	for i := 0; i < len(l.refs); {
		n := 1
		for i+n < len(l.refs) && l.refs[i+n].number == l.refs[i].number+n && l.refs[i+n].status == l.refs[i].status {
			n++
		}
		if first, last := l.refs[i], l.refs[i+n-1]; l.ranges && n > fewRefs {
			lines = append(lines, fmt.Sprintf("images %d-%d | %s to %s | - | - | - | - | %s", first.number, last.number, first.label, last.label, first.status))
		} else {
			for _, one := range l.refs[i : i+n] {
				lines = append(lines, one.line)
			}
		}
		i += n
	}
	return lines
}

// pagesOf is such as `page 12` or `pages 3-5`.
func pagesOf(pages string) string {
	if strings.ContainsAny(pages, "-–,") {
		return "pages " + pages
	}
	return "page " + pages
}
