package ocr

import "testing"

func TestTextOf_keepsLinesAndParagraphs(t *testing.T) {
	t.Parallel()
	boxes := []Word{
		{Text: "a", Block: 1, Paragraph: 1, Line: 1},
		{Text: "b", Block: 1, Paragraph: 1, Line: 1},
		{Text: "c", Block: 1, Paragraph: 1, Line: 2},
		{Text: "d", Block: 1, Paragraph: 2, Line: 1},
		{Text: "e", Block: 2, Paragraph: 1, Line: 1},
	}
	if got, want := textOf(boxes), "a b\nc\n\nd\n\ne"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
