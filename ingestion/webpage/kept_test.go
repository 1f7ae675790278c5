package webpage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What stands in the main part of a page is kept, and only menus and advertisements outside it go.
func TestReadable_keepsTheMainPart(t *testing.T) {
	t.Parallel()
	prose := strings.Repeat(`<p>Cut the fish and the carrots into pieces, and cook them slowly in the stock, for twenty minutes, then season.</p>`, 30)
	page := `<html><body><nav><a href="/">Home</a></nav><div class="ad">Buy pans</div><main><h1>Fish soup</h1><nav><a href="#s">Steps</a></nav><aside class="sidebar"><h2>Ingredients</h2><ul><li>600 g cod</li></ul></aside>` +
		prose + `<div class="comment"><a href="more.html">Ann</a>: use 700 g.</div><form><label>Plates <input value="4"></label></form></main><footer>Terms</footer></body></html>`
	p, err := Readable([]byte(page), "text/html", "https://example.org/a/soup.html", shown)
	if err != nil || p.Whole {
		t.Errorf("whole %v, %v", p.Whole, err)
	}
	for _, want := range []string{"600 g cod", "[Ann](https://example.org/a/more.html)", "use 700 g", "Plates 4", "twenty minutes"} {
		if !strings.Contains(p.Markdown, want) {
			t.Errorf("no %q in\n%s", want, p.Markdown)
		}
	}
	for _, never := range []string{"Home", "Buy pans", "Terms", "Steps"} {
		if strings.Contains(p.Markdown, never) {
			t.Errorf("%q is in\n%s", never, p.Markdown)
		}
	}
}

// A box beside the prose of an article is part of it, unless it advertises.
func TestReadable_keepsAsides(t *testing.T) {
	t.Parallel()
	p, err := Readable([]byte(strings.Replace(article(`<aside class="sidebar"><p>High water at 04:12</p></aside><aside class="ad"><p>Buy boots</p></aside>`), "<article>", `<article class="post">`, 1)), "text/html", "", shown)
	if err != nil || !strings.Contains(p.Markdown, "04:12") || strings.Contains(p.Markdown, "boots") {
		t.Errorf("%v:\n%s", err, p.Markdown)
	}
}

func TestConvert_formsAndLists(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		`<form><label>Name <input value="Ellen Marsh"></label><label>Plan <select><option>Basic</option><option selected>Gold</option></select></label><textarea>My remark 17
and 18</textarea><input type="checkbox" checked> News <input type="radio"> None<input type="hidden" value="token"><input type="password" value="secret"></form>`: "Name Ellen Marsh\n\nPlan Gold\n\nMy remark 17  \nand 18\n\n☑ News ☐ None",
		`<ol start="4"><li>Four</li><li>Five</li><li value="8">Eight<ol><li>in</li></ol></li></ol>`: "4. Four\n5. Five\n\n8. Eight\n   \n   1. in",
		`<ol reversed><li>two</li><li>one</li></ol>`:                                                "2. two\n\n1. one",
		`<ol><li>a</li><li>b</li></ol>`:                                                             "1. a\n2. b",
	} {
		doc, err := Parse([]byte("<body>"+page), "text/html; charset=utf-8")
		if err != nil {
			t.Fatal(err)
		}
		got, err := Convert(doc, shown)
		if diff := cmp.Diff(want, strings.TrimSpace(got)); diff != "" || err != nil {
			t.Errorf("%s\n%v (-want +got):\n%s", page, err, diff)
		}
	}
}
