package step

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// Limits on the length of items' texts, in characters.
const (
	maxItemLine = 200 // of an entry's text in the journal
	maxItemName = 80  // of {item-name}
)

// item is one item of an @for_each with its text: a file's vault name, or the whole text of a list's entry.
type item struct {
	engine.Item
	text string
}

// items reads the entries of a list, which the journal holds as blobs.
func (p *Plans) items(ctx context.Context, all []engine.Item) ([]item, error) {
	var items []item
	for _, it := range all {
		text := it.Name
		if it.Value {
			data, err := p.Blobs.Get(ctx, it.SHA256)
			if err != nil {
				return nil, failure.New(failure.State, "start the workflow again", "read the item %s: %v", it.Name, err)
			}
			text = string(data)
		}
		items = append(items, item{it, text})
	}
	return items, nil
}

// name returns {item-name}: a file's name without folder and extension, or the entry's text as a valid name.
func (it item) name() string {
	switch {
	case it.Part != nil:
		return it.Part.Called
	case !it.Value:
		return directives.NameOf(it.Name)
	}
	name := strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || strings.ContainsRune(`/\:*?"<>|#^[]{}`, c) {
			return ' '
		}
		return c
	}, it.text)
	name = strings.Trim(clipTo(strings.Join(strings.Fields(name), " "), maxItemName), " .")
	if name == "" {
		return "item"
	}
	return name
}

// oneLine returns a text on one line of limited length, for lists and records.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > maxItemLine {
		return clipTo(text, maxItemLine-1) + "…"
	}
	return text
}

func clipTo(s string, characters int) string {
	for i := range s {
		if characters == 0 {
			return s[:i]
		}
		characters--
	}
	return s
}
