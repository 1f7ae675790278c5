package trust

import (
	"fmt"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/content/visible"
)

// maxPlain bounds a stranger's text in one of our lines, in characters.
const maxPlain = 300

// Plain makes text from a vault's files short and safe to show on one line.
func Plain(s string) string {
	s = visible.Name(s)
	if n := utf8.RuneCountInString(s); n > maxPlain {
		return fmt.Sprintf("%s… (%d more characters)", string([]rune(s)[:maxPlain]), n-maxPlain)
	}
	return s
}
