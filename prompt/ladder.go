package prompt

import (
	"context"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/policy"
)

// ladder replaces what has no room, or what the model cannot see, with less, step by step: its text, one line, a range. Pictures
// were made smaller before, where that helps. It changes the decisions of one try.
type ladder struct {
	out       *outline
	decisions []policy.Decision
	bounds    policy.Bounds // with everything that is spent on text
	sees      bool
	files     *files
	documents *documentReader
	pictures  *pictureReader
	trust     policy.Trust

	texts  int                // tokens left for texts that replace pictures
	room   int                // tokens left in the prompt
	full   bool               // no further text is read
	shown  map[string]bool    // keys of pages whose text is in the prompt
	leaves map[string]leaf    // of pictures of imports, by name
	note   map[string]*bundle // of folders; nil: no import
}

// descend applies when_exceeded=ladder.
func (a *attempt) descend(ctx context.Context, out *outline, decisions []policy.Decision, bounds policy.Bounds) error {
	if bounds.WhenExceeded != policy.Ladder {
		return nil
	}
	l := &ladder{
		out: out, decisions: decisions, bounds: bounds, sees: a.spec.Caps.Has(policy.Vision), files: a.files, documents: a.documents,
		pictures: a.pictures, trust: a.trust, texts: bounds.MaxFallbackTokens, room: bounds.MaxPromptTokens - bounds.ReservedTokens,
		shown: map[string]bool{}, leaves: map[string]leaf{}, note: map[string]*bundle{},
	}
	if bounds.MaxPromptTokens == 0 {
		l.room = math.MaxInt
	}
	return l.descend(ctx)
}

func (l *ladder) descend(ctx context.Context) error {
	for i, d := range l.decisions {
		cand := l.out.candidates[i]
		if !d.Fate.Attached() {
			continue
		}
		l.room -= d.Tokens
		if cand.Kind == policy.PageText {
			l.shown[cand.Page] = true
		}
		if cand.Replaces {
			l.texts -= d.Tokens
		}
	}
	for i := range l.out.items {
		if l.out.items[i].role != roleMedia {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.step(ctx, i); err != nil {
			return err
		}
	}
	l.out.fallback = l.bounds.MaxFallbackTokens - l.texts
	l.ranges()
	return nil
}

// step takes one item as far down as it must.
func (l *ladder) step(ctx context.Context, i int) error {
	it := &l.out.items[i]
	d, cand := &l.decisions[it.media.cand], l.out.candidates[it.media.cand]
	blind := d.Fate == policy.Converted
	switch {
	case !blind && (d.Fate != policy.Deferred || d.Bound == ""):
		return nil
	case it.held:
		d.Step = policy.StepRange
		return nil
	}
	if !blind {
		d.Reason = l.reason(d.Bound)
	}
	switch {
	case cand.Kind == policy.PageText:
		l.pageText(it, d, cand)
		return nil
	case cand.Kind != policy.Picture:
		return nil
	}
	if it.media.leaf == (leaf{}) {
		it.media.leaf = l.leafOf(it)
		it.line.Page, it.line.Document = it.media.leaf.n, it.media.leaf.file
	}
	if l.shown[cand.Page] && cand.Page != "" {
		it.media.above, d.Step = true, policy.StepText
		return nil
	}
	return l.replace(ctx, i, blind)
}

// reason names the budget without the sums, so that neighbours have the same reason.
func (l *ladder) reason(key string) string {
	b := l.bounds
	limit := map[string]string{
		"max_images": strconv.Itoa(b.MaxImages), "max_pages": strconv.Itoa(b.MaxPages), "max_prompt_tokens": strconv.Itoa(b.MaxPromptTokens),
		"max_fallback_tokens": strconv.Itoa(b.MaxFallbackTokens), "max_total_mb": strconv.FormatFloat(rounded(float64(b.MaxTotalBytes)/(1<<20)), 'f', -1, 64),
	}[key]
	return strings.Join(strings.Fields(key+" "+limit+" reached"), " ")
}

// pageText shows the text of a page beyond max_pages if it can replace the page's picture.
func (l *ladder) pageText(it *item, d *policy.Decision, cand policy.Candidate) {
	d.Step = policy.StepLine
	n := policy.TextTokens(it.words) + it.media.labelTokens()
	if !it.media.pictured || d.Bound != "max_pages" || !l.take(n) {
		return
	}
	d.Fate, d.Tokens, d.Step = policy.Converted, n, policy.StepText
	l.shown[cand.Page] = true
}

// replace puts the text of a picture in its place, if there is one and it fits.
func (l *ladder) replace(ctx context.Context, i int, blind bool) error {
	it := &l.out.items[i]
	d := &l.decisions[it.media.cand]
	d.Step = policy.StepLine
	if l.full {
		l.noRoom(it, d, blind)
		return nil
	}
	text, err := l.textOf(ctx, it)
	if err != nil || text == "" {
		return err
	}
	it.media.fallback = ""
	switch {
	case l.says(i, text):
		it.media.above, d.Step = true, policy.StepText
	case l.take(policy.TextTokens(text) + pageTokens):
		it.media.fallback, it.media.foreign, d.Step = text, l.foreign(it), policy.StepText
		d.Fate, d.Tokens = policy.Converted, policy.TextTokens(text)
	default:
		l.noRoom(it, d, blind)
	}
	return nil
}

// foreign returns the frame around the text of an untrusted picture that a trusted file shows.
func (l *ladder) foreign(it *item) *frame {
	name := it.line.Name
	if it.frame == nil || it.frame.untrusted || it.frame.name == name || it.frame.name == it.media.leaf.file {
		return nil
	}
	if !l.trust.Untrusted(policy.Read{Kind: policy.ReadFile, Name: name}) {
		return nil
	}
	return &frame{tag: tagEmbed, key: "path", name: name, untrusted: true}
}

// noRoom keeps the text of a picture that the model cannot see for read_chunks.
func (l *ladder) noRoom(it *item, d *policy.Decision, blind bool) {
	it.media.fallback = ""
	if blind {
		d.Fate, d.Bound, d.Reason = policy.Deferred, "max_fallback_tokens", l.reason("max_fallback_tokens")
		d.Why = l.bounds.Over(d.Bound)
	}
}

// take spends tokens on a text that replaces a picture. After a text that did not fit into little room no other is tried, so
// that what is left is one range.
func (l *ladder) take(tokens int) bool {
	if l.full {
		return false
	}
	if left := min(l.texts, l.room); tokens > left {
		l.full = left < l.bounds.MaxFallbackTokens/4
		return false
	}
	l.texts, l.room = l.texts-tokens, l.room-tokens
	return true
}

// textOf returns the text of a picture: of its page, or recognised in it.
func (l *ladder) textOf(ctx context.Context, it *item) (string, error) {
	if text := l.pictures.fallback(it.line.Name); text != "" || it.media.block == nil || it.media.leaf.file == "" || it.media.cropped {
		return text, nil
	}
	d, known := l.documents.described[it.media.leaf.file]
	if !known {
		return "", nil
	}
	text, err := l.documents.text(ctx, it.media.leaf.file, d, it.media.leaf.n)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", nil //nolint:nilerr // a page whose text cannot be read has none, and is named
	}
	return strings.TrimSpace(text), nil
}

// says reports whether the note's own text behind the picture holds the picture's text, as the notes of short imports do.
func (l *ladder) says(i int, text string) bool {
	longest := longestLine(text)
	for _, it := range l.out.items[i+1:] {
		switch it.role {
		case roleText:
			if strings.Contains(it.words, longest) {
				return true
			}
		case roleSilent:
		default:
			return false
		}
	}
	return false
}

// leafOf returns the page of an import that a picture shows, if it shows one.
func (l *ladder) leafOf(it *item) leaf {
	name := it.line.Name
	if name == "" || it.media.remote {
		return leaf{}
	}
	dir := path.Dir(path.Dir(name))
	m, known := l.note[dir]
	if !known {
		if m, _ = l.files.bundle(dir); m != nil { // a folder without a manifest is no import
			for _, p := range m.Pages {
				if picture := m.picture(&p); picture != "" {
					l.leaves[picture] = leaf{n: p.N, of: m.last(), doubt: p.doubt()}
				}
			}
		}
		l.note[dir] = m
	}
	if m == nil {
		return leaf{}
	}
	found := l.leaves[name]
	if found.n > 0 {
		if found.file = m.note(); found.file == "" {
			found.file = path.Join(dir, "index.md")
		}
		if note := it.line.Source.Note; path.Dir(note) == dir {
			found.file = note
		}
	}
	return found
}

// group is neighbours of which nothing is shown.
type group struct {
	file   string
	last   int
	media  []int // items
	gaps   []int // items between them
	since  []int // items after the last of them
	inputs map[int]bool
}

// ranges makes ranges of neighbours that are lines. Pages are named together with what the note of their import says
// between them, and files that are nothing but a picture with their frames.
func (l *ladder) ranges() {
	sole := l.sole()
	var g group
	end := func() {
		l.close(g)
		g = group{}
	}
	for i := range l.out.items {
		it := &l.out.items[i]
		switch {
		case it.role == roleSilent:
		case it.held:
			end()
		case l.left(it):
			file := it.media.leaf.file
			if len(g.media) > 0 && (file != g.file || it.media.leaf.n < g.last) {
				end()
			}
			if len(g.media) == 0 {
				g = group{file: file, inputs: map[int]bool{}}
			}
			g.gaps, g.since = append(g.gaps, g.since...), nil
			g.media, g.last, g.inputs[it.input] = append(g.media, i), it.media.leaf.n, true
		case len(g.media) == 0:
		case it.role == roleText && it.line != nil && (strings.TrimSpace(it.words) == "" || g.file != "" && saysNothing(it.words)):
			g.since = append(g.since, i)
		case sole[it.input] && (it.role == roleOpen || it.role == roleClose || it.role == roleRefs):
		default:
			end()
		}
	}
	end()
}

// left reports whether an item is to be named in one line.
func (l *ladder) left(it *item) bool {
	return it.role == roleMedia && l.decisions[it.media.cand].Step == policy.StepLine
}

// sole lists the inputs that are nothing but one line.
func (l *ladder) sole() map[int]bool {
	media, other := map[int]int{}, map[int]bool{}
	for i := range l.out.items {
		switch it := &l.out.items[i]; {
		case l.left(it) && !it.held:
			media[it.input]++
		case it.role == roleOpen && it.frame.tag == tagInput, it.role == roleClose && it.frame.tag == tagInput, it.role == roleRefs, it.role == roleSilent:
		default:
			other[it.input] = true
		}
	}
	alone := map[int]bool{}
	for input, n := range media {
		alone[input] = n > 0 && !other[input] && input > 0
	}
	return alone
}

// close makes a range of a group: of pages, or of more than one picture.
func (l *ladder) close(g group) {
	if len(g.media) == 0 || g.file == "" && len(g.media) < 2 {
		return
	}
	span := &leftOut{}
	for _, i := range g.media {
		it := &l.out.items[i]
		it.span, span.items = span, append(span.items, it)
		l.decisions[it.media.cand].Step = policy.StepRange
	}
	for _, i := range g.gaps {
		it := &l.out.items[i]
		it.gap = true
		it.line.Fate, it.line.Reason, it.line.Text, it.line.Tokens = policy.Omitted, "beside pages that are not shown", "", 0
	}
	if g.file != "" && (l.sees || l.bounds.MaxFallbackTokens > 0) && !slices.Contains(l.out.paged, g.file) {
		l.out.paged = append(l.out.paged, g.file)
	}
	if len(g.inputs) < 2 {
		return
	}
	for i := range l.out.items {
		if it := &l.out.items[i]; g.inputs[it.input] && (it.role == roleOpen || it.role == roleClose || it.role == roleRefs) {
			it.gap = true
		}
	}
}

// aboutAPage are the lines that the note of an import has for each page, besides picture and text.
var aboutAPage = regexp.MustCompile(`^(#{1,6} Page \d+|\[.*\^p\d+|\^p\d+|> \[!(warning|failure|info)\] (This page could not be read|The text of this page|Recognised with).*)?$`)

// saysNothing reports whether a text has only such lines.
func saysNothing(words string) bool {
	for line := range strings.Lines(words) {
		if !aboutAPage.MatchString(strings.TrimSpace(line)) {
			return false
		}
	}
	return true
}

// leftOut is a range: neighbours of which nothing is shown.
type leftOut struct {
	items []*item
}

// words is the marker of the range. reading: the model can call tools.
func (r leftOut) words(reading bool) string {
	first, last := r.items[0], r.items[len(r.items)-1]
	what, file := "", first.media.leaf.file
	if file != "" {
		what = span("page", first.media.leaf.n, last.media.leaf.n)
	} else {
		what = span("image", first.media.number, last.media.number)
	}
	verb := " are not shown"
	if len(r.items) == 1 || file != "" && first.media.leaf.n == last.media.leaf.n {
		verb = " is not shown"
	}
	words := what + verb
	if file == "" {
		words += ", " + quoted(first.line.label()) + " to " + quoted(last.line.label())
	}
	words += ": " + quoted(first.line.Reason)
	if !reading {
		return "[" + words + "]"
	}
	if file != "" {
		from := first.media.leaf.n
		words += fmt.Sprintf("; text: read_pages %d-%d of %s", from, min(from+readPages-1, last.media.leaf.n), quoted(file))
	}
	var ids []string
	for _, it := range r.items {
		if it.line.Fate == policy.Deferred {
			ids = append(ids, it.line.ID)
		}
	}
	switch len(ids) {
	case 0:
	case 1:
		words += "; read_chunks " + ids[0]
	default:
		words += "; read_chunks " + ids[0] + "-" + ids[len(ids)-1]
	}
	return "[" + words + "]"
}

// readPages is how many pages a marker suggests to read at once.
const readPages = 20

// span names neighbours by their numbers.
func span(what string, first, last int) string {
	if first == last {
		return fmt.Sprintf("%s %d", what, first)
	}
	return fmt.Sprintf("%ss %d-%d", what, first, last)
}
