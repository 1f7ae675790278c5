package workflow

import (
	"slices"
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
		case f.name == "budget" && !slices.Contains(allowed, key.Value) && directives.BudgetElsewhere(key.Value) != "":
			n.add(n.node(key), directives.CodeSubKey, directives.BudgetElsewhere(key.Value), "%s is no limit of a workflow", key.Value)
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
	n.group(f, []string{"read", "write", "tools", "network", "links"}, func(f field) {
		empty := f.node.Kind == yaml.SequenceNode && len(f.node.Content) == 0
		switch f.name {
		case "read":
			p.Read, p.NoRead = n.globs(f), empty
		case "write":
			p.Write, p.NoWrite = n.globs(f), empty
		case "tools":
			p.Tools, p.ToolsAt, p.NoTools = n.tools(f)
		case "network":
			p.Network = n.hosts(f)
		case "links":
			p.Links = n.hosts(f)
		}
	})
}

// tools reads a list of names of tools, or all, or none.
func (n *note) tools(f field) (names []string, at []Position, none bool) {
	items := n.texts(f)
	if len(items) == 1 {
		switch strings.ToLower(strings.TrimSpace(items[0].node.Value)) {
		case "all":
			return nil, nil, false
		case "none":
			return nil, nil, true
		}
	}
	for _, item := range items {
		name := directives.ToolName(strings.TrimSpace(item.node.Value))
		if !directives.ValidTool(name) {
			n.add(n.node(item.node), directives.CodeKeyValue, "write the name of a tool, such as read_chunks", "tools: %q is not the name of a tool", name)
			continue
		}
		names, at = append(names, name), append(at, n.node(item.node))
	}
	return names, at, items != nil && len(items) == 0
}

// hosts reads a list of host names, with `*.` for those below one.
func (n *note) hosts(f field) []string {
	var hosts []string
	for _, item := range n.texts(f) {
		host := strings.ToLower(strings.TrimSpace(item.node.Value))
		name := strings.TrimPrefix(host, "*.")
		if host != "*" && (name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-:[]") != "") {
			n.add(n.node(item.node), directives.CodeKeyValue, "write a host such as example.org or *.example.org, or * for all", "%s: %q is not a host", f.name, host)
			continue
		}
		hosts = append(hosts, host)
	}
	return hosts
}

func (n *note) readBudget(m *Meta, f field) {
	n.group(f, directives.WorkflowBudgetKeys(), func(f field) {
		if f.name == "when_exceeded" {
			n.word(&m.Budget.WhenExceeded, f, directives.WhenExceeded()...)
			return
		}
		text, ok := n.scalar(f, "a number")
		if !ok {
			return
		}
		v, err := directives.ParseLimit(f.name, text)
		if err != nil {
			n.add(n.node(f.node), directives.CodeKeyValue, "", "%v", err)
			return
		}
		if m.Budget.Limits == nil {
			m.Budget.Limits = map[string]float64{}
		}
		m.Budget.Limits[f.name] = v
	})
}
