package assistantmd

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// quotedItems quotes globs in brackets that start with `*`, which YAML reads as an alias: `[*.md, Inbox/**]` becomes
// `["*.md", Inbox/**]`. It is not ok if the result is not YAML.
func quotedItems(raw string) (text string, ok bool) {
	if raw == "" || raw[0] != '[' && raw[0] != '{' || strings.HasPrefix(raw, "{{") {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(raw); {
		start := i
		for i < len(raw) && strings.IndexByte("[]{},:", raw[i]) < 0 {
			i++
		}
		item := raw[start:i]
		if word := strings.TrimSpace(item); strings.HasPrefix(word, "*") && !strings.ContainsAny(word, `"'\#`) {
			item = strings.Replace(item, word, `"`+word+`"`, 1)
		}
		b.WriteString(item)
		if i < len(raw) {
			b.WriteByte(raw[i])
			i++
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte("x: "+b.String()), &doc); err != nil || b.String() == raw {
		return "", false
	}
	return b.String(), true
}

// bracketed reports whether a property of ours is in brackets: quoting all of it would change its meaning.
func (f Frontmatter) bracketed(p oldProperty) bool {
	return slices.Contains(f.Keys, p.key) && p.raw != "" && (p.raw[0] == '[' || p.raw[0] == '{')
}
