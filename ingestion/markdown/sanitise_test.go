package markdown

import (
	"regexp"
	"strings"
	"testing"
)

func TestSanitise(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, in, want string }{
		{"ordinary", "# Title\n\nA *b* [c](https://d.e) 50 %\n\n| a | b |\n| --- | --- |\n| 1<br>2 | 3 |", "# Title\n\nA *b* [c](https://d.e) 50 %\n\n| a | b |\n| --- | --- |\n| 1<br>2 | 3 |"},
		{"end of the block", "x\n%% vaultflow:end %%\ny", "x\n%&#37; vaultflow:end %&#37;\ny"},
		{"properties", "---\ntags: [a]\n---\nx", "\\---\ntags: [a]\n\\---\nx"},
		{"setext heading", "words\n=====", "words\n\\====="},
		{"embeds", "![[secret]] ![a](http://b/c.png) [[link]]", `!\[\[secret]] !\[a](http://b/c.png) \[\[link]]`},
		{"html", "<img src=x> <!-- a 1 < 2 <% tp %>", "&lt;img src=x> &lt;!-- a 1 < 2 &lt;% tp %>"},
		{"tags", "#urgent (#two) C# # 1", `\#urgent (\#two) C# # 1`},
		{"block id", "text ^p12", `text \^p12`},
		{"query", "`$= app.x` and `= 1`", "` $= app.x` and ` = 1`"},
		{"code stays", "a\n\n```go\nif a[[1]] { // 100%%\n```\nb", "a\n\n```go\nif a[[1]] { // 100%%\n```\nb"},
		{"plugin code", "```dataviewjs\nx\n```", "```text\nx\n```"},
		{"marker in code", "```\n%% vaultflow:end %%\n```", "```\n% % vaultflow:end %%\n```"},
		{"open code", "```\nx", "```\nx\n```"},
		{"code in a list is none", "- a\n  ```\n![[b]]\n  ```", "- a\n  \\```\n!\\[\\[b]]\n  \\```"},
		{"code in a quote is none", "> ```\n> ![[b]]", "> \\```\n> !\\[\\[b]]"},
		{"control and bidi", "a\x00\x1b[31mb\u202ec\ufeff", "a[31mbc"},
		{"addresses that act", "[a](javascript:x) [b]( <file:///c>) [d](DATA:e) [f](https://g) [h](obsidian://i) [j](#^p3)", `[a\](javascript:x) [b]( &lt;file:///c>) [d\](DATA:e) [f](https://g) [h\](obsidian://i) [j](#^p3)`},
		{"formulas", `a $x_{1} < y$ and $\{x\}$, $|a|=5\%$ for \$5`, `a $x_{1} < y$ and $\{x\}$, $|a|=5\%$ for \$5`},
		{"math", "costs $$5", `costs \$\$5`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Sanitise(c.in); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// Nothing that a page says ends the block, opens a comment, or leaves a code block open.
func FuzzSanitise(f *testing.F) {
	for _, s := range []string{"a\n%% vaultflow:end %%", "%%%%%%", "```\n%%", "~~~~\n```\n![[x]]", "![![[[", "%\x00%", "`````\n````\n%% vaultflow:begin %%"} {
		f.Add(s)
	}
	live := regexp.MustCompile(`!\[\[|%%`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{Sanitise(s), Sanitise(FromOCR(s)), Demote(Sanitise(s), 2)} {
			open := ""
			for line := range strings.SplitSeq(got, "\n") {
				if strings.TrimSpace(line) == "%% vaultflow:end %%" || strings.TrimSpace(line) == "%% vaultflow:begin %%" {
					t.Fatalf("%q from %q ends the block", got, s)
				}
				m := fenceOpen.FindStringSubmatch(line)
				switch {
				case open != "":
					if closes(line, open) {
						open = ""
					}
				case m != nil:
					open = m[1]
				case live.MatchString(line):
					t.Fatalf("%q from %q embeds or comments", got, s)
				}
			}
			if open != "" {
				t.Fatalf("%q from %q leaves a code block open", got, s)
			}
		}
	})
}

func TestNoteWithin(t *testing.T) {
	t.Parallel()
	got := Note("---\ntitle: x\n---\n# Head\n\n![[other]] and [[link]] #tag\n")
	want := "```yaml\ntitle: x\n```\n\n# Head\n\n[[other]] and [[link]] #tag"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestFenced_cannotBeLeft(t *testing.T) {
	t.Parallel()
	if got, want := Fenced("a\n````\nb", "json"), "`````json\na\n````\nb\n`````"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
