package directives

import (
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/failure/diag"

	"github.com/bmatcuk/doublestar/v4"
)

// pathFault is what is wrong with a name; part is the text at fault, which locates it.
type pathFault struct{ code, suggestion, message, part string }

// faultOf checks a name or glob against the rules for all paths of the language. It returns nil for a name inside the vault
// and outside dot folders.
func faultOf(name string) *pathFault {
	switch {
	case name == "":
		return &pathFault{CodeEmptyPath, "", "the path is empty", ""}
	case !utf8.ValidString(name):
		return &pathFault{CodeBadCharacter, "", "the path is not valid UTF-8", ""}
	case strings.Contains(name, "://"):
		return &pathFault{CodeAbsolute, "name a file in the vault", "a URL is not a path in the vault", "://"}
	case name[0] == '/' || name[0] == '\\' || strings.HasPrefix(name, "~/") || hasDrive(name):
		return &pathFault{CodeAbsolute, "write it relative to the vault, such as notes/today", "the path is absolute", ""}
	}
	for _, c := range name {
		if unicode.IsControl(c) {
			return &pathFault{CodeBadCharacter, "", "the path contains a control character", string(c)}
		}
		if c == '\\' {
			return &pathFault{CodeBadCharacter, "use /", `the path contains \`, `\`}
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return &pathFault{CodeEmptyPath, "", "the path has an empty part next to a /", "//"}
		case part == "." || part == "..":
			return &pathFault{CodeParent, "write the path from the vault's root", "the path contains " + part, part}
		case part[0] == '.':
			return &pathFault{CodeHidden, "", "the path leads to the hidden " + part, part}
		case len(part) > 255:
			return &pathFault{CodeNameTooLong, "", "a part of the path is longer than 255 bytes", part}
		}
	}
	return nil
}

func hasDrive(name string) bool {
	return len(name) > 2 && isLetter(rune(name[0])) && name[1] == ':' && (name[2] == '/' || name[2] == '\\')
}

// outputFault adds the rules for outputs.
func outputFault(name string) *pathFault {
	if f := faultOf(name); f != nil {
		return f
	}
	if i := strings.IndexAny(name, `*?`); i >= 0 {
		return &pathFault{CodeOutputGlob, "name one file", "an output is one file, not a glob", name[i : i+1]}
	}
	if i := strings.IndexAny(name, `:"<>|`); i >= 0 {
		return &pathFault{CodeBadCharacter, "choose another character", "Obsidian does not allow " + name[i:i+1] + " in the name of a note", name[i : i+1]}
	}
	for part := range strings.SplitSeq(name, "/") {
		if last := part[len(part)-1]; last == ' ' || last == '.' || part[0] == ' ' {
			return &pathFault{CodeBadCharacter, "remove it", "a part of the path starts or ends with a space or a dot", part}
		}
	}
	if kind := KindOf(name); kind != "" && kind != "markdown" && kind != "text" {
		return &pathFault{CodeExtension, "write .md, or no extension", "text cannot be written to a " + path.Ext(name) + " file", path.Ext(name)}
	}
	return nil
}

// sample fills in for a run when a path is checked before there is one.
var sample = Facts{
	Now: time.Date(2026, 3, 1, 4, 5, 6, 0, time.UTC), WeekStart: time.Monday,
	Workflow: "workflow", Step: "step", Run: "run", Files: []string{"folder/trigger.md"}, Item: "item", ItemName: "item", Batch: 1, Unanswered: true,
}

func (t Target) source() source { return source{text: t.Path, at: t.At} }

// at returns the position of the faulty part, or of the path.
func (f *pathFault) at(t Target) diag.Position {
	if f.part != "" {
		if i := strings.Index(t.Path, f.part); i >= 0 {
			return t.source().pos(i)
		}
	}
	return t.At
}

func (f *pathFault) report(t Target, r *report) {
	r.add(f.at(t), f.code, f.suggestion, "%s", f.message)
	if f.part == `\` {
		r.mend(diag.Replace(f.at(t), 1, "/"))
	}
}

// checkInputPath checks the path of a file input before there is a run, and reads the selection shorthands in it.
func checkInputPath(t Target, sel *Selection, r *report) {
	if t.Literal {
		warnLiteral(t, r)
		if f := faultOf(t.Path); f != nil {
			f.report(t, r)
		}
		return
	}
	m := modeGlob
	if t.Link {
		m = modePath
	}
	pieces, ok := checkPattern(t.source(), m, r)
	if !ok {
		return
	}
	for _, p := range pieces {
		sel.shorthand(p, t, r)
	}
	name, err := expand(t.Path, sample, m)
	if err != nil || t.Link {
		return // a link is resolved by name across the vault; its text is not a path
	}
	if f := faultOf(unescape(name)); f != nil {
		folder := f.code == CodeEmptyPath && strings.HasSuffix(name, "/")
		if folder {
			f.suggestion = "write " + t.Path + "* for the notes in the folder"
		}
		f.report(t, r)
		if folder && strings.HasSuffix(t.Path, "/") && !strings.Contains(t.Path, "{") {
			r.mend(diag.Replace(t.source().pos(len(t.Path)), 0, "*"))
		}
	} else if !doublestar.ValidatePattern(name) {
		r.add(t.At, CodeGlob, "quote the path if it is not a glob", "%q is not a valid glob", clip(t.Path))
	}
}

// unescape removes the backslashes that protect values in a glob.
func unescape(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		if glob[i] == '\\' && i+1 < len(glob) && strings.IndexByte(`*?[]{}\`, glob[i+1]) >= 0 {
			i++
		}
		b.WriteByte(glob[i])
	}
	return b.String()
}

// checkOutputPath checks the path of an output before there is a run.
func checkOutputPath(t Target, r *report) {
	name := t.Path
	if t.Literal {
		warnLiteral(t, r)
	} else {
		if _, ok := checkPattern(t.source(), modePath, r); !ok {
			return
		}
		name, _ = expand(t.Path, sample, modePath)
	}
	if t.Link {
		return
	}
	if f := outputFault(name); f != nil {
		f.report(t, r)
	}
}

// warnLiteral warns that a quoted path is not expanded, if it looks as if it should be.
func warnLiteral(t Target, r *report) {
	pieces, _ := scan(t.Path, modeGlob)
	for _, p := range pieces {
		if p.name != "" || p.glob && strings.Contains(p.text, "*") {
			r.add(t.At, CodeQuotedPattern, "remove the quotes to expand it", "a quoted path is literal: its pattern or glob is not expanded")
			return
		}
	}
}
