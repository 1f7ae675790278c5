package words_test

import (
	"testing"

	"github.com/vaultflow/vaultflow/daemon/words"
)

// A name in a printed command can be copied into a shell.
func TestArg(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Plan": "Plan", "daily/Ünder.md": "daily/Ünder.md", "Weekly review": `"Weekly review"`, "It's": `"It's"`, `a "b"`: `'a "b"'`, "$x": "'$x'", "": `""`, "-x": `"-x"`,
		"Don't `go`": "'Don'\\''t `go`'", "a*": `"a*"`,
	} {
		if got := words.Arg(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
