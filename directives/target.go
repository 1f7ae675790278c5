package directives

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// Schemes of a [Target].
const (
	SchemeFile     = "file"
	SchemeVariable = "variable"
	SchemeTrigger  = "trigger" // the files that started the run; for inputs and the items of an @for_each
)

// Target is what an input reads or an output writes: a file in the vault or a variable of the run. It holds the author's
// text; [Input.Resolve] and [Output.Name] turn it into names.
type Target struct {
	Scheme   string        `json:"scheme"`             // file, variable or trigger
	Path     string        `json:"path"`               // path, glob with patterns, linkpath, or variable name
	Literal  bool          `json:"literal,omitempty"`  // quoted: neither glob nor pattern
	Link     bool          `json:"link,omitempty"`     // written as a wikilink
	Fragment string        `json:"fragment,omitempty"` // of a wikilink, after its first `#`: heading, `^block`, `page=3`
	Alias    string        `json:"alias,omitempty"`    // of a wikilink, after its first `|`
	At       diag.Position `json:"at"`                 // of the path, inside quotes or brackets
}

// String is the target as it would be written.
func (t Target) String() string {
	path := t.Path
	switch {
	case t.Scheme == SchemeTrigger:
		return SchemeTrigger
	case t.Link && t.Fragment != "":
		path = "[[" + path + "#" + t.Fragment + "]]"
	case t.Link:
		path = "[[" + path + "]]"
	case t.Literal:
		path = `"` + path + `"`
	}
	return t.Scheme + ": " + path
}

// parseSource is parseTarget for what a step reads, which may be `trigger`.
func parseSource(owner string, s source, r *report) (Target, bool) {
	if strings.EqualFold(s.text, SchemeTrigger) {
		return Target{Scheme: SchemeTrigger, At: s.at}, true
	}
	if misspeltTrigger(s.text) {
		r.add(s.at, CodeNoScheme, "did you mean trigger? A file is written file: "+clip(s.text), "%s does not say file: or variable:", owner)
		r.mend(diag.Replace(s.at, utf8.RuneCountInString(s.text), SchemeTrigger))
		return Target{}, false
	}
	return parseTarget(owner, s, r)
}

// misspeltTrigger reports whether a word can only mean trigger: {trigger}, or one that is nearly it.
func misspeltTrigger(text string) bool {
	word := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}"))
	near, ok := diag.Certain(word, []string{SchemeTrigger, SchemeFile, SchemeVariable})
	return ok && near == SchemeTrigger && word[0] == 't' && !strings.ContainsAny(word, " \t/.:")
}

// parseTarget reads `file: PATH` or `variable: NAME`. The owner is named in messages.
func parseTarget(owner string, s source, r *report) (Target, bool) {
	literal := false
	if inner, quoted := unquote(s); quoted {
		s, literal = inner, true
	}
	end := schemeEnd(s.text)
	if end == 0 {
		hint := schemeHint(owner, s.text)
		r.add(s.at, CodeNoScheme, hint, "%s does not say file: or variable:", owner)
		if scheme, _, ok := bareScheme(s.text); ok && !literal {
			r.mend(diag.Replace(s.pos(len(scheme)), 0, ":"))
		} else if hint == "write "+owner+" file: "+s.text && !literal {
			r.mend(diag.Replace(s.at, 0, "file: "))
		}
		return Target{}, false
	}
	word := strings.TrimRight(s.text[:end], ": \t")
	t := Target{Scheme: strings.ToLower(word), Literal: literal}
	if t.Scheme != SchemeFile && t.Scheme != SchemeVariable {
		r.add(s.at, CodeUnknownScheme, diag.DidYouMean(word, []string{SchemeFile, SchemeVariable}, "quote a path that holds a colon: file: \"…\""),
			"%s has the unknown scheme %q; known are file and variable", owner, clip(word))
		if !literal {
			r.mendWord(s.at, word, []string{SchemeFile, SchemeVariable})
		}
		return Target{}, false
	}
	return t.read(owner, s.from(end), r)
}

// fileTarget reads a path without `file:`.
func fileTarget(owner string, s source, r *report) (Target, bool) {
	return Target{Scheme: SchemeFile}.read(owner, s, r)
}

// read reads what follows the scheme.
func (t Target) read(owner string, p source, r *report) (Target, bool) {
	if p.text != "" && !t.Literal {
		switch end, delimited := delimitedEnd(p, 0, r); {
		case delimited && end < 0:
			return t, false
		case delimited && end < len(p.text):
			r.add(p.from(end).at, CodeTrailingText, "write all of the path inside the quotes", "unexpected text %q after the closing quote or ]]", clip(p.from(end).text))
			return t, false
		}
	}
	if inner, quoted := unquote(p); quoted {
		p, t.Literal = inner, true
	} else if strings.HasPrefix(p.text, "[[") && strings.HasSuffix(p.text, "]]") {
		p, t.Link = source{text: p.text[2 : len(p.text)-2], at: p.pos(2)}, true
		p = p.from(0)
	}
	t.Path, t.At = p.text, p.at
	if t.Scheme == SchemeVariable {
		return t, checkVariable(t, r)
	}
	if t.Link {
		return t, t.readLink(r)
	}
	if strings.Contains(strings.ToLower(t.Path), ", file:") {
		r.add(t.At, CodeMalformed, "write one "+owner+" line for each file", "%s names several files", owner)
		return t, false
	}
	return t, true
}

// refuseFragment reports the `#heading` of a wikilink where only whole files have a meaning.
func (t Target) refuseFragment(owner string, r *report) {
	if t.Link && t.Fragment != "" {
		r.add(t.At, CodeFragment, "write [["+t.Path+"]]", "%s takes whole files: #%s has no meaning", owner, clip(t.Fragment))
	}
}

func schemeHint(owner, text string) string {
	switch strings.ToLower(text) {
	case "context":
		return "context belongs to AssistantMD's chats; write file: or variable:"
	case SchemeTrigger:
		return "write file: {trigger}; the note of that name is file: [[trigger]]"
	case "inline", "discard":
		return "write output=" + strings.ToLower(text) + " in the parameters of an @input"
	}
	if inside, ok := strings.CutPrefix(strings.ToLower(text), "[[file:"); ok {
		return "write file: [[" + clip(strings.TrimSpace(text[len(text)-len(inside):]))
	}
	if scheme, rest, ok := bareScheme(text); ok {
		return "write " + scheme + ": " + clip(rest)
	}
	if strings.HasPrefix(owner, "@") && text != "" {
		return "write " + owner + " file: " + clip(text)
	}
	return "write file: PATH or variable: NAME"
}

// bareScheme finds a scheme that lacks its colon, as in `file Notes/a`.
func bareScheme(text string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(text, " ")
	return scheme, strings.TrimSpace(rest), ok && (strings.EqualFold(scheme, SchemeFile) || strings.EqualFold(scheme, SchemeVariable))
}

// unquote takes the quotes off a text that is quoted as a whole.
func unquote(s source) (source, bool) {
	n := len(s.text)
	if n >= 2 && (s.text[0] == '"' || s.text[0] == '\'') && strings.IndexByte(s.text[1:], s.text[0]) == n-2 {
		return source{text: s.text[1 : n-1], at: s.pos(1)}, true
	}
	return s, false
}

// readLink splits a wikilink's inside: cut at the first `|` (written `\|` in tables), then at the first `#`.
func (t *Target) readLink(r *report) bool {
	link, alias, _ := strings.Cut(t.Path, "|")
	link = strings.TrimSuffix(link, `\`)
	link, fragment, _ := strings.Cut(link, "#")
	t.Path, t.Alias, t.Fragment = strings.TrimSpace(link), strings.TrimSpace(alias), strings.TrimSpace(fragment)
	if word := strings.ToLower(t.Path); strings.HasPrefix(word, "file:") || strings.HasPrefix(word, "variable:") {
		r.add(t.At, CodeMalformed, "write file: [[…]]", "the scheme stands inside the wikilink")
		return false
	}
	if t.Path == "" {
		r.add(t.At, CodeEmptyPath, "write the note's name", "the wikilink names no note")
		return false
	}
	if strings.ContainsFunc(t.Path, unicode.IsControl) {
		r.add(t.At, CodeBadCharacter, "", "the wikilink holds a control character")
		return false
	}
	return true
}

// IsVariableName reports whether a text can name a variable: a letter or _, then letters, digits, _ and -.
func IsVariableName(text string) bool {
	for i, c := range text {
		if !unicode.IsLetter(c) && c != '_' && (i == 0 || !unicode.IsDigit(c) && c != '-') {
			return false
		}
	}
	return text != ""
}

func checkVariable(t Target, r *report) bool {
	ok := !t.Link && IsVariableName(t.Path)
	if !ok {
		r.add(t.At, CodeVariableName, "", "%q is not a variable name, which is a letter, then letters, digits, _ and -", clip(t.Path))
	}
	return ok
}
