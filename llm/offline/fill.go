package offline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/content/conform"
	"github.com/vaultflow/vaultflow/llm"
)

// Bounds of the search for an instance.
const (
	maxDepth    = 12 // objects and lists inside each other
	maxVariants = 3  // values to begin with
	maxAttempts = 64 // ways through the alternatives, for each depth and variant
	maxWork     = 100_000
	maxLength   = 4096 // of texts, lists and objects
)

// fill returns the smallest JSON that fits a schema. Attempts with little depth and with the first alternatives come
// first, and conform decides which of them fits.
func fill(ctx context.Context, raw json.RawMessage) (string, error) {
	compiled, err := conform.Compile(raw, true)
	if err != nil {
		return "", refuse("the schema cannot be read: " + err.Error())
	}
	var root any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&root); err != nil {
		return "", refuse("the schema cannot be read: " + err.Error())
	}
	f := filler{root: root}
	for f.maxDepth = range maxDepth {
		for variant := range maxVariants {
			f.variant, f.choices = variant, nil
			for attempt := 0; attempt < maxAttempts && (attempt == 0 || f.advance()); attempt++ {
				if ctx.Err() != nil {
					return "", ctx.Err()
				}
				value, ok := f.attempt()
				if !ok {
					continue
				}
				text, err := encode(value)
				if err != nil {
					return "", err
				}
				err = compiled.Validate(ctx, value, len(text))
				switch {
				case err == nil:
					return text, nil
				case errors.Is(err, conform.ErrTooMuch):
					return "", refuse(err.Error())
				}
			}
		}
	}
	return "", refuse("no value was found that fits the schema: use a simpler schema or a real model")
}

func refuse(message string) error {
	return &llm.Error{Class: llm.ClassParameter, Provider: "offline", Message: message}
}

func encode(value any) (string, error) {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(value)
	return strings.TrimSpace(out.String()), err
}

// filler makes one value after another. Schemas are decoded JSON. A place has several schemas when a property, a pattern of
// names and allOf speak of it: the value must fit all of them.
type filler struct {
	root     any
	maxDepth int
	variant  int // added to by lists of unique items
	work     int
	choices  []choice // of this attempt, in the order in which they were made
	made     int
}

type choice struct{ taken, of int }

func (f *filler) attempt() (any, bool) {
	f.made = 0
	value, ok := f.value([]any{f.root}, 0)
	f.choices = f.choices[:f.made]
	return value, ok
}

// advance changes the last choice that has alternatives left, and forgets those after it.
func (f *filler) advance() bool {
	for n := len(f.choices); n > 0; n-- {
		if last := &f.choices[n-1]; last.taken+1 < last.of {
			last.taken++
			f.choices = f.choices[:n]
			return true
		}
	}
	return false
}

// choose picks one of n alternatives: as in the attempt before, or the first.
func (f *filler) choose(n int) int {
	if f.made == len(f.choices) {
		f.choices = append(f.choices, choice{0, n})
	}
	f.made++
	return f.choices[f.made-1].taken
}

// rules are what the schemas of a place demand, without references and alternatives.
type rules []map[string]any

// rules follows references, takes everything of allOf and one of each list of alternatives.
func (f *filler) rules(schemas []any) (rules, bool) {
	var all rules
	for open := slices.Clone(schemas); len(open) > 0; open = open[1:] {
		if f.work++; f.work > maxWork {
			return nil, false
		}
		if open[0] == false {
			return nil, false
		}
		s, isObject := open[0].(map[string]any)
		if !isObject {
			continue
		}
		all = append(all, s)
		if ref, ok := s["$ref"].(string); ok {
			target, found := lookUp(f.root, ref)
			if !found {
				return nil, false
			}
			open = append(open, target)
		}
		open = append(open, list(s["allOf"])...)
		for _, word := range []string{"anyOf", "oneOf"} {
			if from := list(s[word]); len(from) > 0 {
				open = append(open, from[f.choose(len(from))])
			}
		}
		if condition, ok := s["if"]; ok {
			if f.choose(2) == 0 {
				open = append(open, condition, s["then"])
			} else {
				open = append(open, s["else"])
			}
		}
	}
	return all, true
}

// lookUp finds what a reference inside the schema means.
func lookUp(root any, ref string) (any, bool) {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	for _, part := range strings.Split(pointer, "/")[1:] {
		at, _ := root.(map[string]any)
		if root, ok = at[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]; !ok {
			return nil, false
		}
	}
	return root, pointer == "" || pointer[0] == '/'
}

func list(v any) []any {
	all, _ := v.([]any)
	return all
}

// strictest returns the largest (sign 1) or smallest (sign -1) number of a keyword, or nil.
func (r rules) strictest(word string, sign int) *big.Rat {
	var found *big.Rat
	for _, s := range r {
		number, ok := s[word].(json.Number)
		if _, err := number.Float64(); !ok || err != nil { // 1e999999 would take all memory
			continue
		}
		if n, ok := new(big.Rat).SetString(number.String()); ok && (found == nil || n.Cmp(found) == sign) {
			found = n
		}
	}
	return found
}

// length returns the strictest bound of a length.
func (r rules) length(word string, sign, otherwise int) int {
	if n := r.strictest(word, sign); n != nil {
		f, _ := n.Float64()
		return int(min(f, maxLength))
	}
	return otherwise
}

// texts returns the text of a keyword in each schema that has it.
func (r rules) texts(word string) []string {
	var all []string
	for _, s := range r {
		if text, ok := s[word].(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// hints are keywords that suggest a type where none is named.
var hints = []struct {
	kind  string
	words []string
}{
	{"object", []string{"properties", "required", "minProperties", "additionalProperties"}},
	{"array", []string{"items", "prefixItems", "minItems"}},
	{"number", []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
	{"string", []string{"pattern", "format", "minLength"}},
}

// kinds returns the types that all schemas allow.
func (r rules) kinds() []any {
	var kinds []any
	for _, s := range r {
		here := list(s["type"])
		if one, ok := s["type"].(string); ok {
			here = []any{one}
		}
		if len(here) > 0 && slices.Contains(here, any("number")) && !slices.Contains(here, any("integer")) {
			here = append(slices.Clone(here), "integer")
		}
		switch {
		case len(here) == 0:
		case kinds == nil:
			kinds = here
		default:
			kinds = slices.DeleteFunc(slices.Clone(kinds), func(k any) bool { return !slices.Contains(here, k) })
		}
	}
	if kinds != nil {
		return kinds
	}
	for _, hint := range hints {
		for _, s := range r {
			if slices.ContainsFunc(hint.words, func(word string) bool { _, has := s[word]; return has }) {
				return []any{hint.kind}
			}
		}
	}
	return []any{"null"}
}

func (f *filler) value(schemas []any, depth int) (any, bool) {
	r, ok := f.rules(schemas)
	if !ok {
		return nil, false
	}
	for _, s := range r {
		if value, ok := s["const"]; ok {
			return value, true
		}
	}
	for _, s := range r {
		if values := list(s["enum"]); len(values) > 0 {
			return values[f.variant%len(values)], true
		}
	}
	kinds := r.kinds()
	if len(kinds) == 0 {
		return nil, false
	}
	switch kinds[f.choose(len(kinds))] {
	case "object":
		return f.object(r, depth)
	case "array":
		return f.array(r, depth)
	case "string":
		return f.text(r)
	case "integer":
		return f.number(r, true)
	case "number":
		return f.number(r, false)
	case "boolean":
		return f.variant%2 == 1, true
	}
	return nil, true
}

func (f *filler) object(r rules, depth int) (any, bool) {
	out := map[string]any{}
	add := func(name string) bool {
		if _, has := out[name]; has {
			return true
		}
		if depth >= f.maxDepth {
			return false
		}
		value, ok := f.value(r.member(name), depth+1)
		if ok {
			out[name] = value
		}
		return ok
	}
	for _, s := range r {
		for _, name := range list(s["required"]) {
			if text, ok := name.(string); ok && !add(text) {
				return nil, false
			}
		}
	}
	least := r.length("minProperties", 1, 0)
	if len(out) == 0 && f.variant > 0 {
		least = max(least, 1)
	}
	for _, s := range r {
		properties, _ := s["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if len(out) < least {
				add(name) // one that cannot be filled is left out
			}
		}
	}
	for n := 1; len(out) < least; n++ {
		if !add("member" + strconv.Itoa(n)) {
			return nil, false
		}
	}
	return out, true
}

// member returns the schemas of a property.
func (r rules) member(name string) []any {
	var all []any
	for _, s := range r {
		properties, _ := s["properties"].(map[string]any)
		if one, named := properties[name]; named {
			all = append(all, one)
		} else if rest, ok := s["additionalProperties"]; ok {
			all = append(all, rest)
		}
	}
	return all
}

func (f *filler) array(r rules, depth int) (any, bool) {
	out := []any{}
	least, unique := r.length("minItems", 1, 0), slices.ContainsFunc(r, func(s map[string]any) bool { return s["uniqueItems"] == true })
	before, seen := f.variant, map[string]bool{}
	defer func() { f.variant = before }()
	for n := 0; len(out) < least; n++ {
		if depth >= f.maxDepth || n > 3*least {
			return nil, false
		}
		var schemas []any
		for _, s := range r {
			if prefix := list(s["prefixItems"]); len(out) < len(prefix) {
				schemas = append(schemas, prefix[len(out)])
			} else {
				schemas = append(schemas, s["items"])
			}
		}
		item, ok := f.value(schemas, depth+1)
		if !ok {
			return nil, false
		}
		if unique {
			f.variant++
			text, err := encode(item)
			if err != nil || seen[text] {
				continue
			}
			seen[text] = true
		}
		out = append(out, item)
	}
	return out, true
}

// number returns 0 or a number close to a bound. Decimals are exact, as multipleOf needs them.
func (f *filler) number(r rules, whole bool) (any, bool) {
	low, high := r.strictest("minimum", 1), r.strictest("maximum", -1)
	above, below := r.strictest("exclusiveMinimum", 1), r.strictest("exclusiveMaximum", -1)
	bounds := slices.DeleteFunc([]*big.Rat{new(big.Rat), low, above, high, below}, func(n *big.Rat) bool { return n == nil })
	grids := []*big.Rat{big.NewRat(1, 1)}
	if step := r.strictest("multipleOf", 1); step != nil && step.Sign() > 0 {
		if grids[0] = step; whole {
			grids[0] = new(big.Rat).SetInt(step.Num())
		}
	} else if !whole { // between bounds that are close together
		grids = append(grids, big.NewRat(1, 10), big.NewRat(1, 1000))
	}
	fits := func(n *big.Rat) bool {
		return (low == nil || n.Cmp(low) >= 0) && (above == nil || n.Cmp(above) > 0) && (high == nil || n.Cmp(high) <= 0) && (below == nil || n.Cmp(below) < 0)
	}
	for _, grid := range grids {
		for _, bound := range bounds {
			at := new(big.Rat).Quo(bound, grid)
			first := new(big.Rat).SetInt(new(big.Int).Div(at.Num(), at.Denom())) // rounded down
			first.Mul(first, grid)
			if !fits(first) {
				first.Add(first, grid)
			}
			var found []*big.Rat
			for n := first; len(found) <= f.variant && fits(n); n = new(big.Rat).Add(n, grid) {
				found = append(found, n)
			}
			for n := new(big.Rat).Sub(first, grid); len(found) <= f.variant && fits(n); n = new(big.Rat).Sub(n, grid) {
				found = append(found, n)
			}
			f.work += len(found)
			if len(found) > 0 {
				n := found[f.variant%len(found)]
				places, _ := n.FloatPrec()
				return json.Number(n.FloatString(places)), true
			}
		}
	}
	return nil, false
}

// formats has a value for each format of texts.
var formats = map[string]string{
	"date": "1970-01-01", "date-time": "1970-01-01T00:00:00Z", "time": "00:00:00Z", "duration": "PT0S", "email": "nobody@example.invalid",
	"hostname": "example.invalid", "ipv4": "192.0.2.0", "ipv6": "2001:db8::", "uri": "https://example.invalid/", "uri-reference": "#",
	"uuid": "00000000-0000-0000-0000-000000000000", "regex": "^$", "json-pointer": "",
}

func (f *filler) text(r rules) (any, bool) {
	for _, format := range r.texts("format") {
		if value, ok := formats[format]; ok {
			return value, true
		}
	}
	least, most := r.length("minLength", 1, 0), r.length("maxLength", -1, maxLength)
	patterns := r.texts("pattern")
	if len(patterns) == 0 {
		length := least + f.variant
		f.work += length
		return strings.Repeat("-", length), length <= most
	}
	left := f.variant
	for more := range least + f.variant + 2 {
		value, ok := shortest(patterns[0], more)
		if f.work += 1 + len(value); !ok || f.work > maxWork {
			return nil, false
		}
		if n := utf8.RuneCountInString(value); n < least || n > most {
			continue
		}
		if left--; left < 0 {
			return value, true
		}
	}
	return nil, false
}
