package trust

import (
	"fmt"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/content/visible"
)

// maxPlain bounds a text of a stranger in a line of ours, in characters.
const maxPlain = 300

// Plain makes a text from a vault's files safe to show in one line, and short.
func Plain(s string) string {
	s = visible.Name(s)
	if n := utf8.RuneCountInString(s); n > maxPlain {
		return fmt.Sprintf("%s… (%d more characters)", string([]rune(s)[:maxPlain]), n-maxPlain)
	}
	return s
}
