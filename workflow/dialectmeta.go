package workflow

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/directives"
)

// oldProperty is one line of the frontmatter as AssistantMD read it: cut at the first colon, the rest is text.
type oldProperty struct {
	line       int // of the note
	text       string
	key, value string // value without the quotes around it
	raw        string // value with them
	start      int    // offset of raw
	glued      bool   // no blank follows the colon
}

var propertyLine = regexp.MustCompile(`^([^\s#:'"\[\]{}-][^:]*?)\s*:(\s*)(.*)$`)

// oldProperties are the lines at the margin that hold a key, without those on which something indented follows.
func (n *note) oldProperties() []oldProperty {
	var list []oldProperty
	for i, text := range n.frontmatter {
		m := propertyLine.FindStringSubmatchIndex(text)
		if m == nil || n.goesOn(i+1) {
			continue
		}
		raw := strings.TrimRight(text[m[6]:], " \t")
		if hash := strings.Index(raw, " #"); hash >= 0 && text[:m[3]] == "schedule" {
			raw = strings.TrimRight(raw[:hash], " \t") // no schedule holds one, so it is a comment
		}
		p := oldProperty{line: n.metaLine + 1 + i, text: text, key: text[:m[3]], raw: raw, value: raw, start: m[6], glued: m[4] == m[5]}
		if k := len(raw); k >= 2 && (raw[0] == '"' || raw[0] == '\'') && raw[k-1] == raw[0] {
			p.value = raw[1 : k-1]
		}
		list = append(list, p)
	}
	return list
}

// goesOn says whether the next line with text belongs to the value above it.
func (n *note) goesOn(i int) bool {
	for i < len(n.frontmatter) && strings.TrimSpace(n.frontmatter[i]) == "" {
		i++
	}
	if i == len(n.frontmatter) {
		return false
	}
	c := n.frontmatter[i][0]
	return c == ' ' || c == '\t' || c == '-'
}

func (n *note) hasKey(key string) bool {
	return slices.ContainsFunc(n.oldProperties(), func(p oldProperty) bool { return p.key == key })
}

// alone parses the line as YAML: its value, which may be nil for a line that is not `key: value`.
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

// quoted is the value as YAML text: as plain as it can be.
func (p oldProperty) quoted() string {
	if strings.ContainsAny(p.value, `"\`) {
		return "'" + strings.ReplaceAll(p.value, "'", "''") + "'"
	}
	return `"` + p.value + `"`
}

// plain says whether the value can stay without quotes behind `key: `.
func (p oldProperty) plain() bool {
	p.text = p.key + ": " + p.raw
	v, err := p.alone()
	return err == nil && v != nil && v.Kind == yaml.ScalarNode && v.Value == p.value
}

// mended is the value as it must be written.
func (p oldProperty) mended() string {
	if p.plain() {
		return p.raw
	}
	if text, ok := quotedItems(p.raw); ok && p.ofBrackets() {
		return text
	}
	return p.quoted()
}

func (p oldProperty) column(offset int) int { return utf8.RuneCountInString(p.text[:offset]) + 1 }

// edits make YAML of the line, in pieces that leave the value itself alone where that is possible.
func (p oldProperty) edits() []directives.Edit {
	at := Position{Line: p.line, Column: p.column(p.start)}
	var list []directives.Edit
	if p.glued {
		list = append(list, directives.Replace(at, 0, " "))
	}
	switch value := p.mended(); {
	case value == p.raw:
	case value == `"`+p.raw+`"`:
		opening := directives.Replace(at, 0, `"`)
		if p.glued {
			list[0].New += `"`
		} else {
			list = append(list, opening)
		}
		at.Column += utf8.RuneCountInString(p.raw)
		list = append(list, directives.Replace(at, 0, `"`))
	default:
		edit := directives.Replace(at, utf8.RuneCountInString(p.raw), value)
		if p.glued {
			edit.New, list = " "+value, nil
		}
		list = append(list, edit)
	}
	return list
}

// mendLines reports the lines that keep the frontmatter from being YAML, when making YAML of each of them mends all of
// it, and decodes the mended one, so that the other properties are checked in the same pass.
func (n *note) mendLines(doc *yaml.Node) bool {
	var bad []oldProperty
	lines := slices.Clone(n.frontmatter)
	for _, p := range n.oldProperties() {
		if v, err := p.alone(); err == nil && v != nil {
			continue
		}
		if _, ok := quotedItems(p.raw); p.ofBrackets() && !ok {
			return false
		}
		bad = append(bad, p)
		lines[p.line-n.metaLine-1] = p.key + ": " + p.mended() + p.text[p.start+len(p.raw):]
	}
	var mended yaml.Node
	if len(bad) == 0 || yaml.Unmarshal([]byte(strings.Join(lines, "\n")+"\n"), &mended) != nil {
		return false
	}
	for _, p := range bad {
		n.unsound(p)
	}
	*doc = mended
	return true
}

// unsound reports a line that is not YAML.
func (n *note) unsound(p oldProperty) {
	at := n.at(p.line, p.column(p.start))
	write := "write " + p.key + ": " + p.mended()
	_, err := p.alone()
	var d directives.Diagnostic
	switch {
	case isEntry(p.value):
		d = directives.At(at, directives.CodeUnquotedSchedule, write, "quote it: YAML reads the colon in %s as a key", p.value)
	case p.glued:
		d = directives.At(at, directives.CodeYAML, write, "the frontmatter is not valid YAML: no blank follows the colon of %s", p.key)
	case err != nil:
		message := strings.TrimPrefix(err.Error(), "yaml: ")
		if m := yamlLine.FindStringSubmatch(message); m != nil {
			message = m[2]
		}
		d = directives.At(at, directives.CodeYAML, "quote it: "+p.mended(), "the frontmatter is not valid YAML: %s", message)
	default:
		d = directives.At(at, directives.CodeYAML, write, "the frontmatter is not valid YAML: this line is not key: value")
	}
	n.list = append(n.list, d.Mended(p.edits()...))
}

func isEntry(text string) bool {
	kind, _, found := strings.Cut(text, ":")
	kind = strings.ToLower(strings.TrimSpace(kind))
	return found && (kind == KindCron || kind == KindOnce)
}

// properties finds what AssistantMD understood in another way in the frontmatter, and gives the exact rewriting to the
// mistakes that were reported there.
func (d dialect) properties() {
	if !d.hasMeta {
		return
	}
	list := d.oldProperties()
	if d.ours {
		for _, p := range list {
			d.property(p)
		}
		d.enabled(list)
	}
	for _, p := range list {
		if v, err := p.alone(); p.glued && slices.Contains(keyNames, p.key) && v == nil && err == nil && p.raw != "" {
			d.drop(p.line, directives.CodeYAML)
			d.unsound(p)
		}
	}
	for i := range d.list {
		switch f := &d.list[i]; {
		case f.Code == directives.CodeKeyOld && d.unfinished() && d.engineAt(f.Line, list):
			f.Edits = nil // it goes last, since it tells that the note was written for AssistantMD
		case len(f.Edits) == 0:
			f.Edits = d.propertyEdits(*f, list)
		}
	}
}

// engineAt says whether the line names the engine.
func (d dialect) engineAt(line int, list []oldProperty) bool {
	return slices.ContainsFunc(list, func(p oldProperty) bool { return p.line == line && canonicalName(p.key) == "workflow_engine" })
}

// property looks at the meaning of one line.
func (d dialect) property(p oldProperty) {
	v, err := p.alone()
	switch {
	case p.key == "schedule":
		d.weekdays(p)
	case p.key == "description" && err == nil && v != nil && v.Value != p.value:
		d.warn(d.at(p.line, p.column(p.start)), "write description: "+p.quoted(), "AssistantMD took all of the line as text; YAML does not", p.edits()...)
	}
}

var cronLine = regexp.MustCompile(`(?i)^["']?\s*cron\s*:\s*(?:\S+\s+){4}([^\s"']+)["']?$`)

// weekdays names the days of a cron expression: AssistantMD counted them from Monday, 0.
func (d dialect) weekdays(p oldProperty) {
	m := cronLine.FindStringSubmatchIndex(p.raw)
	if m == nil {
		return
	}
	field := p.raw[m[2]:m[3]]
	names, ok := fromMonday(field)
	if !ok || names == field {
		return
	}
	at := d.at(p.line, p.column(p.start+m[2]))
	d.warn(at, "write "+names, "AssistantMD counted weekdays from Monday, 0: "+field+" meant "+names,
		directives.Replace(at, len(field), names))
}

// fromMonday turns a weekday field with numbers from Monday, 0, into one with names.
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

// enabled says that a schedule stays off here without it. AssistantMD's default became false at the end of March.
func (d dialect) enabled(list []oldProperty) {
	i := slices.IndexFunc(list, func(p oldProperty) bool { return p.key == "schedule" && p.value != "" })
	if i < 0 || d.late || d.hasKey("enabled") {
		return
	}
	d.drop(list[i].line, directives.CodeNotEnabled)
	d.warn(d.at(list[i].line, 1), "write enabled: true", "AssistantMD of February fired a schedule that did not say enabled; here it stays off",
		directives.Edit{Line: list[i].line + 1, Column: 1, EndLine: list[i].line + 1, EndColumn: 1, New: "enabled: true\n"})
}

// propertyEdits mend a mistake of the frontmatter that was reported elsewhere.
func (d dialect) propertyEdits(f directives.Diagnostic, list []oldProperty) []directives.Edit {
	switch f.Code {
	case directives.CodeFrontmatterOpen:
		if f.Line > 1 && d.hasMeta {
			return []directives.Edit{{Line: 1, Column: 1, EndLine: f.Line, EndColumn: 1}}
		}
	case directives.CodeKeyOld:
		// An alias beside the proper name: AssistantMD took the proper one.
		i := slices.IndexFunc(list, func(p oldProperty) bool { return p.line == f.Line })
		if name, rename := strings.CutPrefix(f.Suggestion, "write "); i >= 0 && rename && d.hasKey(name) {
			return []directives.Edit{deleteLine(f.Line)}
		}
	}
	return nil
}

// unfinished says whether something else of the note is to be mended, which may show another meaning behind it.
func (d dialect) unfinished() bool {
	return slices.ContainsFunc(d.list, func(f directives.Diagnostic) bool {
		return f.Code == directives.CodeOldMeaning || len(f.Edits) > 0 && f.Code != directives.CodeKeyOld && f.Code != directives.CodeLateDirective
	})
}
