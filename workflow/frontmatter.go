package workflow

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/directives"
)

// readMeta decodes the frontmatter.
func (n *note) readMeta(m *Meta) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(strings.Join(n.frontmatter, "\n")+"\n"), &doc); err != nil && !n.mendLines(&doc) {
		n.yamlFault(err)
		return
	}
	if len(doc.Content) == 0 {
		return // nothing between the --- lines, or comments only
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return
	}
	if root.Kind != yaml.MappingNode {
		n.add(n.node(root), directives.CodeYAML, "write key: value", "the frontmatter is not a list of properties")
		return
	}
	seen := map[string]int{}
	triggers := Position{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if before, twice := seen[key.Value]; twice {
			n.add(n.node(key), directives.CodeYAML, "keep one of them", "%s is given twice; the first is on line %d", key.Value, before)
			continue
		}
		seen[key.Value] = n.node(key).Line
		n.readKey(m, key, value)
		if slices.Contains([]string{"schedule", "watch", "on_import"}, key.Value) && triggers.Line == 0 {
			triggers = n.node(key)
		}
	}
	if _, said := seen["enabled"]; m.Triggered() && !said {
		n.add(triggers, directives.CodeNotEnabled, "add enabled: true", "the workflow is not enabled, so it runs by hand only")
	}
	n.checkZoned(m)
}

// readKey reads one property. Empty values leave the default.
func (n *note) readKey(m *Meta, key, value *yaml.Node) {
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	read, known := keys[key.Value]
	switch {
	case !known:
		n.foreignKey(key)
	case isNull(value):
	default:
		read(n, m, field{name: key.Value, node: value})
	}
}

// oldKeys are those of AssistantMD which mean nothing here, with what to do about them.
var oldKeys = map[string]string{
	"workflow_engine": "delete it: there is one engine", "workflow-engine": "delete it: there is one engine",
	"week-start-day": "write week_start_day", "on-import": "write on_import", "catch-up": "write catch_up",
	"max-runs-per-day": "write max_runs_per_day",
}

// foreignKey says something about keys that look like ours; all others are the author's own.
func (n *note) foreignKey(key *yaml.Node) {
	if fix, old := oldKeys[strings.ToLower(key.Value)]; old {
		n.add(n.node(key), directives.CodeKeyOld, fix, "%s has no meaning", key.Value)
		n.mendOldKey(key)
		return
	}
	if len(key.Value) < 5 {
		return
	}
	if near := directives.Nearest(key.Value, keyNames); near != "" && (strings.EqualFold(near, key.Value) || !ordinary(key.Value)) {
		n.add(n.node(key), directives.CodeKeyMisspelt, "did you mean "+near+"?", "the property %s is not known", key.Value)
		n.mendWord(key, keyNames)
	}
}

// ordinary holds properties of authors that are near to a known key by chance.
func ordinary(key string) bool {
	return slices.Contains([]string{"models", "mode", "modes", "budgets", "timezones", "descriptions"}, strings.ToLower(key))
}

// node is the position of a YAML node; its columns count characters, as ours do, and its lines those below the first ---.
func (n *note) node(y *yaml.Node) Position { return n.at(n.metaLine+y.Line, max(y.Column, 1)) }

var yamlLine = regexp.MustCompile(`line (\d+): (.*)`)

// unquoted finds `schedule: cron: …`, the commonest mistake of all, on its own line or in a list.
var unquoted = regexp.MustCompile(`^(\s*(?:schedule:|-)\s+)((?:cron|once)\s*:.*)$`)

// reserved finds values that start with a character which YAML reserves.
var reserved = regexp.MustCompile("^(\\s*[^\\s#:][^:]*:\\s+|\\s*-\\s+)([@`%&*!|>{\\[].*)$")

// yamlFault reports what YAML refuses. The library's line may be that of the construct which it was reading, so the
// mistakes that authors make are looked for first.
func (n *note) yamlFault(err error) {
	for i, line := range n.frontmatter {
		if m := unquoted.FindStringSubmatch(line); m != nil {
			at := n.at(n.metaLine+1+i, len([]rune(m[1]))+1)
			n.add(at, directives.CodeUnquotedSchedule, "write schedule: "+strconv.Quote(strings.TrimSpace(m[2])), "quote it: YAML reads the colon in %s as a key", strings.TrimSpace(m[2]))
			n.mendSchedule(at, m[2])
			return
		}
	}
	at, message := n.at(n.metaLine+1, 1), strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		line, _ := strconv.Atoi(m[1]) // the expression allows digits only
		at.Line, message = n.metaLine+min(line, len(n.frontmatter)), m[2]
	}
	hint := "quote values that hold a colon or start with @ { [ or *"
	for i, line := range n.frontmatter {
		if m := reserved.FindStringSubmatch(line); m != nil && (m[2][0] == '@' || m[2][0] == '`' || strings.HasPrefix(m[2], "{{")) {
			at, hint = n.at(n.metaLine+1+i, len([]rune(m[1]))+1), "quote it: "+strconv.Quote(strings.TrimSpace(m[2]))
			break
		}
		if strings.HasPrefix(line, "\t") {
			at, hint = n.at(n.metaLine+1+i, 1), "indent with blanks"
			break
		}
	}
	n.add(at, directives.CodeYAML, hint, "the frontmatter is not valid YAML: %s", message)
	if strings.HasPrefix(hint, "quote it: ") {
		n.mendQuote(at)
	}
}

func isNull(y *yaml.Node) bool { return y.Kind == yaml.ScalarNode && y.Tag == "!!null" }
