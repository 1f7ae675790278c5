package prompt

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
)

// renderer makes blocks of items when every fate is known.
type renderer struct {
	out       *outline
	spec      Spec
	fallback  func(name string) string // the text that was recognised in a picture
	decisions []policy.Decision
	nonce     string

	blocks  []content.Block
	chunks  []Deferred
	blank   string   // white space that waits for a block to join
	midline bool     // the last text does not end a line
	blind   int      // images that became text because the model cannot see
	unseen  int      // pages that did
	row     run      // neighbours that have no room
	span    *leftOut // pages or pictures of which nothing is shown; nil: none
}

// render makes the prompt of the items.
func render(out *outline, spec Spec, decisions []policy.Decision, nonce string, fallback func(name string) string) *Prompt {
	r := &renderer{out: out, spec: spec, decisions: decisions, nonce: nonce, fallback: fallback}
	for i := range out.items {
		r.decide(&out.items[i])
	}
	out.parents()
	for i := range out.items {
		r.item(i)
	}
	r.flush()
	r.warnBlind()
	p := &Prompt{Nonce: nonce, Blocks: r.blocks, Format: Format, Chunks: r.chunks, Paged: out.paged}
	p.System = systemText(spec, nonce, readingOn(len(r.chunks) > 0, len(out.paged) > 0, spec))
	p.Receipt = receipt(out, spec, p, decisions)
	p.Digest = digest(p, nonce)
	return p
}

// warnBlind says once what the model does not see.
func (r *renderer) warnBlind() {
	var parts []string
	if r.blind > 0 {
		parts = append(parts, count(r.blind, "image"))
	}
	if r.unseen > 0 {
		parts = append(parts, count(r.unseen, "page"))
	}
	if len(parts) > 0 {
		verb := " stand"
		if r.blind+r.unseen == 1 {
			verb = " stands"
		}
		r.out.warn(Warning{Message: "the model has no vision: " + strings.Join(parts, " and ") + verb + " as text"})
	}
}

// decide completes the receipt of something that is attached as a whole.
func (r *renderer) decide(it *item) {
	if it.role != roleMedia {
		return
	}
	m, l, d := it.media, it.line, r.decisions[it.media.cand]
	l.Fate, l.Reason, l.Why, l.Tokens, l.Step = d.Fate, d.Reason, d.Why, d.Tokens, d.Step
	cand := r.out.candidates[m.cand]
	at := Warning{Note: l.Source.Note, Line: l.Source.Lines[0], Target: l.Target}
	switch {
	case d.Fate == policy.Refused && m.remote: // it was warned of where it was not fetched
	case d.Fate == policy.Refused:
		at.Message = "image not shown: " + d.Reason
		r.out.warn(at)
	case d.Fate == policy.Missing:
		at.Message, at.Near = "image not found", m.near
		r.out.warn(at)
	case d.Fate == policy.Converted && cand.Kind == policy.PageText:
	case d.Fate == policy.Converted:
		l.Text, l.Tokens = m.fallback, policy.TextTokens(m.fallback)
		if !r.sees() {
			r.blind++
		}
		switch {
		case r.sees():
		case m.fallback != "" || m.above: // nothing is missed, which warnBlind reports
			l.Step, l.Why = "", omission.Why{}
		case m.long:
			l.Step, l.Why = policy.StepLine, r.spec.Bounds.Over("max_prompt_tokens")
		default:
			l.Step, l.Why = cmp.Or(l.Step, policy.StepLine), omission.Of(omission.Vision)
		}
	case d.Fate == policy.Deduplicated && cand.Kind == policy.PageDocument:
		l.Reason = "same document as above"
	case cand.Kind == policy.PageText && d.Fate != policy.Sent:
		l.Text, l.Tokens = "", 0
	case cand.Kind == policy.PageText && d.Fate == policy.Sent && m.blind:
		r.unseen++
		l.Fate, l.Reason = policy.Converted, "the model has no vision"
	}
	if promised := mediaOf(l.Name); d.Fate.Attached() && promised != "" && promised != l.MediaType && l.MediaType != "" && m.block == nil {
		at.Message = l.Name + " holds " + l.MediaType + " and is sent as that"
		r.out.warn(at)
	}
}

// parents sets the fate of documents none of whose pages is in the prompt. Where no page has a cause, the document has one.
func (o *outline) parents() {
	shown, told := map[*Line]bool{}, map[*Line]bool{}
	var held []*Line
	for _, it := range o.items {
		if it.line == nil {
			continue
		}
		if it.role == roleText && it.frame != nil && it.frame.line != nil && it.line.Fate == policy.Sent {
			shown[it.frame.line] = true
		}
		if it.role != roleMedia || it.media.parent == nil {
			continue
		}
		held = append(held, it.media.parent)
		told[it.media.parent] = told[it.media.parent] || !it.line.Why.IsZero()
		if f := it.line.Fate; f.Attached() || f == policy.Converted || f == policy.Deduplicated {
			shown[it.media.parent] = true
		}
	}
	for _, l := range held {
		if !shown[l] && l.Fate == policy.Sent {
			l.Fate, l.Reason = policy.Reference, "none of its pages is in the prompt"
			if !told[l] {
				l.lose(omission.Of(omission.NoText), l.Reason)
			}
		}
	}
}

func (r *renderer) sees() bool { return r.spec.Caps.Has(policy.Vision) }

// offers reports whether an item is a picture whose text is shown, so that the model can ask for the picture.
func (r *renderer) offers(it *item) bool {
	return it.role == roleMedia && it.line.Fate == policy.Converted && it.line.Step == policy.StepText && it.media.number > 0 && r.sees()
}

func (r *renderer) item(i int) {
	it := &r.out.items[i]
	if it.line != nil && (it.line.Fate == policy.Deferred || r.offers(it)) {
		r.chunks = append(r.chunks, r.deferred(it))
	}
	if r.joins(it) {
		return
	}
	switch it.role {
	case roleOpen:
		r.line(it.frame.open(r.nonce, ""))
	case roleClose:
		r.line(it.frame.close(r.nonce))
	case roleText:
		r.text(it.words)
	case roleWords:
		r.line(it.words)
	case roleMedia:
		r.media(it)
	case roleRefs:
		r.references(i)
	case roleSilent:
	}
}

// joins reports whether an item has no room; if so, it joins the marker of its neighbours.
func (r *renderer) joins(it *item) bool {
	if it.held {
		if it.line == nil {
			return true
		}
		if !r.row.cut {
			r.flush()
			r.row = run{cut: true, fate: r.out.cutFate, reason: r.out.cutReason}
		}
		r.row.add(it)
		return true
	}
	if it.gap {
		return true
	}
	if it.span != nil {
		if it.span != r.span {
			r.flush()
			r.span = it.span
		}
		return true
	}
	if it.role == roleMedia && it.media.page != "" && r.decisions[it.media.cand].Step == "" && r.decisions[it.media.cand].Bound != "" {
		l := it.line
		if r.row.cut || r.row.fate != l.Fate || r.row.reason != l.Reason {
			r.flush()
			r.row = run{fate: l.Fate, reason: l.Reason}
		}
		r.row.add(it)
		return true
	}
	if it.role != roleSilent && !(it.role == roleText && strings.TrimSpace(it.words) == "") {
		r.flush()
	}
	return false
}

// flush writes the marker of neighbours that have no room.
func (r *renderer) flush() {
	if r.span != nil {
		words := r.span.words(r.spec.Caps.Has(policy.Tools))
		r.span = nil
		r.line(words)
	}
	if r.row.first == "" {
		return
	}
	words := r.row.words()
	r.row = run{}
	r.line(words)
}

// text adds bytes of an input exactly. White space alone waits for the next block.
func (r *renderer) text(words string) {
	r.blank += words
	if strings.TrimSpace(r.blank) == "" {
		return
	}
	r.block(r.blank)
}

// line adds a line of our own, at the beginning of a line.
func (r *renderer) line(words string) {
	lead := r.blank
	if lead != "" && !strings.HasSuffix(lead, "\n") || lead == "" && r.midline {
		lead += "\n"
	}
	r.block(lead + words + "\n")
}

func (r *renderer) block(text string) {
	r.blocks = append(r.blocks, content.Text{Value: text})
	r.blank = ""
	r.midline = !strings.HasSuffix(text, "\n")
}

// media adds a label and the attachment, or its replacement.
func (r *renderer) media(it *item) {
	d, cand := r.decisions[it.media.cand], r.out.candidates[it.media.cand]
	if d.Fate == policy.Reference && cand.Mode == policy.Ignore {
		r.text(it.media.as)
		return
	}
	switch cand.Kind {
	case policy.PageText:
		r.line("[" + it.media.page + "]")
		if it.media.remarks != "" {
			r.line(it.media.remarks)
		}
		r.text(it.words)
	case policy.PageDocument:
		r.line(documentWords(*it.line, it.media, d))
		if d.Fate.Attached() {
			r.blocks = append(r.blocks, it.media.block)
		}
	default:
		r.line(r.label(it, d))
		if d.Fate.Attached() {
			r.blocks = append(r.blocks, r.picture(it))
		}
	}
}

// label returns the line for a picture, or the text in its place.
func (r *renderer) label(it *item, d policy.Decision) string {
	m := *it.media
	if f := m.foreign; f != nil && m.fallback != "" {
		m.fallback = f.open(r.nonce, "") + "\n" + m.fallback + "\n" + f.close(r.nonce)
	}
	id := ""
	if r.spec.Caps.Has(policy.Tools) && r.sees() {
		id = ", " + it.line.ID
	}
	switch {
	case it.media.above && it.media.page != "":
		return "[picture not shown" + id + "]"
	case it.media.above:
		return fmt.Sprintf("[image %d%s: %s, not shown; its text follows]", it.media.number, id, quoted(it.line.label()))
	case d.Step == policy.StepText && r.sees():
		return fmt.Sprintf("[image %d%s: %s, as text:]\n%s\n[end of image %d]", m.number, id, m.what(it.line), m.fallback, m.number)
	case d.Step == policy.StepLine && d.Fate == policy.Deferred && !r.spec.Caps.Has(policy.Tools):
		d.Fate = policy.Refused
	}
	return marker(*it.line, m, d)
}

// what names a picture: its page, else its file.
func (m *media) what(l *Line) string {
	if m.leaf.n > 0 {
		return pageWords(m.leaf.n, m.leaf.of, "") + m.leaf.doubt
	}
	return quoted(l.label())
}

// picture is the block of an image.
func (r *renderer) picture(it *item) content.Block {
	if it.media.block != nil {
		return it.media.block
	}
	l := it.line
	return content.Image{
		Name: l.Name, MediaType: l.MediaType, Width: l.Width, Height: l.Height, Size: l.Size, SHA256: l.SHA256,
		Source: content.SourceVault, Alt: l.Alt, Fallback: r.fallback(l.Name),
	}
}

// references closes an input with the list of images that stand without their bytes.
func (r *renderer) references(end int) {
	refs := &refList{ranges: r.spec.Bounds.WhenExceeded == policy.Ladder}
	start := end
	for start > 0 && r.out.items[start-1].input == r.out.items[end].input { // what is embedded belongs to the input too
		start--
	}
	for _, it := range r.out.items[start:end] {
		if it.role != roleMedia || it.media.number == 0 || it.held {
			continue
		}
		d := r.decisions[it.media.cand]
		if d.Fate.Attached() || d.Fate == policy.Deduplicated || d.Step != "" || it.media.page != "" && d.Bound != "" {
			continue
		}
		refs.add(*it.line, *it.media, refLine(*it.line, *it.media, d, r.out.candidates[it.media.cand].Mode))
	}
	if lines := refs.lines(); len(lines) > 0 {
		r.line("IMAGE_REFS\n" + strings.Join(lines, "\n"))
	}
}
