package directives

import (
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// Tests of a [When].
const (
	WhenExists   = "exists"   // a file matches the path or glob
	WhenMissing  = "missing"  // none does
	WhenChanged  = "changed"  // a file has content that this step has not run on yet
	WhenEmpty    = "empty"    // a variable is unset or blank
	WhenNonempty = "nonempty" // it is set and not blank
)

// When is one `@when`; a step with several runs if all of them are true.
type When struct {
	At     diag.Position `json:"at"`
	Index  int           `json:"index"` // counts the step's conditions from 0; part of the key of changed state
	Not    bool          `json:"not,omitempty"`
	Test   string        `json:"test"`
	Target Target        `json:"target"`
}

// Key identifies the state of `changed`.
func (w When) Key(workflow, step string) PendingKey {
	return PendingKey{Workflow: workflow, Step: step, Directive: ForEachIndex - 1 - w.Index}
}

// whenTests lists the tests; those of files come first.
var whenTests = []string{WhenExists, WhenMissing, WhenChanged, WhenEmpty, WhenNonempty}

// readWhen reads `[not] TEST TARGET`.
func readWhen(d Directive, r *report) When {
	w := When{At: d.At}
	s := source{text: d.Text, at: d.TextAt}
	word, rest := firstWord(s)
	if strings.EqualFold(word.text, "not") {
		w.Not = true
		word, rest = firstWord(rest)
	}
	for _, test := range whenTests {
		if strings.EqualFold(word.text, test) {
			w.Test = test
		}
	}
	switch {
	case w.Test == "" && word.text == "":
		r.add(word.at, CodeNoValue, adviceWhen, "@when not has no test")
		return w
	case w.Test == "":
		r.add(word.at, CodeDirectiveValue, diag.DidYouMean(word.text, whenTests, adviceWhen), "@when tests %s, not %q", diag.OneOf(whenTests), clip(word.text))
		r.mendWord(word.at, word.text, whenTests)
		return w
	case rest.text == "":
		r.add(rest.at, CodeNoValue, "write @when "+w.Test+map[bool]string{true: " variable: NAME", false: " PATH"}[w.ofVariable()], "@when %s has no target", w.Test)
		return w
	}
	w.readTarget(word, rest, r)
	return w
}

// firstWord splits a text after its first word.
func firstWord(s source) (word, rest source) {
	end := strings.IndexAny(s.text, " \t")
	if end < 0 {
		end = len(s.text)
	}
	return source{text: s.text[:end], at: s.at}, s.from(end)
}

func (w When) ofVariable() bool { return w.Test == WhenEmpty || w.Test == WhenNonempty }

func (w *When) readTarget(test, s source, r *report) {
	if second, path := firstWord(s); strings.EqualFold(second.text, "not") && path.text != "" && !w.Not {
		r.add(s.at, CodeMalformed, "write @when not "+w.Test+" "+path.text+"; quote a path that begins with not", "not must come before %s", w.Test)
		r.mend(diag.Replace(test.at, s.at.Column-test.at.Column+len("not"), "not "+w.Test))
		return
	}
	start := schemeEnd(s.text)
	scheme := strings.ToLower(strings.TrimRight(s.text[:start], ": \t"))
	var ok bool
	switch {
	case w.ofVariable() && scheme != SchemeVariable:
		r.add(s.at, CodeNoScheme, "write @when "+w.Test+" variable: "+clip(strings.TrimSpace(s.text[start:])), "@when %s tests a variable", w.Test)
		if scheme == "" && checkVariable(Target{Scheme: SchemeVariable, Path: s.text}, &report{}) {
			r.mend(diag.Replace(s.at, 0, "variable: "))
		}
		return
	case !w.ofVariable() && scheme == SchemeVariable:
		r.add(s.at, CodeDirectiveValue, "write empty or nonempty", "@when %s tests files, not a variable", w.Test)
		return
	case scheme == SchemeFile || scheme == SchemeVariable:
		w.Target, ok = parseTarget("@when", s, r)
	default:
		w.Target, ok = fileTarget("@when", s, r)
	}
	if ok && w.Target.Scheme == SchemeFile {
		w.checkPath(r)
	}
}

// checkPath checks a path or glob. Items have no meaning in it: conditions are tested before there are any.
func (w *When) checkPath(r *report) {
	var sel Selection
	w.Target.refuseFragment("@when", r)
	r.withoutItems(func() { checkInputPath(w.Target, &sel, r) })
	if sel != (Selection{}) {
		r.add(w.Target.At, CodePatternPlace, "write * instead", "{latest} and {pending} have no meaning in @when")
	}
}
