package assistantmd

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// Frontmatter is the frontmatter of a note, as lines.
type Frontmatter struct {
	File  string
	Start int      // number of the --- line above it
	Lines []string // between the --- lines; nil without frontmatter
	Keys  []string // the properties of a workflow
}

// oldProperty is one line of the frontmatter as AssistantMD read it: split at the first colon, the rest is text.
type oldProperty struct {
	line       int // of the note
	text       string
	key, value string // value without surrounding quotes
	raw        string // value with them
	start      int    // offset of raw
	glued      bool   // no space follows the colon
}

var propertyLine = regexp.MustCompile(`^([^\s#:'"\[\]{}-][^:]*?)\s*:(\s*)(.*)$`)

// oldProperties returns the unindented lines with a key, except those followed by an indented line.
func (f Frontmatter) properties() []oldProperty {
	var list []oldProperty
	for i, text := range f.Lines {
		m := propertyLine.FindStringSubmatchIndex(text)
		if m == nil || f.continues(i+1) {
			continue
		}
		raw := strings.TrimRight(text[m[6]:], " \t")
		if hash := strings.Index(raw, " #"); hash >= 0 && text[:m[3]] == "schedule" {
			raw = strings.TrimRight(raw[:hash], " \t") // no schedule contains #, so this is a comment
		}
		p := oldProperty{line: f.Start + 1 + i, text: text, key: text[:m[3]], raw: raw, value: raw, start: m[6], glued: m[4] == m[5]}
		if k := len(raw); k >= 2 && (raw[0] == '"' || raw[0] == '\'') && raw[k-1] == raw[0] {
			p.value = raw[1 : k-1]
		}
		list = append(list, p)
	}
	return list
}

// continues reports whether the next line with text belongs to the value above it.
func (f Frontmatter) continues(i int) bool {
	for i < len(f.Lines) && strings.TrimSpace(f.Lines[i]) == "" {
		i++
	}
	if i == len(f.Lines) {
		return false
	}
	c := f.Lines[i][0]
	return c == ' ' || c == '\t' || c == '-'
}

// NamesEngine reports whether the frontmatter names an engine, which every workflow of AssistantMD had to do.
func (f Frontmatter) NamesEngine() bool { return f.has("workflow_engine") || f.has("workflow-engine") }

func (f Frontmatter) at(line, column int) diag.Position {
	return diag.Position{File: f.File, Line: line, Column: column}
}

func (f Frontmatter) has(key string) bool {
	return slices.ContainsFunc(f.properties(), func(p oldProperty) bool { return p.key == key })
}

// alone parses the line as YAML and returns its value, or nil if it is not `key: value`.
func (p oldProperty) alone() (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(strings.TrimSpace(p.text)), &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode || len(doc.Content[0].Content) != 2 || doc.Content[0].Content[0].Value != p.key {
		return nil, nil
	}
	return doc.Content[0].Content[1], nil
}

// quoted returns the value as YAML text, quoted only if necessary.
func (p oldProperty) quoted() string {
	if strings.ContainsAny(p.value, `"\`) {
		return "'" + strings.ReplaceAll(p.value, "'", "''") + "'"
	}
	return `"` + p.value + `"`
}

// plain reports whether the value needs no quotes after `key: `.
func (p oldProperty) plain() bool {
	p.text = p.key + ": " + p.raw
	v, err := p.alone()
	return err == nil && v != nil && v.Kind == yaml.ScalarNode && v.Value == p.value
}

// mended returns the value as it must be written.
func (f Frontmatter) mended(p oldProperty) string {
	if p.plain() {
		return p.raw
	}
	if text, ok := quotedItems(p.raw); ok && f.bracketed(p) {
		return text
	}
	return p.quoted()
}

func (p oldProperty) column(offset int) int { return utf8.RuneCountInString(p.text[:offset]) + 1 }

// edits turns the line into YAML, leaving the value itself alone if possible.
func (f Frontmatter) edits(p oldProperty) []diag.Edit {
	at := diag.Position{Line: p.line, Column: p.column(p.start)}
	var list []diag.Edit
	if p.glued {
		list = append(list, diag.Replace(at, 0, " "))
	}
	switch value := f.mended(p); {
	case value == p.raw:
	case value == `"`+p.raw+`"`:
		opening := diag.Replace(at, 0, `"`)
		if p.glued {
			list[0].New += `"`
		} else {
			list = append(list, opening)
		}
		at.Column += utf8.RuneCountInString(p.raw)
		list = append(list, diag.Replace(at, 0, `"`))
	default:
		edit := diag.Replace(at, utf8.RuneCountInString(p.raw), value)
		if p.glued {
			edit.New, list = " "+value, nil
		}
		list = append(list, edit)
	}
	return list
}

// Repair reports the lines that keep the frontmatter from being YAML, if fixing them fixes all of it. It then decodes the
// fixed frontmatter, so that the other properties are checked in the same pass.
func (f Frontmatter) Repair(doc *yaml.Node) (found []diag.Diagnostic, ok bool) {
	var bad []oldProperty
	lines := slices.Clone(f.Lines)
	for _, p := range f.properties() {
		if v, err := p.alone(); err == nil && v != nil {
			continue
		}
		if _, ok := quotedItems(p.raw); f.bracketed(p) && !ok {
			return nil, false
		}
		bad = append(bad, p)
		lines[p.line-f.Start-1] = p.key + ": " + f.mended(p) + p.text[p.start+len(p.raw):]
	}
	var mended yaml.Node
	if len(bad) == 0 || yaml.Unmarshal([]byte(strings.Join(lines, "\n")+"\n"), &mended) != nil {
		return nil, false
	}
	for _, p := range bad {
		found = append(found, f.unsound(p))
	}
	*doc = mended
	return found, true
}

// unsound reports a line that is not YAML.
func (f Frontmatter) unsound(p oldProperty) diag.Diagnostic {
	at := f.at(p.line, p.column(p.start))
	write := "write " + p.key + ": " + f.mended(p)
	_, err := p.alone()
	var d diag.Diagnostic
	switch {
	case isEntry(p.value):
		d = directives.At(at, directives.CodeUnquotedSchedule, write, "quote it: YAML reads the colon in %s as a key", p.value)
	case p.glued:
		d = directives.At(at, directives.CodeYAML, write, "the frontmatter is not valid YAML: add a space after the colon of %s", p.key)
	case err != nil:
		message := strings.TrimPrefix(err.Error(), "yaml: ")
		if m := yamlLine.FindStringSubmatch(message); m != nil {
			message = m[2]
		}
		d = directives.At(at, directives.CodeYAML, "quote it: "+f.mended(p), "the frontmatter is not valid YAML: %s", message)
	default:
		d = directives.At(at, directives.CodeYAML, write, "the frontmatter is not valid YAML: this line is not key: value")
	}
	return d.Mended(f.edits(p)...)
}

func isEntry(text string) bool {
	kind, _, found := strings.Cut(text, ":")
	kind = strings.ToLower(strings.TrimSpace(kind))
	return found && (kind == "cron" || kind == "once")
}

var yamlLine = regexp.MustCompile(`line (\d+): (.*)`)

// propertyReview reviews the frontmatter.
type propertyReview struct {
	out   *findings
	front Frontmatter
	ours  bool
	late  bool // a directive has a form that is new since the end of March, when enabled became false by default
}

// properties finds what AssistantMD understood differently in the frontmatter, and adds the exact rewriting to the mistakes
// already reported there.
func (r propertyReview) properties() {
	list := r.front.properties()
	if r.ours {
		for _, p := range list {
			r.property(p)
		}
		r.enabled(list)
	}
	for _, p := range list {
		if v, err := p.alone(); p.glued && slices.Contains(r.front.Keys, p.key) && v == nil && err == nil && p.raw != "" {
			r.out.drop(p.line, directives.CodeYAML)
			r.out.list = append(r.out.list, r.front.unsound(p))
		}
	}
	for i := range r.out.list {
		switch f := &r.out.list[i]; {
		case f.Code == directives.CodeKeyOld && r.out.unfinished() && r.engineAt(f.Line, list):
			f.Edits = nil // remove it last: it marks the note as written for AssistantMD
		case len(f.Edits) == 0:
			f.Edits = r.propertyEdits(*f, list)
		}
	}
}

// engineAt reports whether the line names the engine.
func (r propertyReview) engineAt(line int, list []oldProperty) bool {
	return slices.ContainsFunc(list, func(p oldProperty) bool { return p.line == line && canonicalName(p.key) == "workflow_engine" })
}

// property checks the meaning of one line.
func (r propertyReview) property(p oldProperty) {
	v, err := p.alone()
	switch {
	case p.key == "schedule":
		r.weekdays(p)
	case p.key == "description" && err == nil && v != nil && v.Value != p.value:
		r.out.warn(r.front.at(p.line, p.column(p.start)), "write description: "+p.quoted(), "AssistantMD read the whole line as text; YAML does not", r.front.edits(p)...)
	}
}

var cronLine = regexp.MustCompile(`(?i)^["']?\s*cron\s*:\s*(?:\S+\s+){4}([^\s"']+)["']?$`)

// weekdays names the days of a cron expression, because AssistantMD counted them from Monday = 0.
func (r propertyReview) weekdays(p oldProperty) {
	m := cronLine.FindStringSubmatchIndex(p.raw)
	if m == nil {
		return
	}
	field := p.raw[m[2]:m[3]]
	names, ok := fromMonday(field)
	if !ok || names == field {
		return
	}
	at := r.front.at(p.line, p.column(p.start+m[2]))
	r.out.warn(at, "write "+names, "AssistantMD counted weekdays from Monday = 0: "+field+" meant "+names,
		diag.Replace(at, len(field), names))
}

// fromMonday turns numbers in a weekday field, counted from Monday = 0, into names.
func fromMonday(field string) (string, bool) {
	days := []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	number := func(s string) (int, bool) {
		if i := slices.Index(days, strings.ToLower(s)); i >= 0 {
			return i, true
		}
		n, err := strconv.Atoi(s)
		return n, err == nil && n >= 0 && n < len(days)
	}
	var out []string
	for item := range strings.SplitSeq(field, ",") {
		span, step, stepped := strings.Cut(item, "/")
		from, to, ranged := strings.Cut(span, "-")
		first, ok := number(from)
		last := first
		if ranged {
			var also bool
			last, also = number(to)
			ok = ok && also
		}
		if span == "*" {
			first, last, ok = 0, len(days)-1, true
		} else if stepped && !ranged {
			last = len(days) - 1
		}
		by := 1
		if stepped {
			n, err := strconv.Atoi(step)
			if err != nil || n < 1 {
				return "", false
			}
			by = n
		}
		switch {
		case !ok || last < first:
			return "", false
		case span == "*" && by == 1:
			out = append(out, "*")
		case by == 1 && first != last:
			out = append(out, days[first]+"-"+days[last])
		default:
			for day := first; day <= last; day += by {
				out = append(out, days[day])
			}
		}
	}
	return strings.Join(out, ","), true
}

// enabled warns that a schedule remains off without it. AssistantMD's default became false at the end of March.
func (r propertyReview) enabled(list []oldProperty) {
	i := slices.IndexFunc(list, func(p oldProperty) bool { return p.key == "schedule" && p.value != "" })
	if i < 0 || r.late || r.front.has("enabled") {
		return
	}
	r.out.drop(list[i].line, directives.CodeNotEnabled)
	r.out.warn(r.front.at(list[i].line, 1), "write enabled: true", "in February AssistantMD ran schedules even without enabled: true; here they remain off",
		diag.Edit{Line: list[i].line + 1, Column: 1, EndLine: list[i].line + 1, EndColumn: 1, New: "enabled: true\n"})
}

// propertyEdits returns edits for a mistake in the frontmatter that was reported elsewhere.
func (r propertyReview) propertyEdits(f diag.Diagnostic, list []oldProperty) []diag.Edit {
	switch f.Code {
	case directives.CodeFrontmatterOpen:
		if f.Line > 1 {
			return []diag.Edit{{Line: 1, Column: 1, EndLine: f.Line, EndColumn: 1}}
		}
	case directives.CodeKeyOld:
		// If both an alias and the proper name are set, AssistantMD used the proper one.
		i := slices.IndexFunc(list, func(p oldProperty) bool { return p.line == f.Line })
		if name, rename := strings.CutPrefix(f.Suggestion, "write "); i >= 0 && rename && r.front.has(name) {
			return []diag.Edit{deleteLine(f.Line)}
		}
	}
	return nil
}
