package chunking_test

import (
	"testing"

	"github.com/vaultflow/vaultflow/chunking"
)

// TestSection_blocks: what an id stands on or follows.
func TestSection_blocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, src, fragment, want string }{
		{"paragraph over lines", "x\n\na\nb ^i\n\ny\n", "^i", "a\nb ^i\n"},
		{"id on its own line of the paragraph", "a\nb\n^i\n\ny\n", "^i", "a\nb\n^i\n"},
		{"quote", "x\n\n> a\n>\n> b ^i\n\ny", "^i", "> a\n>\n> b ^i\n"},
		{"quote and id behind it", "> a\n> b\n\n^i\n", "^i", "> a\n> b\n"},
		{"callout in a callout", "> [!note] t\n> > [!tip]\n> > a ^i\n", "^i", "> [!note] t\n> > [!tip]\n> > a ^i\n"},
		{"item in a quote", "> - a ^i\n> - b\n", "^i", "> - a ^i\n"},
		{"quote in an item", "- x\n  > a ^i\n- y\n", "^i", "  > a ^i\n"},
		{"list", "- a\n- b\n\n^i\n", "^i", "- a\n- b\n"},
		{"item with code", "- a ^i\n  ```\n  c\n  ```\n- b\n", "^i", "- a ^i\n  ```\n  c\n  ```\n"},
		{"task", "- [ ] a ^i\n\t- [x] b\n- c\n", "^i", "- [ ] a ^i\n\t- [x] b\n"},
		{"code", "x\n```go\nc\n```\n^i\n", "^i", "```go\nc\n```\n"},
		{"empty code", "```\n```\n^i\n", "^i", "```\n```\n"},
		{"indented code", "x\n\n    a\n    b\n\n^i\n", "^i", "    a\n    b\n"},
		{"math", "x\n\n$$\na\n\nb\n$$\n\n^i\n", "^i", "$$\na\n\nb\n$$\n"},
		{"html", "x\n\n<!--\na\n-->\n\n^i\n", "^i", "<!--\na\n-->\n"},
		{"table row", "| a |\n|---|\n| b |\n^i\n", "^i", "| a |\n|---|\n| b |\n^i\n"},
		{"table in a cell", "| a |\n|---|\n| b ^i |\n", "^i", "| a |\n|---|\n| b ^i |\n"},
		{"heading", "# A ^i\nb\n", "^i", "# A ^i\n"},
		{"windows lines", "a\r\nb ^i\r\n\r\ny", "^i", "a\r\nb ^i\r\n"},
		{"no line end", "x\n\nb ^i", "^i", "b ^i"},
		{"image", "![[a.png]] ^i\n", "^i", "![[a.png]] ^i\n"},
		{"first of two", "a ^i\n\nb ^i\n", "^i", "a ^i\n"},
		{"heading with a hash", "# C# notes\na\n# D\n", "C# notes", "# C# notes\na\n"},
		{"heading with a link", "# [[Foo|bar]] *baz*\na\n", "Foo bar baz", "# [[Foo|bar]] *baz*\na\n"},
		{"setext heading", "A b\n===\nx\n\nC\n---\ny\n", "A b#C", "C\n---\ny\n"},
		{"chain that starts below", "# A\n## B\na\n# C\n## B\nb\n", "C#B", "## B\nb\n"},
		{"exact before less exact", "# a B\nx\n# A b\ny\n", "A b", "# A b\ny\n"},
		{"closing marks", "# A #\nx\n", "A", "# A #\nx\n"},
		{"decomposed heading", "# e\u0301\nx\n", "\u00e9", "# e\u0301\nx\n"},
		{"behind frontmatter", "---\n# A\n---\n# A\nx\n", "A", "# A\nx\n"},
	} {
		start, end, ok := chunking.Section([]byte(c.src), c.fragment)
		if !ok || c.src[start:end] != c.want {
			t.Errorf("%s: got %v %q, want %q", c.name, ok, c.src[start:end], c.want)
		}
	}
	for _, c := range []struct{ name, src, fragment string }{
		{"in code", "```\na ^i\n```\n", "^i"},
		{"in a comment", "%%\na ^i\n%%\n", "^i"},
		{"in frontmatter", "---\na: b ^i\n---\n", "^i"},
		{"part of a word", "a^i\n", "^i"},
		{"part of an id", "a ^ij\n", "^i"},
		{"not at the end", "a ^i b\n", "^i"},
		{"alone at the top", "^i\n", "^j"},
		{"no id", "a ^i_j\n", "^i_j"},
		{"heading in a comment", "%%\n# A\n%%\n", "A"},
		{"heading in math", "$$\n# A\n$$\n", "A"},
		{"chain in the wrong order", "# A\n## B\n", "B#A"},
		{"missing below", "# A\n# B\n", "A#B"},
	} {
		if start, end, ok := chunking.Section([]byte(c.src), c.fragment); ok {
			t.Errorf("%s: got %q, want nothing", c.name, c.src[start:end])
		}
	}
}

const outline = "---\nt: 1\n---\n# One\na\n## Two words\nb ^first\n### Deep\nc\n## Two\nd\n\n- item\n  - child ^kid\n- other ^item\n  - below\n\n| t |\n|---|\n| u |\n\n^tab\n\n```\n## Not\n```\n\n# What? Yes!\ne\n"

func TestSection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ fragment, want string }{
		{"Two words", "## Two words\nb ^first\n### Deep\nc\n"},
		{"two WORDS", "## Two words\nb ^first\n### Deep\nc\n"},
		{"What Yes", "# What? Yes!\ne\n"},
		{"One#Two words#Deep", "### Deep\nc\n"},
		{"One#Deep", "### Deep\nc\n"},
		{"Two", "## Two\nd\n\n- item\n  - child ^kid\n- other ^item\n  - below\n\n| t |\n|---|\n| u |\n\n^tab\n\n```\n## Not\n```\n\n"},
		{"^first", "b ^first\n"},
		{"^kid", "  - child ^kid\n"},
		{"^item", "- other ^item\n  - below\n"},
		{"^tab", "| t |\n|---|\n| u |\n"},
	} {
		start, end, ok := chunking.Section([]byte(outline), c.fragment)
		if !ok || outline[start:end] != c.want {
			t.Errorf("%s: got %v %q, want %q", c.fragment, ok, outline[start:end], c.want)
		}
	}
	for _, fragment := range []string{"Three", "Not", "Deep#One", "^none", "^", "", "#", "^fir"} {
		if start, end, ok := chunking.Section([]byte(outline), fragment); ok {
			t.Errorf("%q: got %q, want nothing", fragment, outline[start:end])
		}
	}
}
