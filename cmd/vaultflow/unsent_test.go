package main

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/media"
)

// Without a worker, check, preview and the run say the same about a picture that stays here.
func TestUnsent_saidByAllThree(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[0], "      capabilities: [text, vision]\n", llmtest.Reply{Answer: llmtest.Answer{Deltas: []string{"Seen."}, Input: 20, Output: 2}})
	for name, side := range map[string]int{"large.png": 3000, "small.png": 40} {
		var picture bytes.Buffer
		if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, side, 40))); err != nil {
			t.Fatal(err)
		}
		b.write(name, picture.String())
	}
	b.write("Note.md", "![[large.png]] and ![[small.png]]\n")
	b.write("Workflows/Look.md", "## Look\n@input file: Note\n@output file: Out\n\nWhat is there?\n")
	for _, command := range [][]string{{"check", "Look"}, {"preview", "Look"}, {"run", "Look"}} {
		code := exitDone
		if command[0] == "run" {
			code = exitOmissions
		}
		out, errs := b.run(code, command...)
		if said := out + errs; !strings.Contains(said, "large.png") || !strings.Contains(said, media.ErrNoWorker.Error()) || command[0] == "check" && strings.Contains(said, "small.png") {
			t.Errorf("%s says:\n%s", command[0], said)
		}
	}
}
