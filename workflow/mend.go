package workflow

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// mendOldKey renames or deletes a property of AssistantMD.
func (r *metaReader) mendOldKey(key *yaml.Node) {
	now := strings.ReplaceAll(strings.ToLower(key.Value), "-", "_")
	if slices.Contains(keyNames, now) {
		r.values.rename(key, now)
		return
	}
	at := r.values.node(key)
	if next := r.src.line(at.Line + 1); next == "" || !strings.ContainsAny(next[:1], " \t-") {
		r.out.mend(diag.Edit{Line: at.Line, Column: 1, EndLine: at.Line + 1, EndColumn: 1})
	}
}

// mendEntry adds the kind to a schedule entry that lacks one.
func (r *metaReader) mendEntry(entry *yaml.Node, fault *scheduleError) {
	kind := missingKind(strings.TrimSpace(entry.Value))
	if fault.code != directives.CodeScheduleForm || kind == "" {
		return
	}
	at, text := r.values.node(entry), entry.Value
	switch rest := r.src.rest(at); {
	case entry.Style == 0 && strings.TrimSpace(rest) == text:
		r.out.mend(diag.Replace(at, utf8.RuneCountInString(text), strconv.Quote(kind+": "+text)))
	case len(rest) > len(text) && strings.HasPrefix(rest[1:], text):
		at.Column++
		r.out.mend(diag.Replace(at, 0, kind+": "))
	}
}

// mendQuote quotes the rest of a line, which is one value.
func (r *metaReader) mendQuote(at Position) {
	value := strings.TrimSpace(r.src.rest(at))
	if !strings.ContainsAny(value, "#\"\\") {
		r.out.mend(diag.Replace(at, utf8.RuneCountInString(value), strconv.Quote(value)))
	}
}
