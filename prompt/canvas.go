package prompt

import (
	"context"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/policy"
)

// canvasWriter writes canvases into an outline, card by card.
type canvasWriter struct {
	out   *outline
	notes noteWriter
}

// write lists the cards of a canvas as a reader meets them, each behind a line with its number: the text of text cards,
// the files of file cards as embeds, links and groups by name, and where arrows lead. What is no canvas is shown as the
// text that it is.
func (w canvasWriter) write(ctx context.Context, s shown, p *parsed) error {
	cards, err := chunking.Canvas(p.text.text)
	if err != nil {
		w.out.warn(Warning{Note: s.name, Message: "this is " + reason(err)})
		return w.out.inputFrame(s, func() error {
			w.out.cutText(s.input.Directive, p.text, Source{Note: s.name})
			return nil
		})
	}
	s.trail = append(s.trail, trailKey(s.name, ""))
	return w.out.framed(s, func() error {
		if len(cards) == 0 {
			w.out.say("[empty]")
		}
		groups := []string{""} // by depth, those around the next card
		for i, card := range cards {
			if err := ctx.Err(); err != nil {
				return err
			}
			w.out.say(cardWords(i, card, groups[card.Depth]))
			groups = append(groups[:card.Depth+1], " in card "+strconv.Itoa(i+1))
			if err := w.card(ctx, s, card); err != nil {
				return err
			}
		}
		return nil
	})
}

// cardWords is the line before a card: its number, the group that it lies in, what it is, and its arrows.
func cardWords(i int, card chunking.CanvasCard, in string) string {
	words := "card " + strconv.Itoa(i+1) + in
	switch card.Kind {
	case chunking.CardText:
	case chunking.CardFile:
		words += ": " + quoted(cardTarget(card))
	case chunking.CardLink:
		words += ": link to " + quoted(card.Target)
	case chunking.CardGroup:
		words += ": group " + quoted(card.Label)
	default:
		words += " of a kind that is not known: " + quoted(card.Kind)
	}
	for _, arrow := range card.Arrows {
		words += "; arrow to card " + strconv.Itoa(arrow.To+1)
		if arrow.Label != "" {
			words += ` "` + quoted(arrow.Label) + `"`
		}
	}
	return "[" + words + "]"
}

// card lists what a card shows.
func (w canvasWriter) card(ctx context.Context, s shown, card chunking.CanvasCard) error {
	switch card.Kind {
	case chunking.CardText:
		text := decode([]byte(card.Text))
		if len(text.text) == 0 {
			w.out.say("[empty]")
			return nil
		}
		p := &parsed{text: text, size: int64(len(card.Text)), is: recognised{kind: kindMarkdown}, extracted: true}
		return w.notes.chunks(ctx, s, p, selected{ranges: [][2]int{{0, len(text.text)}}}.clip(p.pieces()))
	case chunking.CardFile:
		return w.fileCard(ctx, s, card)
	}
	return nil
}

// cardTarget is the file of a card as the canvas writes it.
func cardTarget(card chunking.CanvasCard) string {
	if card.Fragment == "" {
		return card.Target
	}
	return card.Target + "#" + card.Fragment
}

// fileCard lists the file of a card as if a note embedded it: the name is a vault name, never a link.
func (w canvasWriter) fileCard(ctx context.Context, s shown, card chunking.CanvasCard) error {
	k := chunking.Chunk{
		Target: card.Target, Written: cardTarget(card), Fragment: card.Fragment, Syntax: chunking.SyntaxWikilink,
		Text: "![[" + quoted(cardTarget(card)) + "]]\n",
	}
	l := Line{Kind: KindEmbed, Source: Source{Note: s.name}, Target: clipped(k.Written), Fate: policy.Sent}
	if chunking.IsImageName(strings.TrimSpace(card.Target)) {
		l.Kind = KindImage
		return w.notes.reference(s, k, l)
	}
	return w.notes.embed(ctx, s, k, l)
}
