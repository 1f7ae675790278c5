package chunking

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bounds of a canvas. The largest canvas that people show has some hundreds of cards.
const (
	// MaxCanvas is how large a canvas may be, in bytes.
	MaxCanvas = 16 << 20
	// MaxCanvasCards is how many cards a canvas may have, groups among them.
	MaxCanvasCards = 10_000
	// MaxCanvasArrows is how many arrows a canvas may have.
	MaxCanvasArrows = 50_000
	// maxCanvasGroups bounds the search for the group of each card.
	maxCanvasGroups = 1_000
)

// ErrCanvas is matched by every error of [Canvas].
var ErrCanvas = errors.New("no canvas")

// Kinds of cards, as Obsidian names them. Programs may add others, which are kept with the name that they have.
const (
	CardText  = "text"  // Text is Markdown, with links and embeds of its own
	CardFile  = "file"  // Target is a vault name, never a link to be resolved; Fragment is a part of that file
	CardLink  = "link"  // Target is a URL
	CardGroup = "group" // Label is its title, perhaps empty; its cards follow with a greater Depth
)

// CanvasCard is one card of a canvas.
type CanvasCard struct {
	Kind     string
	Text     string
	Target   string
	Fragment string // without its `#`
	Label    string
	Depth    int // number of groups around the card
	Arrows   []CanvasArrow
}

// CanvasArrow leads from the card that holds it to another one.
type CanvasArrow struct {
	To    int    // index of the other card in the list
	Label string // what is written on the arrow, perhaps nothing
}

// canvasNode and canvasEdge are what the file holds.
type canvasNode struct {
	ID      string  `json:"id"`
	Type    string  `json:"type"`
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	Width   float64 `json:"width"`
	Height  float64 `json:"height"`
	Text    string  `json:"text"`
	File    string  `json:"file"`
	Subpath string  `json:"subpath"`
	URL     string  `json:"url"`
	Label   string  `json:"label"`
}

type canvasEdge struct {
	From  string `json:"fromNode"`
	To    string `json:"toNode"`
	Label string `json:"label"`
}

// Canvas reads the cards of a canvas in the order in which a reader meets them: row by row from the top, each row from
// the left. A group stands where it begins, and the cards whose middle lies in it follow before what is outside. An
// empty file is a canvas without cards. What is no JSON of this form, or exceeds a bound, is an [ErrCanvas].
func Canvas(data []byte) ([]CanvasCard, error) {
	if len(data) > MaxCanvas {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrCanvas, MaxCanvas)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	var board struct {
		Nodes []canvasNode `json:"nodes"`
		Edges []canvasEdge `json:"edges"`
	}
	if err := json.Unmarshal(data, &board); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCanvas, err)
	}
	switch {
	case len(board.Nodes) > MaxCanvasCards:
		return nil, fmt.Errorf("%w: it has more than %d cards", ErrCanvas, MaxCanvasCards)
	case len(board.Edges) > MaxCanvasArrows:
		return nil, fmt.Errorf("%w: it has more than %d arrows", ErrCanvas, MaxCanvasArrows)
	}
	order := newLayout(board.Nodes)
	if len(order.groups) > maxCanvasGroups {
		return nil, fmt.Errorf("%w: it has more than %d groups", ErrCanvas, maxCanvasGroups)
	}
	order.nest()
	order.list(-1, 0)
	order.connect(board.Edges)
	return order.cards, nil
}

// layout puts cards in order.
type layout struct {
	nodes  []canvasNode
	groups []int         // indices of groups
	inside map[int][]int // by index of the group, -1 for none: the cards directly in it
	place  map[string]int
	cards  []CanvasCard
}

func newLayout(nodes []canvasNode) *layout {
	l := &layout{nodes: nodes, inside: map[int][]int{}, place: map[string]int{}}
	for i, n := range nodes {
		if n.Type == CardGroup {
			l.groups = append(l.groups, i)
		}
	}
	// The smallest group that holds a card is its own.
	slices.SortStableFunc(l.groups, func(a, b int) int {
		return cmp.Compare(nodes[a].Width*nodes[a].Height, nodes[b].Width*nodes[b].Height)
	})
	return l
}

// nest finds the group of each card. A group lies in larger ones only, of equal ones in those behind it, so that there
// is no circle.
func (l *layout) nest() {
	rank := map[int]int{}
	for r, g := range l.groups {
		rank[g] = r + 1
	}
	for i, n := range l.nodes {
		in := -1
		for _, g := range l.groups[rank[i]:] {
			if l.nodes[g].holds(n) {
				in = g
				break
			}
		}
		l.inside[in] = append(l.inside[in], i)
	}
}

// holds reports whether a card's middle lies in the group.
func (n canvasNode) holds(card canvasNode) bool {
	x, y := card.X+card.Width/2, card.Y+card.Height/2
	return x >= n.X && x <= n.X+n.Width && y >= n.Y && y <= n.Y+n.Height
}

// list adds the cards that lie directly in a group, and below each group its own.
func (l *layout) list(group, depth int) {
	for _, i := range l.rows(l.inside[group]) {
		n := l.nodes[i]
		if _, twice := l.place[n.ID]; !twice {
			l.place[n.ID] = len(l.cards)
		}
		l.cards = append(l.cards, n.card(depth))
		if n.Type == CardGroup {
			l.list(i, depth+1)
		}
	}
}

// rows orders cards. A card is in the row of those above it when it begins in the upper half of each of them, or as high
// as the first: a card may have no height.
func (l *layout) rows(list []int) []int {
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(l.nodes[a].Y, l.nodes[b].Y) })
	for start := 0; start < len(list); {
		end := start + 1
		first := l.nodes[list[start]]
		half := first.Y + max(first.Height, 0)/2
		for end < len(list) {
			n := l.nodes[list[end]]
			if n.Y >= half && n.Y > first.Y {
				break
			}
			half = min(half, n.Y+max(n.Height, 0)/2)
			end++
		}
		slices.SortStableFunc(list[start:end], func(a, b int) int {
			return cmp.Or(cmp.Compare(l.nodes[a].X, l.nodes[b].X), cmp.Compare(l.nodes[a].Y, l.nodes[b].Y))
		})
		start = end
	}
	return list
}

// card is what a reader needs of a node.
func (n canvasNode) card(depth int) CanvasCard {
	c := CanvasCard{Kind: n.Type, Label: n.Label, Depth: depth}
	switch n.Type {
	case CardText:
		c.Text = n.Text
	case CardFile:
		c.Target, c.Fragment = n.File, strings.TrimPrefix(n.Subpath, "#")
	case CardLink:
		c.Target = n.URL
	}
	return c
}

// connect adds the arrows to the cards, in the order of the file. Arrows without a card at either end are left out.
func (l *layout) connect(edges []canvasEdge) {
	for _, e := range edges {
		from, ok := l.place[e.From]
		to, found := l.place[e.To]
		if ok && found {
			l.cards[from].Arrows = append(l.cards[from].Arrows, CanvasArrow{To: to, Label: e.Label})
		}
	}
}
