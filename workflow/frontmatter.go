package workflow

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/workflow/assistantmd"
)

// metaReader reads the properties of a note.
type metaReader struct {
	src    *source
	out    *report
	values *values
}

// read decodes the frontmatter.
func (r *metaReader) read(m *Meta) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(strings.Join(r.src.frontmatter, "\n")+"\n"), &doc); err != nil {
		found, ok := r.src.old(r.out.file).Repair(&doc)
		if !ok {
			r.yamlFault(err)
			return
		}
		r.out.list = append(r.out.list, found...)
	}
	if len(doc.Content) == 0 {
		return // empty, or comments only
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return
	}
	if root.Kind != yaml.MappingNode {
		r.out.add(r.values.node(root), directives.CodeYAML, "write key: value", "the frontmatter must be a list of properties")
		return
	}
	seen := map[string]int{}
	triggers := Position{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if before, twice := seen[key.Value]; twice {
			r.out.add(r.values.node(key), directives.CodeYAML, "keep one of them", "%s appears twice; the first is on line %d", key.Value, before)
			continue
		}
		seen[key.Value] = r.values.node(key).Line
		r.readKey(m, key, value)
		if slices.Contains([]string{"schedule", "watch", "on_import"}, key.Value) && triggers.Line == 0 {
			triggers = r.values.node(key)
		}
	}
	if _, said := seen["enabled"]; m.Triggered() && !said {
		r.out.add(triggers, directives.CodeNotEnabled, "add enabled: true", "the workflow is not enabled, so it runs only by hand")
	}
	r.checkZoned(m)
}

// readKey reads one property. Empty values leave the default.
func (r *metaReader) readKey(m *Meta, key, value *yaml.Node) {
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	read, known := keys[key.Value]
	switch {
	case !known:
		r.foreignKey(key, value)
	case isNull(value):
	default:
		read(r, m, field{name: key.Value, node: value})
	}
}

// foreignKey reports keys that resemble ours; all others are the author's own.
func (r *metaReader) foreignKey(key, value *yaml.Node) {
	if fix, old := assistantmd.OldKey(key.Value); old {
		r.out.add(r.values.node(key), directives.CodeKeyOld, fix, "%s has no meaning here", key.Value)
		r.mendOldKey(key)
		return
	}
	if r.nearKey(key, value) || len(key.Value) < 5 {
		return
	}
	if near := diag.Nearest(key.Value, keyNames); near != "" && (strings.EqualFold(near, key.Value) || !ordinary(key.Value)) {
		r.out.add(r.values.node(key), directives.CodeKeyMisspelt, "did you mean "+near+"?", "unknown property %s", key.Value)
	}
}

// ordinary holds common properties of authors that resemble a known key by chance.
func ordinary(key string) bool {
	return slices.Contains([]string{"models", "mode", "modes", "budgets", "timezones", "descriptions"}, strings.ToLower(key))
}

var yamlLine = regexp.MustCompile(`line (\d+): (.*)`)

// unquoted finds `schedule: cron: …`, the most common mistake, on its own line or in a list.
var unquoted = regexp.MustCompile(`^(\s*(?:schedule:|-)\s+)((?:cron|once)\s*:.*)$`)

// reserved finds values that start with a character reserved by YAML.
var reserved = regexp.MustCompile("^(\\s*[^\\s#:][^:]*:\\s+|\\s*-\\s+)([@`%&*!|>{\\[].*)$")

// yamlFault reports a YAML error. The library may report the line where a construct starts, so common mistakes are checked
// first.
func (r *metaReader) yamlFault(err error) {
	for i, line := range r.src.frontmatter {
		if m := unquoted.FindStringSubmatch(line); m != nil {
			at := r.out.at(r.src.metaLine+1+i, len([]rune(m[1]))+1)
			r.out.add(at, directives.CodeUnquotedSchedule, "write schedule: "+strconv.Quote(strings.TrimSpace(m[2])), "quote it: YAML reads the colon in %s as a key", strings.TrimSpace(m[2]))
			r.values.mendSchedule(at, m[2])
			return
		}
	}
	at, message := r.out.at(r.src.metaLine+1, 1), strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		line, _ := strconv.Atoi(m[1]) // the expression allows digits only
		at.Line, message = r.src.metaLine+min(line, len(r.src.frontmatter)), m[2]
	}
	hint, quotable := "quote values that contain a colon or start with @ { [ or *", false
	for i, line := range r.src.frontmatter {
		if m := reserved.FindStringSubmatch(line); m != nil && (m[2][0] == '@' || m[2][0] == '`' || strings.HasPrefix(m[2], "{{")) {
			at = r.out.at(r.src.metaLine+1+i, len([]rune(m[1]))+1)
			hint, quotable = "quote it: "+strconv.Quote(strings.TrimSpace(m[2])), true
			break
		}
		if strings.HasPrefix(line, "\t") {
			at, hint = r.out.at(r.src.metaLine+1+i, 1), "indent with spaces"
			break
		}
	}
	r.out.add(at, directives.CodeYAML, hint, "the frontmatter is not valid YAML: %s", message)
	if quotable {
		r.mendQuote(at)
	}
}
