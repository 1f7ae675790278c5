package chunking_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/chunking"
)

// board has two rows, a group in a group, arrows and a card of a kind that Obsidian does not have.
const board = `{
 "nodes": [
  {"id":"low","type":"text","x":0,"y":900,"width":250,"height":60,"text":"last\n![[a.png]]"},
  {"id":"right","type":"link","x":400,"y":-4,"width":250,"height":60,"url":"https://example.org/a?b#c"},
  {"id":"left","type":"text","x":0,"y":0,"width":250,"height":60,"text":"# First","color":"1"},
  {"id":"outer","type":"group","x":0,"y":100,"width":800,"height":700,"label":"Outer"},
  {"id":"inner","type":"group","x":400,"y":200,"width":300,"height":300},
  {"id":"in","type":"file","x":420,"y":220,"width":200,"height":200,"file":"Notes/A #1.md","subpath":"#Part#Two"},
  {"id":"beside","type":"file","x":20,"y":220,"width":200,"height":200,"file":"b.pdf"},
  {"id":"odd","type":"timer","x":900,"y":200,"width":10,"height":10,"label":"t"},
  {"id":"left","type":"text","x":0,"y":2000,"text":"twin"}
 ],
 "edges": [
  {"id":"1","fromNode":"left","fromSide":"right","toNode":"in","toSide":"left","label":"leads to"},
  {"id":"2","fromNode":"in","toNode":"left"},
  {"id":"3","fromNode":"left","toNode":"left"},
  {"id":"4","fromNode":"nowhere","toNode":"left"}
 ],
 "metadata": {"version": "1.0-1.0"}
}`

func TestCanvas(t *testing.T) {
	t.Parallel()
	got, err := chunking.Canvas([]byte(board))
	if err != nil {
		t.Fatal(err)
	}
	want := []chunking.CanvasCard{
		{Kind: "text", Text: "# First", Arrows: []chunking.CanvasArrow{{To: 5, Label: "leads to"}, {To: 0}}},
		{Kind: "link", Target: "https://example.org/a?b#c"},
		{Kind: "group", Label: "Outer"},
		{Kind: "file", Target: "b.pdf", Depth: 1},
		{Kind: "group", Depth: 1},
		{Kind: "file", Target: "Notes/A #1.md", Fragment: "Part#Two", Depth: 2, Arrows: []chunking.CanvasArrow{{To: 0}}},
		{Kind: "timer", Label: "t"},
		{Kind: "text", Text: "last\n![[a.png]]"},
		{Kind: "text", Text: "twin"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Cards without a height that begin equally high are one row.
func TestCanvas_cardsWithoutHeight(t *testing.T) {
	t.Parallel()
	got, err := chunking.Canvas([]byte(`{"nodes":[{"type":"text","x":9,"y":5,"text":"b"},{"type":"text","x":0,"y":6,"text":"c"},{"type":"text","x":0,"y":5,"text":"a"}]}`))
	if err != nil || len(got) != 3 || got[0].Text != "a" || got[1].Text != "b" || got[2].Text != "c" {
		t.Errorf("got %+v, %v, want a, b, c", got, err)
	}
}

func TestCanvas_withoutCards(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", " \n", "{}", "null", `{"nodes":[],"edges":[]}`, `{"edges":[{"fromNode":"a","toNode":"b"}]}`} {
		if got, err := chunking.Canvas([]byte(data)); err != nil || len(got) > 0 {
			t.Errorf("%q: got %v, %v", data, got, err)
		}
	}
}

func TestCanvas_refused(t *testing.T) {
	t.Parallel()
	many := func(one string, n int) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	for name, data := range map[string]string{
		"text":        "# A note",
		"list":        "[]",
		"cut short":   board[:200],
		"wrong types": `{"nodes":[{"type":1}]}`,
		"huge number": `{"nodes":[{"x":1e999}]}`,
		"two values":  `{} {}`,
		"deep":        strings.Repeat("[", 1_000_000),
		"bytes":       `{"nodes":[],"x":"` + strings.Repeat("a", chunking.MaxCanvas) + `"}`,
		"cards":       `{"nodes":[` + many("{}", chunking.MaxCanvasCards+1) + `]}`,
		"arrows":      `{"edges":[` + many("{}", chunking.MaxCanvasArrows+1) + `]}`,
		"groups":      `{"nodes":[` + many(`{"type":"group"}`, 1001) + `]}`,
	} {
		if got, err := chunking.Canvas([]byte(data)); !errors.Is(err, chunking.ErrCanvas) || got != nil {
			t.Errorf("%s: got %d cards, %v", name, len(got), err)
		}
	}
}

// Every node becomes one card, whatever the layout; the arrows lead to cards; groups nest without a circle.
func FuzzCanvas(f *testing.F) {
	f.Add([]byte(board))
	f.Add([]byte(`{"nodes":[{"type":"group"},{"type":"group"},{"type":"group","width":-5,"height":-5}]}`))
	f.Add([]byte(`{"nodes":[{"type":"group","width":1e308,"height":1e308,"x":-1e308},{"type":"text","x":1e308,"width":1e308}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		cards, err := chunking.Canvas(data)
		if err != nil {
			return
		}
		depth := -1
		for i, c := range cards {
			if c.Depth > depth+1 || c.Depth < 0 || c.Depth == depth+1 && i > 0 && cards[i-1].Kind != chunking.CardGroup {
				t.Errorf("card %d has depth %d behind %d", i, c.Depth, depth)
			}
			depth = c.Depth
			for _, a := range c.Arrows {
				if a.To < 0 || a.To >= len(cards) {
					t.Errorf("card %d has an arrow to %d of %d", i, a.To, len(cards))
				}
			}
		}
	})
}

func TestIsExcalidraw(t *testing.T) {
	t.Parallel()
	front := "---\ntags: [x]\n%s\n---\nText"
	for _, c := range []struct {
		name, data string
		want       bool
	}{
		{"a.excalidraw.md", "", true},
		{"A.Excalidraw.MD", "", true},
		{"a.excalidraw", "{}", true},
		{"a.md", fmt.Sprintf(front, "excalidraw-plugin: parsed"), true},
		{"a.md", fmt.Sprintf(front, "Excalidraw-Plugin: raw\r"), true},
		{"a.md", fmt.Sprintf(front, `"excalidraw-plugin": raw`), true},
		{"", fmt.Sprintf(front, "excalidraw-plugin: parsed"), true},
		{"a.md", fmt.Sprintf(front, "x: excalidraw-plugin"), false},
		{"a.md", fmt.Sprintf(front, "x:\n  excalidraw-plugin: a"), false},
		{"a.md", fmt.Sprintf(front, "excalidraw-plugin-2: a"), false},
		{"a.md", "excalidraw-plugin: parsed", false},
		{"a.txt", fmt.Sprintf(front, "excalidraw-plugin: parsed"), false},
		{"a.excalidraw.png", "", false},
		{"excalidraw.md", "", false},
		{"a.md", "", false},
	} {
		if got := chunking.IsExcalidraw(c.name, []byte(c.data)); got != c.want {
			t.Errorf("%s %q: got %v", c.name, c.data, got)
		}
	}
}
