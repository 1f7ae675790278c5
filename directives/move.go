package directives

import (
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// Move is `@move`: once the step's answer is accepted, a file gets another name or folder, an imported document as one, and the links
// to it follow.
type Move struct {
	At     diag.Position `json:"at"`
	Source Target        `json:"source"` // a file, or the one that started the run
	To     Target        `json:"to"`     // the name without extension; with a / at its end, a folder
	// Untrusted lets content from outside determine the whole path.
	Untrusted bool `json:"untrusted,omitempty"`
}

const adviceMove = "write @move trigger to: Archive/{today}"

func readMove(d Directive, r *report) *Move {
	m := &Move{At: d.At}
	for _, p := range d.Params { // untrusted
		m.Untrusted = p.word(r, "block", "allow") == "allow"
	}
	text := source{text: d.Text, at: d.TextAt}
	at, behind := toWord(d.Text)
	if at < 0 {
		r.add(d.TextAt, CodeMoveForm, adviceMove, "@move does not say where to: after the file comes to: and the new name")
		return nil
	}
	from, to := source{text: strings.TrimRight(d.Text[:at], " \t"), at: d.TextAt}, text.from(behind)
	if strings.HasPrefix(from.text, "[[") || strings.HasPrefix(from.text, "{") {
		from.text = "file: " + from.text
		from.at.Column -= len("file: ")
	}
	faults := len(r.list)
	var ok bool
	if m.Source, ok = parseSource("@move", from, r); ok {
		m.checkSource(r)
	}
	if m.To, ok = fileTarget("@move", to, r); ok {
		m.checkTo(r)
	}
	if !clean(r, faults) {
		return nil
	}
	return m
}

// toWord finds ` to:` in the value of an @move, and what is behind it. Quotes and brackets may contain it.
func toWord(text string) (at, behind int) {
	closing := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case closing == ']' && c == ']' && strings.HasPrefix(text[i:], "]]"), closing != 0 && closing != ']' && c == closing:
			closing = 0
		case closing != 0:
		case c == '"', c == '\'' && (i == 0 || text[i-1] == ' '):
			closing = c
		case strings.HasPrefix(text[i:], "[["):
			closing = ']'
		case (c == ' ' || c == '\t') && len(text) > i+3 && strings.EqualFold(text[i+1:i+4], "to:"):
			return i, i + 4
		}
	}
	return -1, 0
}

func (m *Move) checkSource(r *report) {
	t := m.Source
	t.refuseFragment("@move", r)
	switch {
	case t.Scheme == SchemeVariable:
		r.add(t.At, CodeMoveForm, adviceMove, "a variable is no file, so it cannot be moved")
	case t.Scheme == SchemeFile:
		var sel Selection
		checkInputPath(t, &sel, r)
		if pieces, _ := scan(t.Path, modeGlob); sel != (Selection{}) || !t.Literal && !t.Link && hasGlob(pieces) {
			r.add(t.At, CodeMoveForm, "name one file, or write @for_each file: "+clip(t.Path)+" and @move {item} to: …", "@move moves one file")
		}
	}
}

func hasGlob(pieces []piece) bool {
	for _, p := range pieces {
		if p.glob && (p.name != "" || strings.ContainsAny(p.text, "*?[{")) {
			return true
		}
	}
	return false
}

func (m *Move) checkTo(r *report) {
	t := m.To
	if t.Link {
		r.add(t.At, CodeMoveForm, "write the path", "@move needs the new name, not a link to a note")
		return
	}
	t.Path = t.whole()
	r.answers = true
	checkOutputPath(t, r)
	r.answers = false
}

// whole returns the path of the new name with an extension, as rules for paths need it.
func (t Target) whole() string {
	if strings.HasSuffix(t.Path, "/") {
		return t.Path + "name.md"
	}
	return t.Path + ".md"
}

// Place returns the new name without its extension; with a / at its end, the folder. See [Output.Place].
func (m Move) Place(env OutputEnv) (Place, error) {
	t := m.To
	t.Path = t.whole()
	env.FS, env.MayWrite = nil, nil
	p, err := Output{At: m.At, Target: t}.Place(env)
	if strings.HasSuffix(m.To.Path, "/") {
		p.Name = strings.TrimSuffix(p.Name, "name.md")
	}
	p.Name = strings.TrimSuffix(p.Name, ".md")
	return p, err
}
