package main

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
)

func TestConfirm_onlyYesIsYes(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]bool{"y\n": true, "YES\r\n": true, " yes": true, "n\n": false, "\n": false, "": false, "yep\n": false} {
		var asked strings.Builder
		if got, err := confirm(strings.NewReader(input), &asked, 2); got != want || err != nil || asked.String() != "undo 2 changes? [y/N] " {
			t.Errorf("%q: %v, %v; asked %q", input, got, err, &asked)
		}
	}
}

func TestUndoText(t *testing.T) {
	t.Parallel()
	moved := engine.Change{Kind: engine.ChangeMove, Name: "b.md", To: "a.md"}
	for want, f := range map[string]engine.UndoFile{
		"move b.md back to a.md\n":         {WayBack: engine.WayBack{Change: moved}},
		"a.md is as it was before\n":       {WayBack: engine.WayBack{Change: moved, Fate: engine.FateNothing}},
		"keep b.md: edited\n":              {WayBack: engine.WayBack{Change: moved, Fate: engine.FateKept, Reason: "edited"}},
		"bring back a.md\n--- /dev/null\n": {WayBack: engine.WayBack{Change: engine.Change{Kind: engine.ChangeCreate, Name: "a.md"}}, Diff: "--- /dev/null\n"},
	} {
		if got := undoText(f); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	evil := engine.UndoFile{WayBack: engine.WayBack{Change: engine.Change{Kind: engine.ChangeMove, Name: "a\x1b[2J.md", To: "b\u202e.md"}}}
	if got, want := undoText(evil), "move a<U+001B>[2J.md back to b<U+202E>.md\n"; got != want {
		t.Errorf("a name with characters that cannot be seen: %q, want %q", got, want)
	}
}
