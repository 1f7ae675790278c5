package prompt

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/policy"
)

// card is a node of a canvas, as Obsidian stores it. Positions are pixels of the canvas.
type card struct {
	Type    string  `json:"type"` // text, file, link or group
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	Text    string  `json:"text"`
	File    string  `json:"file"` // vault name
	Subpath string  `json:"subpath"`
	URL     string  `json:"url"`
	Label   string  `json:"label"`
}

// canvas lists the cards of a canvas as a reader meets them, from top to bottom and from left to right: the text of text
// cards, the files of file cards as embeds, links and groups by name. What is no canvas is shown as the text that it is.
func (c *collector) canvas(s shown, p *parsed) error {
	var board struct {
		Nodes []card `json:"nodes"`
	}
	if err := json.Unmarshal(p.text.text, &board); err != nil && len(p.text.text) > 0 {
		c.warn(Warning{Note: s.name, Message: "this is no canvas: " + reason(err)})
		return c.inputFrame(s, func() error {
			c.cutText(s.input.Directive, p.text, Source{Note: s.name})
			return nil
		})
	}
	s.trail = append(s.trail, trailKey(s.name, ""))
	return c.framed(s, func() error {
		if len(board.Nodes) == 0 {
			c.say("[empty]")
			return nil
		}
		slices.SortStableFunc(board.Nodes, func(a, b card) int { return cmp.Or(cmp.Compare(a.Y, b.Y), cmp.Compare(a.X, b.X)) })
		for _, one := range board.Nodes {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			if err := c.card(s, one); err != nil {
				return err
			}
		}
		return nil
	})
}

// card lists one card.
func (c *collector) card(s shown, one card) error {
	switch one.Type {
	case "text":
		text := decode([]byte(one.Text))
		p := &parsed{text: text, size: int64(len(one.Text)), is: recognised{kind: kindMarkdown}, extracted: true}
		c.say("[card]")
		if len(text.text) == 0 {
			c.say("[empty]")
			return nil
		}
		return c.chunks(s, p, selected{ranges: [][2]int{{0, len(text.text)}}}.clip(p.pieces()))
	case "file":
		return c.fileCard(s, one)
	case "link":
		c.say("[card: link to " + quoted(one.URL) + "]")
	case "group":
		c.say("[group: " + quoted(one.Label) + "]")
	default:
		c.say("[card of a kind that is not known: " + quoted(one.Type) + "]")
	}
	return nil
}

// fileCard lists the file of a card as if a note embedded it: the name is a vault name, never a link.
func (c *collector) fileCard(s shown, one card) error {
	k := chunking.Chunk{
		Target: one.File, Written: one.File + one.Subpath, Fragment: strings.TrimPrefix(one.Subpath, "#"), Syntax: chunking.SyntaxWikilink,
		Text: "[card: " + quoted(one.File+one.Subpath) + "]\n",
	}
	l := Line{Kind: KindEmbed, Source: Source{Note: s.name}, Target: clipped(k.Written), Fate: policy.Sent}
	if chunking.IsImageName(one.File) {
		l.Kind = KindImage
		return c.reference(s, k, l)
	}
	return c.embed(s, k, l)
}
