package prompt

import (
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// renderer makes blocks of items when every fate is known.
type renderer struct {
	*collector
	decisions []policy.Decision
	nonce     string

	blocks  []content.Block
	blank   string // white space that waits for a block to join
	midline bool   // the last text does not end a line
	blind   int    // images that became text because the model cannot see
	images  int    // image items so far
}

func (r *renderer) all() {
	for i := range r.items {
		r.item(&r.items[i])
	}
	if r.blind > 0 {
		r.warn(Warning{Message: "the model has no vision: " + count(r.blind, "image") + " stand as text"})
	}
}

func (r *renderer) item(it *item) {
	switch it.role {
	case roleOpen:
		r.line(strings.TrimSuffix(it.frame.open(r.nonce), "\n"))
	case roleClose:
		r.line(strings.TrimSuffix(it.frame.close(r.nonce), "\n"))
	case roleText:
		r.text(it.words)
	case roleWords:
		if it.line != nil && it.line.Fate == policy.Deferred {
			it.words = "[text deferred as " + it.line.ID + ": " + it.line.Reason + "]"
		}
		r.line(it.words)
	case roleImage:
		r.image(it)
	case roleRefs:
		r.references(it.input)
	case roleSilent:
	}
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

// image adds a label and the image, or what stands in its place, and completes the receipt.
func (r *renderer) image(it *item) {
	d := r.decisions[r.images]
	r.images++
	l := it.line
	l.Fate, l.Reason, l.Tokens = d.Fate, d.Reason, d.Tokens
	switch d.Fate {
	case policy.Refused:
		r.warn(Warning{Note: l.Source.Note, Line: l.Source.Lines[0], Target: l.Target, Message: "image not shown: " + d.Reason})
	case policy.Missing:
		r.warn(Warning{Note: l.Source.Note, Line: l.Source.Lines[0], Target: l.Target, Near: it.image.near, Message: "image not found"})
	case policy.Converted:
		r.blind++
	case policy.Reference:
		if r.candidates[r.images-1].Mode == policy.Ignore {
			r.text(it.image.as)
			return
		}
	}
	if d.Fate == policy.Converted {
		l.Text, l.Tokens = it.image.fallback, policy.TextTokens(it.image.fallback)
	}
	r.line(marker(*l, *it.image, d))
	if d.Fate.Attached() {
		if promised := mediaOf(l.Name); promised != "" && promised != l.MediaType && l.MediaType != "" {
			r.warn(Warning{Note: l.Source.Note, Line: l.Source.Lines[0], Target: l.Target, Message: l.Name + " holds " + l.MediaType + " and is sent as that"})
		}
		r.blocks = append(r.blocks, content.Image{
			Name: l.Name, MediaType: l.MediaType, Width: l.Width, Height: l.Height, Size: l.Size, SHA256: l.SHA256,
			Source: content.SourceVault, Alt: l.Alt, Fallback: r.fallback(l.Name),
		})
	}
}

// references closes an input with the list of images that stand without their bytes.
func (r *renderer) references(input int) {
	lines := []string{"IMAGE_REFS"}
	images := 0
	for _, it := range r.items {
		if it.role != roleImage {
			continue
		}
		d, mode := r.decisions[images], r.candidates[images].Mode
		images++
		if it.input != input || d.Fate.Attached() || d.Fate == policy.Deduplicated {
			continue
		}
		ref := refLine(*it.line, *it.image, d)
		if mode == policy.Ignore {
			ref = strings.TrimSuffix(ref, string(policy.Reference)) + "ignored"
		}
		lines = append(lines, ref)
	}
	if len(lines) > 1 {
		r.line(strings.Join(lines, "\n"))
	}
}
