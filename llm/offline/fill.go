package offline

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of an answer that is built from a schema.
const (
	maxDepth   = 12 // deeper, only what is required is there
	deadDepth  = 40 // a schema that demands itself inside itself fits nothing
	maxPadding = 4096
)

// filling builds an answer that fits a schema from what was found.
type filling struct {
	finder *finder
	root   *schema
	prompt string // in small letters, to choose among the values of an enum
}

// answer is JSON that fits a schema of the simple kinds: types, enum and const, required members, numbers of items, lengths,
// bounds of numbers, common formats, the first of alternatives, definitions. Members are filled by their names from the
// texts and pictures of the prompt; where nothing was found stands the least value that fits: 0, false, an empty text.
func (f *finder) answer(raw json.RawMessage) (string, error) {
	var root schema
	if err := json.Unmarshal(raw, &root); err != nil {
		return "", err
	}
	var value any = f.found()
	if s := root.resolved(&root); len(s.Type)+len(s.Enum)+len(s.Properties)+len(s.Required) > 0 || s.Const != nil || s.Items != nil {
		fill := &filling{finder: f, root: &root, prompt: strings.ToLower(strings.Join(f.request, "\n"))}
		value = fill.value("", root, f.about(), 0)
	}
	data, err := plainJSON(value)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(json.RawMessage(data))
	return strings.TrimSpace(out.String()), err
}

// value is what stands under a name, about a record.
func (f *filling) value(name string, s schema, r record, depth int) any {
	s = s.resolved(f.root)
	switch {
	case depth > deadDepth:
		return nil
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return f.choose(s.Enum)
	}
	switch s.kind() {
	case "object":
		return f.object(s, r, depth)
	case "array":
		return f.array(name, s, r, depth)
	case "integer":
		return number(name, s, r, true)
	case "number":
		return number(name, s, r, false)
	case "boolean":
		return false
	case "null":
		return nil
	}
	return text(name, s, r)
}

// choose takes the first value that the prompt speaks of, else the first.
func (f *filling) choose(values []json.RawMessage) any {
	for _, v := range values {
		var word string
		if json.Unmarshal(v, &word) == nil && word != "" && strings.Contains(f.prompt, strings.ToLower(word)) {
			return v
		}
	}
	return values[0]
}

func (f *filling) object(s schema, r record, depth int) any {
	out := object{}
	for _, p := range s.Properties {
		if slices.ContainsFunc(out, func(m member) bool { return m.name == p.name }) {
			continue
		}
		if depth < maxDepth || slices.Contains(s.Required, p.name) {
			out = append(out, member{p.name, f.value(p.name, p.schema, r, depth+1)})
		}
	}
	for _, name := range s.Required { // required, and of any kind
		if !slices.ContainsFunc(out, func(m member) bool { return m.name == name }) {
			out = append(out, member{name, f.value(name, schema{}, r, depth+1)})
		}
	}
	return out
}

// array has an item for each thing that was found for its name, within the bounds. Items of an array in a record are about
// that record.
func (f *filling) array(name string, s schema, r record, depth int) any {
	wanted := name
	if name == "" { // the whole answer is a list: what of, stands in the prompt
		wanted = f.prompt
	}
	records := f.finder.list(wanted)
	switch {
	case ofTags.MatchString(name) && depth > 0:
		records = nil
		for _, tag := range r.tags {
			records = append(records, record{title: tag, text: tag, tags: []string{tag}})
		}
	case depth > 2:
		records = []record{r}
	}
	limit := maxListed
	if s.MaxItems != nil {
		limit = *s.MaxItems
	}
	items := schema{}
	if s.Items != nil {
		items = *s.Items
	}
	if depth >= maxDepth {
		records = nil
	}
	out := []any{}
	seen := map[string]bool{}
	add := func(v any) {
		data, err := plainJSON(v)
		if err != nil || len(out) >= limit || s.Unique && seen[string(data)] {
			return
		}
		seen[string(data)] = true
		out = append(out, v)
	}
	if items.Pattern != "" && depth == 0 {
		if found := f.finder.matching(items.Pattern, limit); len(found) > 0 {
			records = nil
			for _, one := range found {
				records = append(records, record{title: one, text: one})
			}
		}
	}
	for _, one := range records {
		add(f.value(name, items, one, depth+1))
	}
	for n := 0; len(out) < s.MinItems && n < s.MinItems+maxListed; n++ { // more of the same, told apart where they must be
		more := record{page: n, last: n, n: n}
		if n < 1 || s.Unique {
			more.title = strings.Repeat("-", n)
			more.text, more.file = more.title, more.title
		}
		add(f.value(name, items, more, depth+1))
	}
	return out
}

// Names of texts, and what they ask for.
var (
	asksTitle = regexp.MustCompile(`(?i)title|name|heading|chapter|label|topic|term|section`)
	asksFile  = regexp.MustCompile(`(?i)file|path|source|image|picture|photo|link`)
	asksDate  = regexp.MustCompile(`(?i)date|due|when|deadline`)
	asksTag   = regexp.MustCompile(`(?i)tag|keyword|categor`)
)

// formats are values for the formats of texts, where nothing was found that fits.
var formats = map[string]string{
	"date": "1970-01-01", "date-time": "1970-01-01T00:00:00Z", "time": "00:00:00Z", "duration": "PT0S", "email": "nobody@example.invalid",
	"hostname": "example.invalid", "ipv4": "192.0.2.0", "ipv6": "2001:db8::", "uri": "https://example.invalid/", "uri-reference": "#",
	"uuid": "00000000-0000-0000-0000-000000000000", "regex": "^$", "json-pointer": "",
}

var isoDate = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// text is a string of a name, made to fit.
func text(name string, s schema, r record) string {
	if s.Format == "date" && isoDate.MatchString(r.date) {
		return r.date
	}
	if standard, ok := formats[s.Format]; ok {
		return standard
	}
	found := r.text
	switch {
	case asksFile.MatchString(name) && r.file != "":
		found = r.file
	case asksDate.MatchString(name):
		found = r.date
	case asksTag.MatchString(name) && len(r.tags) > 0:
		found = r.tags[0]
	case asksTitle.MatchString(name):
		found = r.title
	}
	if s.Pattern != "" {
		found = fitting(s.Pattern, found, r)
	}
	if short := s.MinLength - utf8.RuneCountInString(found); short > 0 && short <= maxPadding {
		found += strings.Repeat("-", short)
	}
	if runes := []rune(found); s.MaxLength != nil && len(runes) > max(*s.MaxLength, 0) {
		found = string(runes[:max(*s.MaxLength, 0)])
	}
	return found
}

// fitting is the first candidate that a pattern takes; the text itself when none is.
func fitting(pattern, found string, r record) string {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return found
	}
	slug := strings.Trim(strings.ToLower(unwordly.ReplaceAllString(r.title, "-")), "-")
	for _, candidate := range []string{
		found, r.title, r.date, slug, strings.ReplaceAll(slug, "-", "_"), strings.ToUpper(slug), "#" + slug, r.file,
		"1970-01-01", "1", "0", "a", "A", "a1", "A1", "#a", "01", "001", "0000", "00:00", "1.0.0", "c1", "-", "",
	} {
		if re.MatchString(candidate) {
			return candidate
		}
	}
	return found
}

// Names of numbers, and what they ask for.
var (
	asksEnd   = regexp.MustCompile(`(?i)(?:^|_|-)(?:last|end|to|until)|(?:Last|End|To|Until)(?:Page)?$|(?:last|end)_?page`)
	asksStart = regexp.MustCompile(`(?i)page|first|start|from|begin|^n$|number|^no$`)
)

// number is the value of a name, moved to where it fits.
func number(name string, s schema, r record, whole bool) any {
	n := float64(r.n)
	switch {
	case asksEnd.MatchString(name):
		n = float64(r.last)
	case asksStart.MatchString(name):
		n = float64(r.page)
	}
	step := s.Multiple
	if step <= 0 && whole {
		step = 1
	}
	n = bounded(n, s, step)
	if step > 0 {
		n = math.Round(n/step) * step
		n = bounded(n, s, step)
	}
	if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
		return int64(n)
	}
	return n
}

// bounded moves n between the bounds. step is what the number counts in; 0 when it may be any.
func bounded(n float64, s schema, step float64) float64 {
	small := step
	if small == 0 {
		small = 1e-3
	}
	if s.Max != nil {
		n = min(n, floorTo(*s.Max, step))
	}
	if s.Below != nil {
		top := floorTo(*s.Below, step)
		if top >= *s.Below {
			top -= small
		}
		n = min(n, top)
	}
	if s.Min != nil {
		n = max(n, ceilTo(*s.Min, step))
	}
	if s.Above != nil {
		least := ceilTo(*s.Above, step)
		if least <= *s.Above {
			least += small
		}
		n = max(n, least)
	}
	return n
}

func floorTo(n, step float64) float64 {
	if step <= 0 {
		return n
	}
	return math.Floor(n/step) * step
}

func ceilTo(n, step float64) float64 {
	if step <= 0 {
		return n
	}
	return math.Ceil(n/step) * step
}
