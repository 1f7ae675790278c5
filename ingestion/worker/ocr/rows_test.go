package ocr

import (
	"image"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/worker/photo"
)

// set places columns of lines beside each other, as Tesseract returns them: each is a block.
func set(gap int, columns ...[]string) (words []Word) {
	x := 50
	for block, lines := range columns {
		widest := 0
		for i, line := range lines {
			at := x
			for word := range strings.FieldsSeq(line) {
				end := at + 12*len(word)
				words = append(words, Word{Text: word, Rect: image.Rect(at, 100+40*i, end, 122+40*i), Confidence: 90, Block: block + 1, Line: i + 1})
				at = end + 10
			}
			widest = max(widest, at-x)
		}
		x += widest + gap
	}
	return words
}

func TestTornBands_areTablesReadInColumns(t *testing.T) {
	t.Parallel()
	column := []string{"The committee met in March to", "review the accounts. Income", "rose from 48,250 to 51,900", "pounds, because of the higher", "subscriptions, and the cost", "of printing fell by a tenth."}
	names, amounts := []string{"Bread", "Milk", "Butter"}, []string{"2.40", "1.10", "3.70"}
	cut := []string{"Brea", "Milk", "Butt", "12 H"}
	for name, c := range map[string]struct {
		words []Word
		want  int
	}{
		"names and amounts": {set(200, names, amounts), 1},
		"two rows":          {set(200, names[:2], amounts[:2]), 0},
		"three short cells": {set(80, names, []string{"Oslo", "Rome", "Bonn"}, []string{"baker", "smith", "joiner"}), 1},
		"cut through words": {set(0, cut, []string{"d brown", "whole", "er", "igh Street"}), 1},
		"columns of text":   {set(40, column, column, column), 0},
		"addresses":         {set(300, []string{"Ada Lovelace", "12 Analytical Street", "London"}, []string{"Nordic Timber", "Havnegata 4", "7010 Trondheim"}), 0},
		"one column":        {set(40, column), 0},
		"nothing":           {nil, 0},
	} {
		if got := tornBands(c.words, nil); len(got) != c.want {
			t.Errorf("%s: bands %v, want %d", name, got, c.want)
		}
	}
}

func TestSpliced_keepsTheOrderAroundTables(t *testing.T) {
	t.Parallel()
	word := func(text string, y int) Word { return Word{Text: text, Rect: image.Rect(0, y, 10, y+10), Block: 1} }
	words := []Word{word("left", 100), word("above", 0), word("below", 200), word("right", 100)}
	got := spliced(words, asBlock([]Word{word("again", 95), word("row", 100)}, 1<<16), []band{{90, 120}})
	if text := textOf(got); text != "above\n\nagain row\n\nbelow" {
		t.Errorf("%q", text)
	}
}

// Lines that were cut through are put together again, columns are not.
func TestJoinLines(t *testing.T) {
	t.Parallel()
	column := []string{"The committee met in March to", "review the accounts. Income", "rose from 48,250 to 51,900"}
	if _, found := joinLines(set(40, column, column)); found {
		t.Error("columns were joined")
	}
	// The later part of the second line was read first.
	words := set(0, []string{"we regret to tell you"}, []string{"the twelfth of April. The"}, []string{"reason is a storm"})
	words = append(words[:5:5], append(words[10:], words[5:10]...)...)
	for i := range words[5:9] {
		words[5+i].Rect = words[5+i].Rect.Add(image.Pt(0, 50-6))
	}
	for i := range words[9:] {
		words[9+i].Rect = words[9+i].Rect.Add(image.Pt(0, 50))
	}
	got, found := joinLines(words)
	if text := textOf(got); !found || !strings.HasSuffix(text, "the twelfth of April. The reason is a storm") {
		t.Errorf("found %v: %q", found, text)
	}
}

func TestRunAskew(t *testing.T) {
	t.Parallel()
	words := set(0, []string{"we regret to tell you that the delivery of your", "the twelfth of April. The reason is a storm", "You may cancel without cost until March"})
	if runAskew(words) {
		t.Error("straight lines run askew")
	}
	for i := range words {
		words[i].Rect = words[i].Rect.Add(image.Pt(0, -words[i].Rect.Min.X/16))
	}
	if !runAskew(words) {
		t.Error("lines of 3.6° are straight")
	}
}

// A page that lies on its side is turned with its words, so that its rows are seen.
func TestStand_turnsThePageWithItsWords(t *testing.T) {
	t.Parallel()
	picture := image.NewGray(image.Rect(0, 0, 1200, 900))
	a := attempt{page: photo.Plain(picture), reading: reading{words: set(200, []string{"Bread", "Milk", "Butter"}, []string{"2.40", "1.10", "3.70"})}}
	want := len(tornBands(a.words, nil))
	for i, w := range a.words {
		a.words[i].Rect = turnRect(w.Rect, 90, picture.Rect.Size())
	}
	a.page = a.page.Quartered(1)
	if got := len(tornBands(a.words, nil)); got == want {
		t.Error("rows were seen on a page that lies on its side")
	}
	a.stand(270)
	if got := len(tornBands(a.words, nil)); got != want || a.page.Picture.Rect != picture.Rect || a.rotation != 270 {
		t.Errorf("%d bands, %v, turned by %d", got, a.page.Picture.Rect, a.rotation)
	}
}

// A label and its value are a row, however far apart they are; two addresses, and two lists of names, are not.
func TestLabelled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left, right []string
		want        bool
	}{
		"labels":    {[]string{"Order", "Customer", "Status", "Total"}, []string{"4711-22", "Anna Berg", "shipped", "EUR 120"}, true},
		"colons":    {[]string{"Name:", "City:", "Trade:", "State:"}, []string{"Anna Berg", "Oslo", "joiner", "active"}, true},
		"addresses": {[]string{"Anna Berg", "Berg & Sons", "12 High Street", "Oslo"}, []string{"Bob Stone", "Stone Ltd", "4 Low Road", "Bergen"}, false},
		"names":     {[]string{"Anna", "Bob", "Carla", "Dora"}, []string{"Oslo", "Rome", "Bergen", "Paris"}, false},
	} {
		if got := len(tornBands(set(400, c.left, c.right), nil)) > 0; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
