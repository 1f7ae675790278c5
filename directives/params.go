package directives

import (
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// item is one comma-separated part of a parameter block.
type item struct {
	source
	key    string // canonical; empty if the item is not `key` or `key=value`
	assign int    // offset of `=` in the text, or -1
}

// cutBlock finds the parameter block at the end of a value: the last balanced `(…)` if every item in it is `key` or
// `key=value`. A block that sets an allowed key but has a malformed item is a fault, not part of the path.
func cutBlock(s source, g grammar) (open int, items []item, ok bool) {
	if !strings.HasSuffix(s.text, ")") {
		return 0, nil, false
	}
	open = opening(s.text)
	if open < 0 {
		return 0, nil, false
	}
	items = split(source{text: s.text[open+1 : len(s.text)-1], at: s.pos(open + 1)}, g)
	assigns, faulty := false, false
	for _, it := range items {
		faulty = faulty || it.key == ""
		assigns = assigns || it.assign >= 0 && slices.Contains(g.params, it.key)
	}
	if len(items) == 0 || faulty && !assigns {
		return 0, nil, false
	}
	return open, items, true
}

// opening returns the offset of the parenthesis that the final one closes.
func opening(s string) int {
	for _, quotes := range []bool{true, false} {
		for i := 0; i < len(s); i++ {
			if s[i] == '(' && matching(s, i, quotes) == len(s)-1 {
				return i
			}
		}
	}
	return -1
}

// matching returns the offset of the parenthesis that closes the one at open, or -1. With quotes, it skips quoted values (a
// quote after `=`).
func matching(s string, open int, quotes bool) int {
	depth := 0
	for i := open; i < len(s); i++ {
		switch c := s[i]; {
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i
			}
		case quotes && (c == '"' || c == '\'') && followsAssign(s[:i]):
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return -1
			}
			i += end + 1
		}
	}
	return -1
}

func followsAssign(s string) bool {
	return strings.HasSuffix(strings.TrimRight(s, " \t"), "=")
}

// split splits the inside of a block at its commas, except those inside quotes, brackets or parentheses. A list such as
// `pages=1-20,25` stays together.
func split(s source, g grammar) []item {
	var (
		items  []item
		starts []int
	)
	for _, span := range commas(s.text) {
		start := span[0] + indentBytes(s.text[span[0]:span[1]])
		it := readItem(source{text: strings.TrimRight(s.text[start:span[1]], " \t"), at: s.pos(start)})
		if n := len(items); n > 0 && continues(items[n-1], it, g) {
			items[n-1].text = strings.TrimRight(s.text[starts[n-1]:span[1]], " \t")
			continue
		}
		items, starts = append(items, it), append(starts, start)
	}
	if n := len(items); n > 0 && items[n-1].text == "" {
		items = items[:n-1]
	}
	return items
}

// commas returns the start and end of each part between top-level commas.
func commas(s string) [][2]int {
	var spans [][2]int
	start, depth := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case (c == '"' || c == '\'') && followsAssign(s[:i]):
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return append(spans, [2]int{start, len(s)}) // not closed: the end of the value is unknown
			}
			i += end + 1
		case c == ',' && depth <= 0:
			spans = append(spans, [2]int{start, i})
			start = i + 1
		}
	}
	return append(spans, [2]int{start, len(s)})
}

// written returns the key as written in the source.
func (it item) written() string {
	end := 0
	for end < len(it.text) && isNameByte(it.text[end]) {
		end++
	}
	return it.text[:end]
}

func readItem(s source) item {
	end := 0
	for end < len(s.text) && isNameByte(s.text[end]) {
		end++
	}
	it := item{source: s, assign: -1}
	if end == 0 || !isLetter(rune(s.text[0])) {
		return it
	}
	rest := strings.TrimLeft(s.text[end:], " \t")
	switch {
	case rest == "":
		it.key = canonical(s.text[:end])
	case rest[0] == '=':
		it.key = canonical(s.text[:end])
		it.assign = len(s.text) - len(rest)
	}
	return it
}

// continues reports whether an item continues the list value of the one before.
func continues(before, it item, g grammar) bool {
	if it.text == "" || before.assign < 0 || it.assign >= 0 || !slices.Contains(g.lists, before.key) {
		return false
	}
	if v := strings.TrimLeft(before.text[before.assign+1:], " \t"); v == "" || v[0] == '"' || v[0] == '\'' {
		return false
	}
	if before.key == "pages" {
		return strings.Trim(it.text, "0123456789- ") == ""
	}
	return !slices.Contains(g.params, it.key)
}

// params checks the items of a block: known keys, each once, quotes closed.
func params(name string, g grammar, items []item, r *report) []Param {
	var list []Param
	for _, it := range items {
		if it.key == "" {
			r.add(it.at, CodeMalformedParam, "quote the path if the parentheses belong to it", "%q is not key or key=value", clip(it.text))
			continue
		}
		if !slices.Contains(g.params, it.key) {
			if len(g.params) == 0 {
				r.add(it.at, CodeUnknownParam, "quote the path if the parentheses belong to it", "@%s takes no parameters", name)
				return nil
			}
			if elsewhere := BudgetElsewhere(it.key); name == "budget" && elsewhere != "" {
				r.add(it.at, CodeUnknownParam, elsewhere, "%s is not a limit of a step", it.key)
				continue
			}
			r.add(it.at, CodeUnknownParam, diag.DidYouMean(it.key, g.params, "quote the path if the parentheses belong to it"),
				"unknown parameter %q of @%s; allowed are %s", it.key, name, strings.Join(g.params, ", "))
			r.mendWord(it.at, it.written(), g.params)
			continue
		}
		if slices.ContainsFunc(list, func(p Param) bool { return p.Key == it.key }) {
			r.add(it.at, CodeRepeatedParam, "", "%s appears twice", it.key)
			continue
		}
		if p, ok := param(it, r); ok {
			list = append(list, p)
		}
	}
	return list
}

func param(it item, r *report) (Param, bool) {
	p := Param{Key: it.key, At: it.at, ValueAt: it.at, Bare: it.assign < 0}
	if p.Bare {
		return p, true
	}
	v := it.from(it.assign + 1)
	p.Value, p.ValueAt = v.text, v.at
	if v.text == "" {
		r.add(v.at, CodeParamValue, "write a value after =", "%s= has no value", it.key)
		return p, false
	}
	if v.text[0] != '"' && v.text[0] != '\'' {
		return p, true
	}
	end := strings.IndexByte(v.text[1:], v.text[0])
	switch {
	case end < 0:
		r.add(v.at, CodeQuoteOpen, "close it with "+v.text[:1], "the quote of %s is not closed", it.key)
		return p, false
	case end+2 < len(v.text):
		r.add(v.pos(end+2), CodeTrailingText, "", "unexpected text %q after the quoted value of %s", clip(strings.TrimSpace(v.text[end+2:])), it.key)
		return p, false
	}
	p.Value, p.Quoted = v.text[1:end+1], true
	return p, true
}

// checkSecondBlock reports `path (head=1) (required)`, where the first block would become part of the path.
func checkSecondBlock(name string, g grammar, base source, second diag.Position, r *report) {
	if !strings.HasSuffix(base.text, ")") {
		return
	}
	open := opening(base.text)
	if open < 0 {
		return
	}
	items := split(source{text: base.text[open+1 : len(base.text)-1], at: base.pos(open + 1)}, g)
	for _, it := range items {
		if it.key == "" || !slices.Contains(g.params, it.key) {
			return
		}
	}
	if len(items) > 0 {
		r.add(base.pos(open), CodeTwoBlocks, "write all parameters in one pair of parentheses", "@%s has two parameter blocks", name)
		first := base.pos(len(base.text) - 1)
		r.mend(diag.Replace(first, second.Column-first.Column+1, ", "))
	}
}
