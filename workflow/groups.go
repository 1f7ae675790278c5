package workflow

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/directives"
)

// group calls read for each property of a group, and reports names that are not allowed in it.
func (n *note) group(f field, allowed []string, read func(field)) {
	if f.node.Kind != yaml.MappingNode {
		n.add(n.node(f.node), directives.CodeKeyType, "write its properties indented below it", "%s takes a group of properties (%s)", f.name, strings.Join(allowed, ", "))
		return
	}
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		key, value := f.node.Content[i], f.node.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		switch {
		case !slices.Contains(allowed, key.Value):
			n.add(n.node(key), directives.CodeSubKey, hint(key.Value, allowed), "unknown property %q of %s; allowed are %s", key.Value, f.name, strings.Join(allowed, ", "))
			n.mendWord(key, allowed)
		case isNull(value):
		default:
			read(field{key.Value, value})
		}
	}
}

func (n *note) readPermissions(m *Meta, f field) {
	p := &m.Permissions
	n.group(f, []string{"read", "write", "tools", "network"}, func(f field) {
		empty := f.node.Kind == yaml.SequenceNode && len(f.node.Content) == 0
		switch f.name {
		case "read":
			p.Read, p.NoRead = n.globs(f), empty
		case "write":
			p.Write, p.NoWrite = n.globs(f), empty
		case "tools":
			p.Tools, p.NoTools = n.plain(f), empty
		case "network":
			p.Network = n.hosts(f)
		}
	})
}

// plain reads a list of words.
func (n *note) plain(f field) []string {
	var words []string
	for _, item := range n.texts(f) {
		if w := strings.TrimSpace(item.node.Value); w != "" {
			words = append(words, w)
		}
	}
	return words
}

// hosts reads a list of host names, with `*.` for those below one.
func (n *note) hosts(f field) []string {
	var hosts []string
	for _, item := range n.texts(f) {
		host := strings.ToLower(strings.TrimSpace(item.node.Value))
		name := strings.TrimPrefix(host, "*.")
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-:[]") != "" {
			n.add(n.node(item.node), directives.CodeKeyValue, "write a host such as example.org or *.example.org", "network: %q is not a host", host)
			continue
		}
		hosts = append(hosts, host)
	}
	return hosts
}

func (n *note) readBudget(m *Meta, f field) {
	allowed := []string{"when_exceeded"}
	for key := range budgetKeys {
		allowed = append(allowed, key)
	}
	slices.Sort(allowed)
	n.group(f, allowed, func(f field) {
		if f.name == "when_exceeded" {
			n.word(&m.Budget.WhenExceeded, f, "defer", "fail", "drop_oldest", "drop_newest", "refs_only")
			n.laterExcess(m.Budget.WhenExceeded, f)
			return
		}
		text, ok := n.scalar(f, "a number")
		if !ok {
			return
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || !budgetKeys[f.name] && v != math.Trunc(v) {
			n.add(n.node(f.node), directives.CodeKeyValue, "", "%s takes a number that is not negative, not %q", f.name, text)
			return
		}
		if m.Budget.Limits == nil {
			m.Budget.Limits = map[string]float64{}
		}
		m.Budget.Limits[f.name] = v
	})
}

// laterExcess refuses reactions of the language that this version does not carry out.
func (n *note) laterExcess(word string, f field) {
	if word != "" && word != "defer" && word != "fail" {
		n.add(n.node(f.node), directives.CodeNotAvailable, "use defer or fail", "when_exceeded: %s is not available in this version", word)
	}
}
