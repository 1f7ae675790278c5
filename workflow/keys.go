package workflow

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/directives"
)

// field is the value of one property.
type field struct {
	name string
	node *yaml.Node
}

// keys are the properties that the language knows.
var keys = map[string]func(*note, *Meta, field){
	"schedule":         (*note).readSchedules,
	"watch":            func(n *note, m *Meta, f field) { m.Watch = n.globs(f) },
	"on_import":        (*note).readOnImport,
	"enabled":          func(n *note, m *Meta, f field) { m.Enabled = n.boolean(f) },
	"timezone":         (*note).readTimezone,
	"week_start_day":   (*note).readWeekStart,
	"model":            (*note).readModel,
	"overlap":          func(n *note, m *Meta, f field) { n.word(&m.Overlap, f, "skip", "queue", "replace") },
	"catch_up":         func(n *note, m *Meta, f field) { n.word(&m.CatchUp, f, "none", "latest", "all") },
	"timeout":          (*note).readTimeout,
	"max_runs_per_day": (*note).readMaxRuns,
	"permissions":      (*note).readPermissions,
	"budget":           (*note).readBudget,
	"description":      func(_ *note, m *Meta, f field) { m.Description = f.node.Value },
}

var keyNames = []string{
	"schedule", "watch", "on_import", "enabled", "timezone", "week_start_day", "model", "overlap", "catch_up", "timeout",
	"max_runs_per_day", "permissions", "budget", "description",
}

// scalar is the text of a value that is one; anything else is reported.
func (n *note) scalar(f field, want string) (string, bool) {
	if f.node.Kind != yaml.ScalarNode {
		n.add(n.node(f.node), directives.CodeKeyType, "", "%s takes %s, not a %s", f.name, want, kindName(f.node))
		return "", false
	}
	return strings.TrimSpace(f.node.Value), true
}

func kindName(y *yaml.Node) string {
	switch y.Kind {
	case yaml.SequenceNode:
		return "list"
	case yaml.MappingNode:
		return "group of properties"
	case yaml.AliasNode:
		return "YAML alias"
	}
	return "text"
}

func (n *note) boolean(f field) bool {
	text, ok := n.scalar(f, "true or false")
	if !ok {
		return false
	}
	b, err := directives.ParseBool(text)
	if err != nil {
		n.add(n.node(f.node), directives.CodeKeyValue, "write "+f.name+": true", "%s is true or false, not %q", f.name, text)
	}
	return b
}

func (n *note) word(into *string, f field, allowed ...string) {
	text, ok := n.scalar(f, strings.Join(allowed, ", "))
	if !ok {
		return
	}
	word := strings.ToLower(text)
	if !slices.Contains(allowed, word) {
		n.add(n.node(f.node), directives.CodeKeyValue, cmp.Or(hint(word, allowed), "write "+f.name+": "+allowed[0]), "%s is one of %s, not %q", f.name, strings.Join(allowed, ", "), text)
		n.mendWord(f.node, allowed)
		return
	}
	*into = word
}

// hint proposes the nearest word.
func hint(word string, allowed []string) string {
	if near := directives.Nearest(word, allowed); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// texts reads one text or a list of them. An empty list that was given is not nil.
func (n *note) texts(f field) []field {
	switch f.node.Kind {
	case yaml.ScalarNode:
		return []field{f}
	case yaml.SequenceNode:
		list := []field{}
		for _, item := range f.node.Content {
			if item.Kind == yaml.AliasNode {
				item = item.Alias
			}
			if item.Kind != yaml.ScalarNode || isNull(item) {
				n.add(n.node(item), directives.CodeKeyType, "quote it if it is text", "%s holds texts, not a %s", f.name, kindName(item))
				continue
			}
			list = append(list, field{f.name, item})
		}
		return list
	}
	n.add(n.node(f.node), directives.CodeKeyType, "", "%s takes a text or a list, not a %s", f.name, kindName(f.node))
	return nil
}

// globs reads one glob or a list of them.
func (n *note) globs(f field) []string {
	var globs []string
	for _, item := range n.texts(f) {
		if glob, ok := n.glob(item); ok && !slices.Contains(globs, glob) {
			globs = append(globs, glob)
		}
	}
	return globs
}

func (n *note) glob(f field) (string, bool) {
	glob := strings.TrimSpace(f.node.Value)
	at := n.node(f.node)
	switch {
	case glob == "":
		n.add(at, directives.CodeKeyGlob, "", "%s has an empty glob", f.name)
	case strings.HasPrefix(glob, "/") || strings.HasPrefix(glob, "~/") || strings.Contains(glob, "\\") || strings.Contains(glob, "://"):
		n.add(at, directives.CodeKeyGlob, "write it relative to the vault, with /", "%s: %q is not a path in the vault", f.name, glob)
	case slices.ContainsFunc(strings.Split(glob, "/"), func(part string) bool { return part == ".." || part == "." || part == "" }):
		n.add(at, directives.CodeKeyGlob, "write it from the vault's root", "%s: %q has an empty, . or .. part", f.name, glob)
	case !doublestar.ValidatePattern(glob):
		n.add(at, directives.CodeKeyGlob, "close its [ and {", "%s: %q is not a valid glob", f.name, glob)
	default:
		return glob, true
	}
	return "", false
}

func (n *note) readOnImport(m *Meta, f field) {
	if f.node.Kind == yaml.ScalarNode {
		if b, err := directives.ParseBool(f.node.Value); err == nil {
			if b {
				m.OnImport = &OnImport{}
			}
			return
		}
	}
	if globs := n.globs(f); len(globs) > 0 {
		m.OnImport = &OnImport{Globs: globs}
	}
}

func (n *note) readTimezone(m *Meta, f field) {
	name, ok := n.scalar(f, "the name of a time zone")
	if !ok {
		return
	}
	if _, err := loadZone(name); err != nil {
		n.add(n.node(f.node), directives.CodeKeyValue, "write an IANA name such as Europe/Oslo", "%q is not a time zone", name)
		return
	}
	m.Timezone = name
}

// loadZone is time.LoadLocation without the names that mean another zone on another machine.
func loadZone(name string) (*time.Location, error) {
	if name == "" || strings.EqualFold(name, "local") {
		return nil, strconv.ErrSyntax
	}
	return time.LoadLocation(name)
}

func (n *note) readWeekStart(m *Meta, f field) {
	text, ok := n.scalar(f, "a day name")
	if !ok {
		return
	}
	day, ok := directives.Weekday(text)
	if !ok {
		n.add(n.node(f.node), directives.CodeKeyValue, cmp.Or(hint(text, dayNames()), "write week_start_day: monday"), "week_start_day is a day name, not %q", text)
		return
	}
	m.WeekStart = strings.ToLower(day.String())
}

func dayNames() []string {
	var names []string
	for d := time.Sunday; d <= time.Saturday; d++ {
		names = append(names, strings.ToLower(d.String()))
	}
	return names
}

func (n *note) readModel(m *Meta, f field) {
	alias, ok := n.scalar(f, "a model alias")
	if !ok {
		return
	}
	if !directives.ValidAlias(alias) || strings.EqualFold(alias, "none") {
		n.add(n.node(f.node), directives.CodeKeyValue, "write an alias of the settings", "model is a model alias, not %q", alias)
		return
	}
	m.Model, m.ModelAt = alias, n.node(f.node)
}

func (n *note) readTimeout(m *Meta, f field) {
	text, ok := n.scalar(f, "a duration")
	if !ok {
		return
	}
	d, err := directives.ParseDuration(text)
	if err != nil {
		n.add(n.node(f.node), directives.CodeKeyValue, "write timeout: 20m", "timeout: %v", err)
		return
	}
	m.Timeout = d
}

func (n *note) readMaxRuns(m *Meta, f field) {
	text, ok := n.scalar(f, "a whole number")
	if !ok {
		return
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 || count > math.MaxInt32 {
		n.add(n.node(f.node), directives.CodeKeyValue, "write max_runs_per_day: 5", "max_runs_per_day is a whole number above zero, not %q", text)
		return
	}
	m.MaxRunsPerDay = count
}
