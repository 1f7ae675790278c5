package note

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/chunking"
)

// mergeProperties puts the members of an object into a note's frontmatter: a value replaces that of the property with
// the same name (names are compared without case when none is spelled the same) or is united with it, null removes the property,
// new ones come at the end. Only the bytes of changed values change; order, comments, quotes and line ends of everything else stay.
// A note without frontmatter gets one. Frontmatter that is no valid YAML mapping is an error, and so is a result that would
// not read as wanted.
func mergeProperties(note []byte, add Object, unites func(name string) bool) ([]byte, error) {
	size, front := chunking.Frontmatter(note)
	eol := LineEnd(note)
	if size == 0 {
		return newProperties(note, add, unites, eol)
	}
	start := bytes.IndexByte(note, '\n') + 1
	before, err := readProperties(front)
	if err != nil {
		return nil, fmt.Errorf("the properties of the note are not valid YAML: %w", err)
	}
	plan, err := before.plan(add, unites)
	if err != nil {
		return nil, err
	}
	if len(plan) == 0 {
		return note, nil
	}
	merged := string(front)
	if before.isFlow() {
		if merged, err = blockStyle(before, eol); err != nil {
			return nil, err
		}
	}
	for _, c := range plan {
		if merged, err = setProperty(merged, c, eol); err != nil {
			return nil, fmt.Errorf("property %q: %w", c.key, err)
		}
	}
	if err := checkProperties(before, merged, plan); err != nil {
		return nil, err
	}
	out := append([]byte{}, note[:start]...)
	return append(append(out, merged...), note[start+len(front):]...), nil
}

// change is what happens to one property.
type change struct {
	key   string
	value any   // that it will have; nil: none
	more  []any // items that a list gets at its end; nil: the value is replaced
}

// plan lists what an answer changes.
func (p properties) plan(add Object, unites func(name string) bool) ([]change, error) {
	var plan []change
	for _, m := range add {
		var now *yaml.Node
		if i := p.find(m.key); i >= 0 {
			now = p.mapping.Content[i+1]
		}
		c := change{key: m.key, value: m.value}
		changes := c.value != nil || now != nil
		if unites(m.key) {
			var err error
			if c, changes, err = united(m, now); err != nil {
				return nil, fmt.Errorf("property %q: %w", m.key, err)
			}
		}
		if changes && (now == nil || c.value == nil || !same(now, c.value)) {
			plan = append(plan, c)
		}
	}
	return plan, nil
}

// newProperties puts a frontmatter before a note that has none. A byte order mark stays first.
func newProperties(note []byte, add Object, unites func(name string) bool, eol string) ([]byte, error) {
	plan, err := properties{}.plan(add, unites)
	if err != nil || len(plan) == 0 && len(note) > 0 {
		return note, err
	}
	var lines strings.Builder
	for _, c := range plan {
		lines.WriteString(yamlKey(c.key) + ":" + yamlText(c.value, "") + "\n")
	}
	if err := checkProperties(properties{}, lines.String(), plan); err != nil {
		return nil, err
	}
	front := strings.ReplaceAll("---\n"+lines.String()+"---\n", "\n", eol)
	mark := []byte("\xef\xbb\xbf")
	rest, marked := bytes.CutPrefix(note, mark)
	if !marked {
		mark = nil
	}
	return bytes.Join([][]byte{mark, []byte(front), rest}, nil), nil
}

// properties is a frontmatter that was read. The mapping is nil when there is nothing in it.
type properties struct {
	root    yaml.Node
	mapping *yaml.Node
}

func readProperties(front []byte) (properties, error) {
	var p properties
	var all map[string]any
	err := yaml.Unmarshal(front, &p.root)
	if err == nil {
		err = keyFault(&p.root)
	}
	if err == nil { // duplicate keys, and what is no mapping
		err = yaml.Unmarshal(front, &all)
	}
	if err != nil {
		if counted := yaml.Unmarshal(append([]byte("\n"), front...), &all); counted != nil && !strings.Contains(counted.Error(), "invalid map key") {
			err = counted // with the lines of the note, where the mark is line 1
		}
		return p, plainYAMLError(err)
	}
	if len(p.root.Content) == 1 && p.root.Content[0].Kind == yaml.MappingNode {
		p.mapping = p.root.Content[0]
	}
	return p, nil
}

// keyFault finds a key that is no text, such as that of an unquoted {{date}}.
func keyFault(n *yaml.Node) error {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && child.Kind != yaml.ScalarNode && child.Kind != yaml.AliasNode {
			return fmt.Errorf("line %d: invalid map key; a value that begins with { needs quotes", child.Line+1)
		}
		if err := keyFault(child); err != nil {
			return err
		}
	}
	return nil
}

// plainYAMLError is a YAML error without the package's name, on one line.
func plainYAMLError(err error) error {
	return errors.New(strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "yaml: ", "")), " "))
}

func (p properties) isFlow() bool { return p.mapping != nil && p.mapping.Style&yaml.FlowStyle != 0 }

// indent is what stands before each key.
func (p properties) indent() string {
	if p.mapping == nil || len(p.mapping.Content) == 0 {
		return ""
	}
	return strings.Repeat(" ", p.mapping.Content[0].Column-1)
}

// find is the index of a property's key among the mapping's nodes, -1 when there is none.
func (p properties) find(key string) int {
	if p.mapping == nil {
		return -1
	}
	found := -1
	for i := 0; i < len(p.mapping.Content); i += 2 {
		switch name := p.mapping.Content[i].Value; {
		case name == key:
			return i
		case found < 0 && strings.EqualFold(name, key):
			found = i
		}
	}
	return found
}

// blockStyle writes properties that stand as a flow mapping (JSON between the marks) as Obsidian saves them.
func blockStyle(p properties, eol string) (string, error) {
	var all bytes.Buffer
	p.mapping.Style = 0
	enc := yaml.NewEncoder(&all)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(&p.root), enc.Close()); err != nil {
		return "", fmt.Errorf("rewrite the properties: %w", err)
	}
	return strings.ReplaceAll(all.String(), "\n", eol), nil
}

// setProperty changes one property of a frontmatter in block style.
func setProperty(front string, c change, eol string) (string, error) {
	p, err := readProperties([]byte(front))
	if err != nil {
		return "", err
	}
	i := p.find(c.key)
	switch {
	case i < 0 && c.value == nil:
		return front, nil
	case i < 0:
		if front != "" && !strings.HasSuffix(front, "\n") {
			front += eol
		}
		indent := p.indent()
		return front + strings.ReplaceAll(indent+yamlKey(c.key)+":"+yamlText(c.value, indent)+"\n", "\n", eol), nil
	}
	e, err := entryAt(front, p.mapping, i)
	if err != nil {
		return "", err
	}
	if c.value == nil {
		return front[:e.start] + front[withComments(front, e.end):], nil
	}
	if len(c.more) > 0 {
		for _, longer := range lengthened(front, e, p.mapping.Content[i+1], c, eol) {
			if checkProperties(p, longer, []change{c}) == nil {
				return longer, nil
			}
		}
	}
	text := yamlText(c.value, p.indent())
	if words, isText := c.value.(string); isText && strings.HasPrefix(strings.TrimLeft(front[e.end:], "\r\n"), " ") {
		text = " " + quotedYAML(words) // an indented comment below would become a part of a block
		if plainYAML(words) {
			text = " " + words
		}
	}
	return e.replace(front, strings.ReplaceAll(text, "\n", eol), eol), nil
}

// withComments is the offset behind the indented comments that follow a property: they go with it when it is removed,
// since below a block of text before it they would become a part of that.
func withComments(front string, end int) int {
	for at := end; at < len(front); {
		stop := at + lineLength(front[at:])
		line := front[at:stop]
		at = behindBreak(front, stop)
		if text := strings.TrimSpace(line); text != "" {
			if text[0] != '#' || line[0] != ' ' && line[0] != '\t' {
				break
			}
			end = at
		}
	}
	return end
}

// checkProperties reads the result again: what was to change has, and nothing else.
func checkProperties(before properties, merged string, plan []change) error {
	after, err := readProperties([]byte(merged))
	if err != nil {
		return fmt.Errorf("the properties cannot be changed in place: %w", err)
	}
	touched := map[int]bool{}
	for _, c := range plan {
		name := c.key
		if i := before.find(c.key); i >= 0 {
			touched[i] = true
			name = before.mapping.Content[i].Value
		}
		i := after.find(name)
		gone := i < 0 || after.mapping.Content[i].Value != name
		if c.value == nil && !gone || c.value != nil && (gone || !same(after.mapping.Content[i+1], c.value)) {
			return fmt.Errorf("property %q cannot be changed in place", c.key)
		}
	}
	for i := 0; before.mapping != nil && i < len(before.mapping.Content); i += 2 {
		if touched[i] {
			continue
		}
		j := after.find(before.mapping.Content[i].Value)
		if j < 0 || !reflect.DeepEqual(decoded(before.mapping.Content[i+1]), decoded(after.mapping.Content[j+1])) {
			return fmt.Errorf("property %q would be changed too", before.mapping.Content[i].Value)
		}
	}
	return nil
}

// same reports whether a node holds a value already.
func same(n *yaml.Node, value any) bool {
	var written yaml.Node
	if err := yaml.Unmarshal([]byte("k:"+yamlText(value, "")+"\n"), &written); err != nil || len(written.Content) != 1 {
		return false
	}
	return reflect.DeepEqual(decoded(n), decoded(written.Content[0].Content[1]))
}

// decoded is a node's value for comparing: scalars with their type and text, where a date is a text; aliases followed.
func decoded(n *yaml.Node) any {
	return decodedTo(n, 0)
}

func decodedTo(n *yaml.Node, depth int) any {
	if depth > maxJSONDepth {
		return nil
	}
	switch n.Kind {
	case yaml.AliasNode:
		return decodedTo(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			list = append(list, decodedTo(item, depth+1))
		}
		return list
	case yaml.MappingNode:
		all := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			all[fmt.Sprint(decodedTo(n.Content[i], depth+1))] = decodedTo(n.Content[i+1], depth+1)
		}
		return all
	}
	tag := n.ShortTag()
	if tag == "!!timestamp" {
		tag = "!!str"
	}
	if tag == "!!null" {
		return [2]string{tag, ""}
	}
	return [2]string{tag, n.Value}
}
