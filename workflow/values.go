package workflow

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// values reads the values of properties, and reports those of the wrong type.
type values struct {
	src *source
	out *report
}

// field is the value of one property.
type field struct {
	name string
	node *yaml.Node
}

// node returns the position of a YAML node, whose columns count characters, as ours do, and whose lines count from the first ---.
func (v *values) node(y *yaml.Node) Position {
	return v.out.at(v.src.metaLine+y.Line, max(y.Column, 1))
}

// scalar returns the text of a scalar value, and reports anything else.
func (v *values) scalar(f field, want string) (string, bool) {
	if f.node.Kind != yaml.ScalarNode {
		v.out.add(v.node(f.node), directives.CodeKeyType, "", "%s takes %s, not a %s", f.name, want, kindName(f.node))
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

func (v *values) boolean(f field) bool {
	text, ok := v.scalar(f, "true or false")
	if !ok {
		return false
	}
	b, err := directives.ParseBool(text)
	if err != nil {
		v.out.add(v.node(f.node), directives.CodeKeyValue, "write "+f.name+": true", "%s must be true or false, not %q", f.name, text)
	}
	return b
}

func (v *values) word(into *string, f field, allowed ...string) {
	text, ok := v.scalar(f, strings.Join(allowed, ", "))
	if !ok {
		return
	}
	word := strings.ToLower(text)
	if !slices.Contains(allowed, word) {
		v.out.add(v.node(f.node), directives.CodeKeyValue, cmp.Or(hint(word, allowed), "write "+f.name+": "+allowed[0]), "%s must be one of %s, not %q", f.name, strings.Join(allowed, ", "), text)
		v.mendWord(f.node, allowed)
		return
	}
	*into = word
}

// hint suggests the nearest word.
func hint(word string, allowed []string) string {
	if near := diag.Nearest(word, allowed); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}

// texts reads one text or a list of them. An explicit empty list is not nil.
func (v *values) texts(f field) []field {
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
				v.out.add(v.node(item), directives.CodeKeyType, "quote it if it is text", "%s takes texts, not a %s", f.name, kindName(item))
				continue
			}
			list = append(list, field{f.name, item})
		}
		return list
	}
	v.out.add(v.node(f.node), directives.CodeKeyType, "", "%s takes a text or a list, not a %s", f.name, kindName(f.node))
	return nil
}

// globs reads one glob or a list of them.
func (v *values) globs(f field) []string {
	var globs []string
	for _, item := range v.texts(f) {
		if glob, ok := v.glob(item); ok && !slices.Contains(globs, glob) {
			globs = append(globs, glob)
			if f.name == "watch" {
				v.watched(item, glob)
			}
		}
	}
	return globs
}

// watched reports a glob of watch that fits no file: a folder is none, and hidden names are not watched.
func (v *values) watched(f field, glob string) {
	switch {
	case slices.ContainsFunc(strings.Split(glob, "/"), func(part string) bool { return part[0] == '.' }):
		v.out.add(v.node(f.node), directives.CodeWatchNone, "watch another folder", "%s: %q is hidden: vaultflow does not watch names that begin with a dot", f.name, glob)
	case isFolder(glob):
		v.out.add(v.node(f.node), directives.CodeWatchNone, "write "+glob+"/**/*.md, or "+glob+".md if it is a note",
			"%s: %q fits no file in a folder of this name, so none starts the workflow", f.name, glob)
	}
}

// isFolder reports whether a path pattern is likely the name of a folder: it has no wildcard and no extension.
func isFolder(glob string) bool {
	ext := path.Ext(glob)
	return glob != "" && !strings.ContainsAny(glob, "*?[{") && (ext == "" || strings.Contains(ext, " "))
}

// within returns what a permission means: a folder means all files in it.
func within(glob string) string {
	if folder := strings.TrimRight(glob, "/"); folder != glob || isFolder(glob) {
		return folder + "/**"
	}
	return glob
}

func (v *values) glob(f field) (string, bool) {
	glob := strings.TrimSpace(f.node.Value)
	if f.name == "read" || f.name == "write" {
		glob = within(glob)
	}
	at := v.node(f.node)
	switch {
	case glob == "":
		v.out.add(at, directives.CodeKeyGlob, "", "%s has an empty glob", f.name)
	case strings.HasPrefix(glob, "/") || strings.HasPrefix(glob, "~/") || strings.Contains(glob, "\\") || strings.Contains(glob, "://"):
		v.out.add(at, directives.CodeKeyGlob, "write it relative to the vault, with /", "%s: %q is not a path in the vault", f.name, glob)
	case strings.HasSuffix(glob, "/") && doublestar.ValidatePattern(glob):
		v.out.add(at, directives.CodeKeyGlob, "write "+strings.TrimRight(glob, "/")+"/**/*.md", "%s: %q is a folder; name files", f.name, glob)
	case slices.ContainsFunc(strings.Split(glob, "/"), func(part string) bool { return part == ".." || part == "." || part == "" }):
		v.out.add(at, directives.CodeKeyGlob, "write it from the vault's root", "%s: %q has an empty, . or .. part", f.name, glob)
	case !doublestar.ValidatePattern(glob):
		v.out.add(at, directives.CodeKeyGlob, "close its [ and {", "%s: %q is not a valid glob", f.name, glob)
	default:
		return glob, true
	}
	return "", false
}

// group calls read for each property of a group, and reports unknown ones.
func (v *values) group(f field, allowed []string, read func(field)) {
	if f.node.Kind != yaml.MappingNode {
		v.out.add(v.node(f.node), directives.CodeKeyType, "write its properties indented below it", "%s takes a group of properties (%s)", f.name, strings.Join(allowed, ", "))
		return
	}
	for i := 0; i+1 < len(f.node.Content); i += 2 {
		key, value := f.node.Content[i], f.node.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		switch {
		case f.name == "budget" && !slices.Contains(allowed, key.Value) && directives.BudgetElsewhere(key.Value) != "":
			v.out.add(v.node(key), directives.CodeSubKey, directives.BudgetElsewhere(key.Value), "%s is not a limit of a workflow", key.Value)
		case !slices.Contains(allowed, key.Value):
			v.out.add(v.node(key), directives.CodeSubKey, hint(key.Value, allowed), "unknown property %q of %s; allowed are %s", key.Value, f.name, strings.Join(allowed, ", "))
			v.mendWord(key, allowed)
		case isNull(value):
		default:
			read(field{key.Value, value})
		}
	}
}

// tools reads a list of tool names, or all, or none.
func (v *values) tools(f field) (names []string, at []Position, none bool) {
	items := v.texts(f)
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
			v.out.add(v.node(item.node), directives.CodeKeyValue, "write the name of a tool, such as read_chunks", "tools: %q is not the name of a tool", name)
			continue
		}
		names, at = append(names, name), append(at, v.node(item.node))
	}
	return names, at, items != nil && len(items) == 0
}

// hosts reads a list of host names; `*.` covers those below one.
func (v *values) hosts(f field) []string {
	var hosts []string
	for _, item := range v.texts(f) {
		host := strings.ToLower(strings.TrimSpace(item.node.Value))
		name := strings.TrimPrefix(host, "*.")
		if host != "*" && (name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-:[]") != "") {
			v.out.add(v.node(item.node), directives.CodeKeyValue, "write a host such as example.org or *.example.org, or * for all", "%s: %q is not a host", f.name, host)
			continue
		}
		hosts = append(hosts, host)
	}
	return hosts
}

// entries lists the texts of the property. It reports an unquoted `- cron: …` in a list, which YAML reads as a group.
func (v *values) entries(f field) []field {
	if f.node.Kind == yaml.SequenceNode {
		var list []field
		for _, item := range f.node.Content {
			list = append(list, v.entries(field{f.name, item})...)
		}
		return list
	}
	if f.node.Kind == yaml.MappingNode && len(f.node.Content) > 1 {
		if key := f.node.Content[0]; key.Value == KindCron || key.Value == KindOnce {
			entry := key.Value + ": " + f.node.Content[1].Value
			v.out.add(v.node(f.node), directives.CodeUnquotedSchedule, "write "+strconv.Quote(entry), "quote it: YAML reads the colon in %s as a key", entry)
			at := v.node(f.node)
			v.mendSchedule(at, v.src.rest(at))
			return nil
		}
	}
	if _, ok := v.scalar(f, `"cron: …", "once: …" or a list of these`); !ok {
		return nil
	}
	return []field{f}
}

// mendWord replaces a plain word of the frontmatter with the candidate that it must mean, unless the correct property exists
// too.
func (v *values) mendWord(word *yaml.Node, candidates []string) {
	near, ok := diag.Certain(word.Value, candidates)
	if ok {
		v.rename(word, near)
	}
}

// rename replaces a plain word of the frontmatter, unless the same level has a property of that name.
func (v *values) rename(word *yaml.Node, name string) {
	at := v.node(word)
	if word.Style != 0 || !strings.HasPrefix(v.src.rest(at), word.Value) || v.src.beside(at, name) {
		return
	}
	v.out.mend(diag.Replace(at, utf8.RuneCountInString(word.Value), name))
}

// mendSchedule quotes an entry that takes the rest of its line, alone or in an indented list.
func (v *values) mendSchedule(at Position, written string) {
	entry := strings.TrimSpace(written)
	before := strings.TrimSuffix(v.src.line(at.Line), v.src.rest(at))
	if strings.ContainsAny(entry, "#\"\\") || strings.Trim(strings.TrimPrefix(before, "schedule:"), " -") != "" {
		return // a comment, half a quote or a list in brackets: only the user knows where the entry ends
	}
	v.out.mend(diag.Replace(at, utf8.RuneCountInString(entry), strconv.Quote(entry)))
}

func isNull(y *yaml.Node) bool { return y.Kind == yaml.ScalarNode && y.Tag == "!!null" }
