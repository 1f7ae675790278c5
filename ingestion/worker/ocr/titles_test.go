package ocr

import (
	"image"
	"slices"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

func TestTitlesFirst_areAboveTheColumns(t *testing.T) {
	t.Parallel()
	type at struct {
		text       string
		x0, x1, y0 int
	}
	for name, c := range map[string]struct {
		parts []at
		want  string
	}{
		"a title in the middle of three columns": {
			[]at{{"a", 0, 300, 100}, {"b", 0, 300, 200}, {"TITLE", 400, 600, 0}, {"No. 14", 450, 550, 50}, {"c", 350, 650, 90}, {"d", 700, 1000, 90}},
			"TITLE\n\nNo. 14\n\na\n\nb\n\nc\n\nd",
		},
		"a title over two columns": {
			[]at{{"a", 0, 450, 100}, {"TITLE", 300, 1000, 0}, {"b", 550, 1000, 100}},
			"TITLE\n\na\n\nb",
		},
		"a heading of the second column":       {[]at{{"a", 0, 450, 100}, {"HEAD", 700, 850, 50}, {"b", 550, 1000, 100}}, "a\n\nHEAD\n\nb"},
		"a second column that begins higher":   {[]at{{"a", 0, 300, 100}, {"b", 350, 650, 50}, {"c", 350, 650, 150}, {"d", 700, 1000, 100}}, "a\n\nb\n\nc\n\nd"},
		"columns that begin at different rows": {[]at{{"a", 0, 300, 100}, {"b", 400, 600, 90}, {"c", 700, 1000, 80}}, "a\n\nb\n\nc"},
		"nothing":                              {nil, ""},
	} {
		var words []Word
		for i, p := range c.parts {
			words = append(words, Word{Text: p.text, Rect: image.Rect(p.x0, p.y0, p.x1, p.y0+20), Block: i + 1})
		}
		if got := textOf(titlesFirst(words)); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestRead_putsTitlesFirst(t *testing.T) {
	t.Parallel()
	img := pdftest.Drawing(1600, 600, 200, "                    The Post of it", "New bridge opens on Monday")
	rows := Rows(img, nil)
	if len(rows) != 2 {
		t.Fatalf("rows %v", rows)
	}
	slices.SortFunc(rows, func(a, b image.Rectangle) int { return a.Min.Y - b.Min.Y })
	engine := &passing{lines: []Word{{}, {Text: "Bridge", Confidence: 95, Rect: rows[1], Block: 1}, {Text: "Post", Confidence: 95, Rect: rows[0], Block: 2}}}
	got, err := NewReader(withTessdata(t, "eng"), func(string) Engine { return engine }).read(img, []string{"eng"})
	if err != nil || got.Text != "Post\n\nBridge" {
		t.Errorf("%v, %+v", err, got)
	}
}
