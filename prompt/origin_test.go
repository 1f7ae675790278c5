package prompt_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/prompt"
)

// A prompt tells what of it somebody else may have written, wherever it stands; and frames show the same.
func TestBuild_origins(t *testing.T) {
	t.Parallel()
	const web = "https://example.org/p.png"
	v := vaultFiles{
		"own.md": "mine\n", "Imported/a/index.md": "theirs\n", "Imported/a/p.png": "image 640x480 png 9000",
		"embeds.md": "see\n\n![[index]]\n", "shows.md": "![](Imported/a/p.png)\n", "links.md": "![](" + web + "?token=s3cr3t)\n",
		web + "?token=s3cr3t": "image 64x48 png 900",
	}
	for name, tt := range map[string]struct {
		input   string
		origins []string // of the input
		want    []string
		frame   string
	}{
		"own note":                  {input: "file: own.md", frame: `trust="trusted"`},
		"own note made from a page": {input: "file: own.md", origins: []string{"web w"}, want: []string{"file own.md", "web w"}, frame: `trust="untrusted"`},
		"import":                    {input: "file: Imported/a/index.md", want: []string{"file Imported/a/index.md"}, frame: `trust="untrusted"`},
		"trusted import":            {input: "file: Imported/a/index.md (trust=trusted)", frame: `trust="trusted"`},
		"names of imports":          {input: "file: Imported/a/index.md (refs_only)", want: []string{"file Imported/a/index.md"}},
		"transcluded import":        {input: "file: embeds.md", want: []string{"file Imported/a/index.md"}},
		"picture of an import":      {input: "file: shows.md", want: []string{"file Imported/a/p.png"}},
		"picture of the web":        {input: "file: links.md", want: []string{"picture " + web}},
		"variable":                  {input: "variable: x", frame: `trust="trusted"`},
		"untrusted variable":        {input: "variable: x (trust=untrusted)", want: []string{"variable x"}, frame: `trust="untrusted"`},
		"variable made of a page":   {input: "variable: x", origins: []string{"web w"}, want: []string{"web w"}, frame: `trust="untrusted"`},
	} {
		in := input(t, tt.input)
		in.Origins, in.Text = tt.origins, "text"
		b := v.builder()
		b.Remote = v.fetch
		p, err := b.Build(t.Context(), spec(in))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.Origins, tt.want) {
			t.Errorf("%s: origins %q, want %q", name, p.Origins, tt.want)
		}
		text := ""
		for _, block := range p.Blocks {
			text += block.Text()
		}
		if !strings.Contains(text, tt.frame) {
			t.Errorf("%s: no frame with %s in\n%s", name, tt.frame, text)
		}
	}
}

// An address that stands in untrusted content is asked only when the workflow names its host; one of the owner's note is.
func TestBuild_remotePicturesOfUntrustedContent(t *testing.T) {
	t.Parallel()
	const web = "https://good.example/a.png"
	v := vaultFiles{"Imported/a/index.md": "![](" + web + ")", "own.md": "![](" + web + ")"}
	for name, tt := range map[string]struct {
		input string
		links []string
		want  int
	}{
		"own note":                   {"file: own.md", nil, 1},
		"import":                     {"file: Imported/a/index.md", nil, 0},
		"import, other host allowed": {"file: Imported/a/index.md", []string{"other.example"}, 0},
		"import, host allowed":       {"file: Imported/a/index.md", []string{"good.example"}, 1},
		"trusted import":             {"file: Imported/a/index.md (trust=trusted)", nil, 1},
	} {
		asked := 0
		b := v.builder()
		b.Remote = func(context.Context, string) (prompt.RemotePicture, error) {
			asked++
			return prompt.RemotePicture{}, prompt.ErrNotFetched
		}
		s := spec(input(t, tt.input))
		s.MayLink = func(host string) bool { return slices.Contains(tt.links, host) }
		p, err := b.Build(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if asked != tt.want {
			t.Errorf("%s: asked %d times, want %d: %+v", name, asked, tt.want, p.Receipt.Chunks)
		}
	}
}
