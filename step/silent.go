package step

import (
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/vault"
)

// silent reports whether all that an input found are notes of recordings without words, in a step that depends on them: no model is
// paid to read that there is nothing to read. With tools a model can listen to the recording.
func (r Inputs) silent(s Context, input directives.Input, found engine.ResolvedInput) bool {
	if tools := s.Step.Tools; tools != nil && !tools.None || len(found.Files) == 0 {
		return false
	}
	depends := input.Required || input.Target.Scheme == directives.SchemeTrigger || input.ReadsItem() || directives.MentionsTrigger(input.Target.Path)
	return depends && !slices.ContainsFunc(found.Files, func(f engine.ResolvedFile) bool { return !r.wordless(f.Name) })
}

// wordless reports whether a file is the note of a recording in which nothing was heard, and to which nobody added anything.
func (r Inputs) wordless(name string) bool {
	m, err := readManifest(r.FS, path.Dir(name))
	if err != nil || m.Source.Kind != filetype.KindAudio || path.Base(name) != m.NoteName() {
		return false
	}
	if slices.ContainsFunc(m.Pages, func(p manifest.Page) bool { return p.Text != nil && p.Text.Path != "" }) {
		return false
	}
	note, err := r.fileText(name)
	from, to, marked := vault.Generated(note)
	if err != nil || !marked {
		return false
	}
	if was := m.Generated[m.NoteName()][0]; was != "" && was != vault.PageDigest(note[from:to]) {
		return false
	}
	properties, _ := chunking.Frontmatter([]byte(note))
	begin, end := from-len(vault.GeneratedBegin), to+len(vault.GeneratedEnd)
	return properties <= begin && strings.TrimSpace(note[properties:begin]+note[end:]) == ""
}
