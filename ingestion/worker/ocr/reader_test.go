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

// Chinese and Japanese have no spaces between words, Korean has.
func TestTextOf_setsNoSpacesInChinese(t *testing.T) {
	t.Parallel()
	for want, words := range map[string][]string{
		"他写了三封信，没有回复。":       {"他", "写了", "三", "封", "信", "，", "没有", "回复", "。"},
		"バスは駅を出ます":           {"バス", "は", "駅", "を", "出ます"},
		"第 3 页 of Chapter 一": {"第", "3", "页", "of", "Chapter", "一"},
		"회의가 열렸다":            {"회의가", "열렸다"},
	} {
		var line []Word
		for _, word := range words {
			line = append(line, Word{Text: word})
		}
		if got := textOf(line); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
