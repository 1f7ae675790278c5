package directives

import (
	"path"
	"strings"
)

// kinds maps extensions to kinds of files, as docs/language.md lists them.
var kinds = func() map[string]string {
	table := map[string]string{}
	for kind, extensions := range map[string]string{
		"markdown": "md markdown",
		"image":    "png jpg jpeg webp gif bmp tif tiff heic heif avif svg",
		"document": "pdf",
		"office":   "docx pptx xlsx odt odp ods epub",
		"text":     "txt csv tsv json jsonl yaml yml toml xml html htm log canvas base srt vtt " + sourceCode,
	} {
		for _, e := range strings.Fields(extensions) {
			table["."+e] = kind
		}
	}
	return table
}()

const sourceCode = `go py js mjs cjs ts tsx jsx rs c h cc cpp cxx hpp hh java kt kts scala swift rb php pl pm lua r jl hs ml mli ex exs erl
	clj cljs lisp el scm sh bash zsh fish ps1 bat sql graphql proto css scss less vue svelte dart zig nim v sv vhd asm s f90
	tex bib rst org adoc ini cfg conf properties diff patch mk cmake gradle tf nix dot gv puml mmd ipynb`

// KindOf returns the kind of file that an extension suggests: markdown, image, document, office or text, or "" if the
// language does not know it (`Dr. Smith`, `v1.2`). It is only a hint; the content decides.
func KindOf(name string) string { return kinds[strings.ToLower(path.Ext(name))] }
