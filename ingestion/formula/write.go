package formula

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// writer writes a row from left to right.
type writer struct {
	out  strings.Builder
	name string // upright letters so far, of a name such as sin
}

const threeDots = `\cdot\cdot\cdot`

// sign writes a node. Upright letters wait for the others of their name.
func (w *writer) sign(n node) {
	if n.kind == upright {
		w.name += n.latex
		return
	}
	w.flush()
	w.put(n.latex)
	if text := w.out.String(); strings.HasSuffix(text, "...") {
		w.out.Reset()
		w.out.WriteString(strings.TrimSuffix(text, "...") + `\ldots`)
	} else if strings.HasSuffix(text, threeDots) {
		w.out.Reset()
		w.out.WriteString(strings.TrimSuffix(text, threeDots) + `\cdots`)
	}
}

// script writes what is attached to the last node.
func (w *writer) script(mark string, nodes []node, depth int) bool {
	if len(nodes) == 0 {
		return true
	}
	w.flush()
	latex, ok := row(nodes, depth+1)
	w.out.WriteString(mark + "{" + latex + "}")
	return ok
}

// functions are the names that LaTeX has commands for.
var functions = map[string]bool{
	"arccos": true, "arcsin": true, "arctan": true, "arg": true, "cos": true, "cosh": true, "cot": true, "coth": true, "csc": true, "deg": true, "det": true,
	"dim": true, "exp": true, "liminf": true, "limsup": true, "gcd": true, "hom": true, "inf": true, "ker": true, "lg": true, "lim": true, "ln": true, "log": true, "max": true, "min": true,
	"Pr": true, "sec": true, "sin": true, "sinh": true, "sup": true, "tan": true, "tanh": true,
}

// bounded are those that have limits below them, and two that are set as one.
var bounded = map[string]string{
	"lim": `\lim`, "max": `\max`, "min": `\min`, "sup": `\sup`, "inf": `\inf`, "det": `\det`, "gcd": `\gcd`, "Pr": `\Pr`,
	"limsup": `\limsup`, "liminf": `\liminf`, "argmax": `\arg\max`, "argmin": `\arg\min`,
}

// joins are words between the parts of a formula.
var joins = map[string]bool{"and": true, "or": true, "if": true, "for": true, "with": true, "where": true, "otherwise": true, "all": true, "as": true}

func (w *writer) flush() {
	switch name := w.name; {
	case name == "":
	case functions[name]:
		w.put(`\` + name)
	case joins[name]:
		w.put(`\text{ ` + name + ` }`)
	case utf8.RuneCountInString(name) == 1:
		w.put(`\mathrm{` + name + `}`)
	default:
		w.put(`\operatorname{` + name + `}`)
	}
	w.name = ""
}

// put writes LaTeX, apart from a command whose name it would continue.
func (w *writer) put(latex string) {
	before := w.out.String()
	at := strings.LastIndexByte(before, '\\')
	first, _ := utf8.DecodeRuneInString(latex)
	if at >= 0 && unicode.IsLetter(first) && at+1 < len(before) && strings.IndexFunc(before[at+1:], func(r rune) bool { return !unicode.IsLetter(r) }) < 0 {
		w.out.WriteByte(' ')
	}
	w.out.WriteString(latex)
}

var (
	word    = regexp.MustCompile(`(?:^|[^\\A-Za-z{])[A-Za-z]{5,}|\\operatorname\{[a-z]{6,}\}|(?:\\math(?:frak|bb|cal)\{.\}){4,}|^\(\\mathrm\{.\}\)|^\\text`)
	named   = regexp.MustCompile(`\\operatorname\{[^}]*\}`)
	relates = regexp.MustCompile(`[=<>]|\\(?:leq|leqslant|geq|geqslant|neq|approx|equiv|sim|simeq|cong|propto|ll|gg|in|notin|subset|subseteq|supset|supseteq|to|mapsto|` +
		`Rightarrow|Leftarrow|Leftrightarrow|frac|sum|prod|int|sqrt)(?:[^A-Za-z]|$)`)
)

// speech are words of a sentence, which no function has for its name.
var speech = map[string]bool{
	"if": true, "then": true, "when": true, "let": true, "so": true, "since": true, "is": true, "are": true, "be": true, "we": true, "the": true, "in": true, "of": true,
	"by": true, "on": true, "at": true, "that": true, "this": true, "thus": true, "hence": true, "but": true, "not": true, "has": true, "have": true, "also": true, "from": true, "to": true,
}

// sounds reports whether a row says something and has no words: those are of a text, or of a program.
func sounds(latex string) bool {
	names := map[string]bool{}
	for _, name := range named.FindAllString(latex, -1) {
		names[name] = true
		if speech[strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, `\operatorname{`), "}"))] {
			return false
		}
	}
	return relates.MatchString(latex) && !word.MatchString(latex) && len(names) <= 2
}

// balanced reports whether brackets that grow with what they hold come in pairs.
func balanced(latex string) bool {
	for left, right := range map[string]string{"(": ")", "[": "]", `\{`: `\}`, `\lfloor`: `\rfloor`, `\lceil`: `\rceil`, `\langle`: `\rangle`} {
		if strings.Count(latex, `\left`+left) != strings.Count(latex, `\right`+right) {
			return false
		}
	}
	return true
}

// structure are the commands that formulas are built with, besides those of signs, names and accents.
var structure = []string{
	"frac", "sqrt", "overline", "left", "right", "tag", "mathbf", "mathcal", "mathbb", "mathfrak", "mathrm", "operatorname", "text", "circ", "prime",
}

// commands are all that LaTeX writes.
var commands = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, name := range structure {
		out[name] = true
	}
	for name := range functions {
		out[name] = true
	}
	for _, table := range []map[rune]string{signs, operators, integrals, accents} {
		for _, latex := range table {
			for _, m := range command.FindAllStringSubmatch(latex, -1) {
				out[m[1]] = true
			}
		}
	}
	return out
})

var (
	command  = regexp.MustCompile(`\\([A-Za-z]+|.)`)
	harmless = regexp.MustCompile(`^[\x20-\x7e]+$`)
)

// IsOwn reports whether a text has nothing in it but what [LaTeX] writes: a formula from elsewhere may run commands.
func IsOwn(latex string) bool {
	if !harmless.MatchString(latex) || strings.ContainsAny(command.ReplaceAllString(latex, ""), "$%#&~\\`") {
		return false
	}
	for _, m := range command.FindAllStringSubmatch(latex, -1) {
		if !commands()[m[1]] && !strings.Contains(`{}|%#&`, m[1]) {
			return false
		}
	}
	return true
}
