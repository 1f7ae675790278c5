package assistantmd

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// path returns the path of a `file:` value, and its place including the brackets of a wikilink.
func (l oldLine) path() (path string, outer piece, ok bool) {
	rest, ok := cutFold(l.base.text, "file")
	if !ok {
		return "", piece{}, false
	}
	rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t"), ":")
	if !ok {
		return "", piece{}, false
	}
	rest = strings.TrimLeft(rest, " \t")
	outer = l.slice(l.base.end-len(rest), l.base.end)
	if inner, ok := strings.CutPrefix(rest, "[["); ok && strings.HasSuffix(inner, "]]") {
		rest = strings.TrimSuffix(inner, "]]")
	}
	if rest == "" || rest[0] == '"' || rest[0] == '\'' {
		return "", piece{}, false
	}
	return rest, outer, true
}

var (
	selecting = regexp.MustCompile(`\{(pending|latest)(?::(\d+))?\}`)
	counted   = regexp.MustCompile(`\{(yesterday|this-week|last-week):(\d+)\}`)
	listed    = regexp.MustCompile(`(?i)\s*,\s*(file:)`)
)

// inputPath fixes AssistantMD's notation in the path of an input.
func (r lineReview) inputPath(l oldLine) {
	path, outer, ok := l.path()
	if !ok {
		return
	}
	switch {
	case listed.MatchString(path):
		r.split(l, path, outer)
	case counted.MatchString(path):
		r.counted(l, path, outer)
	case !r.ours:
	case selecting.MatchString(path):
		r.selected(l, path, outer)
	case strings.Contains(lastPiece(path), "*") && !strings.ContainsAny(strings.ReplaceAll(lastPiece(path), "**", "."), "."):
		r.rewrite(l, outer, path+".md", "AssistantMD's globs matched only Markdown notes", "")
	}
	if r.ours && strings.HasPrefix(path, "__virtual_docs__/") {
		r.out.warn(l.at(outer.start), "delete the line", "AssistantMD showed its own documentation below __virtual_docs__; there is no such folder here")
	}
}

// lastPiece returns what follows the last slash outside braces, with patterns replaced by a letter.
func lastPiece(path string) string {
	plain := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "x")
	return plain[strings.LastIndexByte(plain, '/')+1:]
}

// split puts each file of `file: a, file: b` on its own line.
func (r lineReview) split(l oldLine, path string, outer piece) {
	if outer.text != path {
		return
	}
	block := ""
	if l.block.text != "" {
		block = " " + l.block.text
	}
	before := block + "\n" + strings.TrimRight(l.text[:l.value.start], " ") + " "
	lines := listed.ReplaceAllStringFunc(path, func(divider string) string { return before + strings.TrimLeft(divider, ", \t") })
	r.out.attach(l.at(outer.start), l.column(outer.start), directives.CodeMalformed, "", l.replace(outer.start, outer.end, lines))
}

// folder returns the folder in which a pattern selected files.
func folder(path string, brace int) string {
	return path[:strings.LastIndexByte(path[:brace], '/')+1]
}

// counted fixes `{this-week:3}`, which selected files by the dates in their names.
func (r lineReview) counted(l oldLine, path string, outer piece) {
	m := counted.FindStringSubmatchIndex(path)
	name, count := path[m[2]:m[3]], path[m[4]:m[5]]
	within := map[string]string{"yesterday": "the " + count + " days before today", "this-week": "this week", "last-week": "last week"}[name]
	if l.chooses() || strings.Trim(count, "0") == "" {
		return
	}
	to := folder(path, m[0]) + "*.md"
	params := []string{"order=date", "dir=desc", "limit=" + count}
	r.out.attach(l.at(outer.start), l.column(outer.end), directives.CodePatternFormat,
		fmt.Sprintf("write file: %s (%s) for the newest %s by the dates in their names, even if not from %s", to, strings.Join(params, ", "), count, within),
		l.replace(outer.start, outer.end, to), l.with(params...))
}

// chooses reports whether the line has parameters that choose among files.
func (l oldLine) chooses() bool {
	for _, key := range []string{"pending", "latest", "limit", "order", "dir"} {
		if _, ok := l.item(key); ok {
			return true
		}
	}
	return false
}

// selected fixes `{pending:5}` and `{latest}`, which mean something else here.
func (r lineReview) selected(l oldLine, path string, outer piece) {
	m := selecting.FindStringSubmatchIndex(path)
	name, count := path[m[2]:m[3]], ""
	if m[4] >= 0 {
		count = path[m[4]:m[5]]
	}
	tail := path[m[1]:]
	subfolder := strings.HasPrefix(tail, "/")
	if l.chooses() || count != "" && strings.Trim(count, "0") == "" {
		return
	}
	to, params := folder(path, m[0])+"*.md", []string{"pending", "limit=" + or(count, "10"), "order=ctime"}
	message := "AssistantMD's {pending} selected the " + or(count, "10") + " oldest notes, Markdown only"
	if name == "latest" {
		params, message = []string{"latest", "order=date"}, "AssistantMD's {latest} selected the Markdown note with the newest date in its name"
		if count != "" && count != "1" {
			params = append(params, "limit="+count)
		}
		if subfolder {
			to, params, message = folder(path, m[0])+"*"+tail, []string{"latest", "order=name"}, "AssistantMD's {latest} selected the subfolder with the newest date in its name"
		}
	}
	if subfolder && tail == "/" {
		r.out.warn(l.at(outer.start), "name the folder, or one file in each subfolder", message+", with all its notes; there is no such selection here")
		return
	}
	r.rewrite(l, outer, to, message, strings.Join(params, ", "))
}

// rewrite suggests another path, and parameters for it.
func (r lineReview) rewrite(l oldLine, outer piece, path, message, params string) {
	edits := []diag.Edit{l.replace(outer.start, outer.end, path)}
	suggestion := "write file: " + path
	if params != "" {
		edits = append(edits, l.with(params))
		suggestion += " (" + params + ")"
	}
	r.out.warn(l.at(outer.start), suggestion, message, edits...)
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// outputPath fixes output paths: AssistantMD wrote every output with the extension .md, replacing any other.
func (r lineReview) outputPath(l oldLine) {
	path, outer, ok := l.path()
	if !ok {
		return
	}
	if m := selecting.FindStringSubmatch(path); m != nil && m[1] == "latest" {
		r.out.attach(l.at(outer.start), l.column(outer.end), directives.CodePatternPlace, "name the file; AssistantMD used the newest date in a name at the vault's root, or else today's")
		return
	}
	if r.ours && outer.text != path {
		r.rewrite(l, outer, path, "AssistantMD wrote to the path in the brackets; here a link must lead to an existing note", "")
		return
	}
	last := lastPiece(path)
	dot := strings.LastIndexByte(last, '.')
	if !r.ours || dot <= 0 || strings.EqualFold(last[dot:], ".md") || outer.text != path {
		return
	}
	// Patterns contain dots too: the one that counts is the last outside braces.
	offset, depth := 0, 0
	for i := range len(path) {
		switch path[i] {
		case '{':
			depth++
		case '}':
			depth--
		case '.':
			if depth == 0 {
				offset = i
			}
		}
	}
	r.out.warn(l.at(outer.start), "write file: "+path[:offset]+".md", "AssistantMD wrote this to a file with the extension .md; here "+describeName(path)+" is written",
		l.replace(outer.start+offset, outer.end, ".md"))
}

func describeName(path string) string {
	if directives.KindOf(path) == "" {
		return path + ".md"
	}
	return path
}
