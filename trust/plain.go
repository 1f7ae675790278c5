package trust

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPlain bounds a text of a stranger in a line of ours, in characters.
const maxPlain = 300

// Plain makes a text from a vault's files safe to show in one line: what nobody would see, or a terminal would obey, is
// written as a code point.
func Plain(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if n++; n > maxPlain {
			fmt.Fprintf(&b, "… (%d more bytes)", len(s)-min(b.Len(), len(s)))
			break
		}
		if r == ' ' || unicode.IsPrint(r) && !unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Variation_Selector, r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "<U+%04X>", r)
	}
	return b.String()
}

// oneWord shortens a digest for people.
func oneWord(digest string) string {
	if utf8.RuneCountInString(digest) > 12 {
		return digest[:12]
	}
	return digest
}
