package webpage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shown keeps web links and names pictures by their source.
var shown = Hooks{
	Image: func(src, alt string) string { return "![" + alt + "](" + src + ")" },
	Link: func(href string) string {
		if strings.HasPrefix(href, "https://") {
			return href
		}
		return ""
	},
}

func article(body string) string {
	return `<!doctype html><html lang="en"><head><title>Tides</title><meta name="author" content="Ingrid"><meta property="og:site_name" content="Coast"></head>
<body><nav><ul><li><a href="/">Home</a></li><li><a href="/x">Subscribe now</a></li></ul></nav><article><h1>Tides</h1>` + body +
		strings.Repeat(`<p>The water comes and goes twice a day, pulled by the moon, and those who fish know the hours by heart, all year.</p>`, 12) +
		`</article><footer>Cookies and terms</footer></body></html>`
}

func TestReadable_leavesMenusOut(t *testing.T) {
	t.Parallel()
	p, err := Readable([]byte(article(`<p>See <a href="https://example.org/t">the table</a> and <a href="javascript:alert(1)">this</a>.</p><img src="m.png" alt="Moon"><script>alert(2)</script>`)), "text/html", "", shown)
	if err != nil {
		t.Fatal(err)
	}
	if p.Title != "Tides" || p.Author != "Ingrid" || p.Site != "Coast" || p.Language != "en" || p.Whole {
		t.Errorf("page %+v", p)
	}
	for _, want := range []string{"[the table](https://example.org/t)", "and this.", "twice a day"} {
		if !strings.Contains(p.Markdown, want) {
			t.Errorf("no %q in\n%s", want, p.Markdown)
		}
	}
	for _, never := range []string{"Subscribe", "Cookies", "alert", "javascript"} {
		if strings.Contains(p.Markdown, never) {
			t.Errorf("%q is in\n%s", never, p.Markdown)
		}
	}
}

func TestReadable_takesShortPagesWhole(t *testing.T) {
	t.Parallel()
	page := `<html><head><title>List</title></head><body><h2>Shopping</h2><ul><li>milk</li><li>eggs<ul><li>six</li></ul></li></ul><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><p><img src="data:image/png;base64,AA==" alt="x [y]"></p></body></html>`
	p, err := Readable([]byte(page), "text/html", "", Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	want := "## Shopping\n\n- milk\n- eggs\n  \n  - six\n\n| a | b |\n|---|---|\n| 1 | 2 |"
	if diff := cmp.Diff(want, p.Markdown); diff != "" || p.Title != "List" {
		t.Errorf("%+v (-want +got):\n%s", p, diff)
	}
}

func TestParse_encodings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ data, contentType, want string }{
		"utf-8":        {"<p>blåbær</p>", "", "blåbær"},
		"meta":         {"<meta charset=iso-8859-1><p>bl\xe5b\xe6r</p>", "", "blåbær"},
		"content type": {"<p>\xc1\xf0</p>", "text/html; charset=windows-1251", "Бр"},
		"soft hyphens": {"<p>of&shy;ficial wa\u00adter</p>", "", "official water"},
		"nothing said": {"<p>caf\xe9 \x80</p>", "", "café €"},
		"utf-16":       {"\xff\xfe<\x00p\x00>\x00h\x00i\x00", "", "hi"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := Parse([]byte(test.data), test.contentType)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Convert(doc, Hooks{}); err != nil || got != test.want {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestParse_refuses(t *testing.T) {
	t.Parallel()
	if _, err := Parse([]byte(strings.Repeat("<b>", 2000)+"x"), ""); err == nil {
		t.Error("a page of 2,000 nested elements was taken")
	}
	if _, err := Parse(make([]byte, MaxSize+1), ""); err == nil {
		t.Error("a page above the limit was taken")
	}
}

func FuzzReadable(f *testing.F) {
	f.Add([]byte(article("<p>x</p>")))
	f.Add([]byte("<table><td><ul><li><a href=x><img src=y>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Readable(data, "text/html", "https://example.org/a", Hooks{})
		if err == nil && strings.Contains(p.Markdown, "](javascript:") {
			t.Errorf("a link that runs is left: %s", p.Markdown)
		}
	})
}

// TestConvert_generated writes a document with everything that a page of text may hold.
func TestConvert_generated(t *testing.T) {
	t.Parallel()
	doc, err := Parse([]byte(`<body><h1 id="top">One: first</h1><h2>Two</h2><section id="s"><h3>Three</h3><p>See <a href="#top">up</a>, <a href="#s">here</a>,
<a href="#gone">nowhere</a>, <a href="https://example.org/x">out</a><a href="#n1" role="doc-noteref"><sup>1</sup></a>, <b>bold</b> <i>slanted</i> <s>gone</s> <code>code</code>.</p></section>
<ul><li>a<ol><li>b</li><li>c</li></ol></li><li>d</li></ul>
<table><tr><td colspan="2">Wide | bar</td><td>C</td></tr><tr><td rowspan="2">tall<br>two lines</td><td>1</td><td>2</td></tr><tr><td>3</td><td><img src="m.png" alt="M"></td></tr></table>
<pre><code class="language-go">x := 1
</code></pre><p><math><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math></p>
<section role="doc-endnotes"><ol><li id="n1"><p>The note.<a role="doc-backlink" href="#r1">back</a></p></li></ol></section></body>`), "text/html")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Convert(doc, shown)
	if err != nil {
		t.Fatal(err)
	}
	want := "# One: first\n\n## Two\n\n### Three\n\nSee [up](#One%20first), [here](#Three), nowhere, [out](https://example.org/x)[^1], **bold** *slanted* ~~gone~~ `code`.\n\n" +
		"- a\n  \n  1. b\n  2. c\n- d\n\n" +
		"| Wide \\| bar |  | C |\n|---|---|---|\n| tall<br>two lines | 1 | 2 |\n|  | 3 | ![M](m.png) |\n\n" +
		"```go\nx := 1\n```\n\n$x^2$\n\n[^1]: The note."
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Markdown (-want +got):\n%s", diff)
	}
}

// A receipt is often a table of one column: its lines stay lines.
func TestConvert_tableOfOneColumn(t *testing.T) {
	t.Parallel()
	doc, err := Parse([]byte(`<table><tbody><tr><td>Corner shop</td></tr><tr><td>Bread 2.40</td></tr><tr><th>Total 3.50</th></tr></tbody></table><table><tr><td>a</td><td>b</td></tr></table>`), "text/html; charset=utf-8")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Convert(doc, Hooks{})
	if want := "Corner shop\n\nBread 2.40\n\nTotal 3.50\n\n| a | b |\n|---|---|"; err != nil || strings.TrimSpace(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
}
