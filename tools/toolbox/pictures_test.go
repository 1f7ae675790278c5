package toolbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

// noise is a picture of that many pixels a side whose file is about as large as its pixels.
func noise(t *testing.T, side int, seed uint64) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	picture := image.NewGray(image.Rect(0, 0, side, side))
	for i := range picture.Pix {
		picture.Pix[i] = uint8(r.Uint32())
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// pictured makes a step that has read a picture, and returns a function that reads others with read_file.
func pictured(t *testing.T, limits map[string]float64) (read func(before engine.UseToolsOut, evicted []string, names ...string) (engine.UseToolsOut, string, int)) {
	t.Helper()
	files := map[string]string{"first.png": noise(t, 200, 1), "copy.png": noise(t, 200, 1)}
	for i := range 4 {
		files[fmt.Sprintf("p%d.png", i)] = noise(t, 200, uint64(i+2))
	}
	set := directives.Set{Inputs: []directives.Input{{Target: fileTarget("first.png")}}, Tools: steptest.Tools(t, "read_file"), Budget: &directives.Budget{Limits: limits}}
	w := newWorld(t, files, workflow.Step{Prompt: "Look", Set: set})
	ref := w.ref()
	in := w.assembled(ref)
	return func(before engine.UseToolsOut, evicted []string, names ...string) (engine.UseToolsOut, string, int) {
		var calls []content.ToolCall
		for i, name := range names {
			input, err := json.Marshal(map[string]string{"path": name})
			if err != nil {
				t.Fatal(err)
			}
			calls = append(calls, content.ToolCall{ID: fmt.Sprint(i), Name: "read_file", Input: input})
		}
		out, results := w.callAfter(engine.UseToolsIn{StepRef: ref, Prompt: in.Prompt, Pictures: before.Pictures, Evicted: evicted}, calls...)
		text, pictures := "", 0
		for _, r := range results {
			text += r.Text()
			for _, b := range r.Blocks {
				if b.Type() == content.TypeImage {
					pictures++
				}
			}
		}
		return out, text, pictures
	}
}

// TestRead_onceInAStep: a picture that the prompt, an earlier result or this one holds is not given again, under whatever
// name, unless the model does not see it any more.
func TestRead_onceInAStep(t *testing.T) {
	t.Parallel()
	read := pictured(t, nil)
	first, text, n := read(engine.UseToolsOut{}, nil, "copy.png", "p0.png", "p0.png")
	if n != 1 || strings.Count(text, "this step was given the picture before") != 2 || len(first.Pictures) != 1 {
		t.Errorf("%d pictures, %d noted, %q", n, len(first.Pictures), text)
	}
	if _, text, n := read(first, nil, "p0.png", "p1.png"); n != 1 || !strings.Contains(text, "[p0.png: this step was given the picture before]") {
		t.Errorf("in a later turn: %d pictures, %q", n, text)
	}
	if _, text, n := read(first, []string{"p0.png"}, "p0.png"); n != 1 {
		t.Errorf("left out to fit: %d pictures, %q", n, text)
	}
}

// TestRead_bytes: max_total_mb bounds the pictures of prompt and results together.
func TestRead_bytes(t *testing.T) {
	t.Parallel()
	read := pictured(t, map[string]float64{"max_total_mb": 0.125}) // three of 40 KB
	out, text, n := read(engine.UseToolsOut{}, nil, "p0.png", "p1.png", "p2.png")
	if n != 2 || !strings.Contains(text, "max_total_mb") {
		t.Errorf("%d pictures, %q", n, text)
	}
	if _, text, n := read(out, nil, "p3.png"); n != 0 || !strings.Contains(text, "max_total_mb") {
		t.Errorf("in a later turn: %d pictures, %q", n, text)
	}
}

// What a note embeds that the model reads with a tool is left out as it is of an input. Text that was asked for has no pictures.
func TestRead_omissions(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.md": "One\n\n![[gone.png]]\n\n![[Gone]]\n\n![[p.png]]\n", "p.png": noise(t, 200, 1)}, "read_file")
	for pictures, want := range map[bool][]string{
		true:  {"a.md:3: gone.png: missing", "a.md:5: Gone: missing"},
		false: {},
	} {
		ref := d.ref()
		out, _ := d.callAfter(engine.UseToolsIn{StepRef: ref, Prompt: d.assembled(ref).Prompt}, tool("read_file", in{"path": "a.md", "images": pictures}))
		var got []string
		for _, o := range out.Omissions {
			got = append(got, fmt.Sprintf("%s:%d: %s: %s", o.Note, o.Line, o.File, o.Why.Cause()))
		}
		if pictures && (len(out.Pictures) != 1 || out.Pictures[0].Note != "a.md" || out.Pictures[0].Line != 7) {
			t.Errorf("the picture is embedded at %+v, want a.md:7", out.Pictures)
		}
		if !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("images %v: left out %q, want %q", pictures, got, want)
		}
	}
}
