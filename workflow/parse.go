package workflow

import (
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/workflow/assistantmd"
)

// Parse parses a workflow note. Name is the workflow's name; file is the note's name in the vault, for the diagnostics. The
// plan is never nil and contains what could be understood. It must not run if a diagnostic is an error (see
// [diag.HasErrors]). Diagnostics are in the order of the file, at most [MaxDiagnostics] and one that counts the rest.
func Parse(name, file string, text []byte) (*Plan, []diag.Diagnostic) {
	src, out := &source{}, &report{file: file}
	p := &Plan{Name: name, File: file, SHA256: digest(text), Meta: defaults()}
	if src.read(text, out) {
		if src.hasMeta {
			r := metaReader{src: src, out: out, values: &values{src: src, out: out}}
			r.read(&p.Meta)
		}
		body := bodyReader{name: name, src: src, out: out}
		body.read(p)
		out.list = assistantmd.Review(assistantmd.Note{Frontmatter: src.old(file), Blocks: body.blocks, Diagnostics: out.list})
	}
	return p, Limit(diag.Sort(out.list))
}

func defaults() Meta {
	return Meta{WeekStart: "monday", Overlap: "skip", CatchUp: "none"}
}

// NameOf returns the name of the workflow in a note below the workflows folder.
func NameOf(file, dir string) string {
	if dir != "" && dir != "." {
		file = strings.TrimPrefix(file, strings.TrimSuffix(dir, "/")+"/")
	}
	if ext := path.Ext(file); strings.EqualFold(ext, ".md") {
		file = file[:len(file)-len(ext)]
	}
	return file
}
