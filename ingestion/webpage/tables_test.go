package webpage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// No two cells may join, whatever is in a table: numbers would become other numbers.
func TestConvert_cellsStayApart(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ page, want string }{
		"a list":              {`<table><tr><th>Day</th><th>Food</th></tr><tr><td>Mon</td><td><ul><li>soup</li><li><p>bread</p></li></ul></td></tr><tr><td>12</td><td>34</td></tr></table>`, "| Day | Food |\n|---|---|\n| Mon | • soup<br>• bread |\n| 12 | 34 |"},
		"numbered":            {`<table><tr><td>Do</td><td><ol start="3"><li>fill</li><li>stir</li></ol></td></tr></table>`, "| Do | 3\\. fill<br>4\\. stir |\n|---|---|"},
		"headings":            {`<table><tr><td><h3>Plan A</h3></td><td><h3>Plan B</h3></td></tr><tr><td>19</td><td>29</td></tr></table>`, "| Plan A | Plan B |\n|---|---|\n| 19 | 29 |"},
		"a quotation, a rule": {`<table><tr><td><blockquote>said</blockquote></td><td>7<hr>8</td></tr><tr><td>15</td><td>16</td></tr></table>`, "| said | 7<br>8 |\n|---|---|\n| 15 | 16 |"},
		"code":                {"<table><tr><td>1<br>2</td><td><pre>a = 1\nb = 2</pre></td></tr><tr><td>77</td><td>88</td></tr></table>", "| 1<br>2 | `a = 1`<br>`b = 2` |\n|---|---|\n| 77 | 88 |"},
		"paragraphs":          {`<table><tr><td><p>Sum</p><p>net</p></td><td><p>100</p></td></tr></table>`, "| Sum<br>net | 100 |\n|---|---|"},
		"tables":              {`<table role="presentation"><tr><td><table><tr><td>A</td><td>1</td></tr></table></td><td>5</td></tr><tr><td>500</td><td>600</td></tr></table>`, "| A | 1 |\n|---|---|\n\n5\n\n| 500 | 600 |\n|---|---|"},
		"a table below heads": {`<table><tr><th>Item</th><th>Size</th></tr><tr><td>Rope</td><td><table><tr><td>10</td><td>12</td></tr><tr><td>m</td><td>mm</td></tr></table></td></tr></table>`, "| Item | Size |\n|---|---|\n| Rope | 10 · 12<br>m · mm |"},
		"a table in a frame":  {`<table><tr><td><table><tr><th>Item</th><th>Qty</th></tr><tr><td>Loaf</td><td>2</td></tr></table></td></tr></table>`, "| Item | Qty |\n|---|---|\n| Loaf | 2 |"},
		"presentation":        {`<table role="presentation"><tr><td>Total</td><td>119</td></tr></table>`, "| Total | 119 |\n|---|---|"},
		"in bold":             {`<b><table><tr><td>Total</td><td>119</td></tr></table></b>`, "| **Total** | **119** |\n|---|---|"},
		"in a link":           {`<a href="https://x.org/"><table><tr><td>12</td><td>34</td></tr></table></a>`, "| [12](https://x.org/) | [34](https://x.org/) |\n|---|---|"},
		"heads at the side":   {`<table><tr><td>a</td><td>1</td></tr><tr><th>b</th><td>2</td></tr></table>`, "| a | 1 |\n|---|---|\n| b | 2 |"},
		"by style":            {`<div style="display:table"><div style="display:table-row"><div style="display:table-cell">Left1</div><div style="display: table-cell">44</div></div></div>`, "| Left1 | 44 |\n|---|---|"},
		"cells without table": {`<div style="display:flex"><span style="display:block">12</span><span style="display:block">34</span></div>`, "12\n\n34"},
		"spans":               {`<ul><li><span class="n">Rope</span><span class="p">19.90</span></li><li><b>12</b><b>34</b></li><li><span>Home</span><span>Hotels</span></li></ul>`, "- Rope 19.90\n- **12** **34**\n- Home Hotels"},
		"one word":            {`<p><span class="drop">T</span><span>he</span> <span>1</span><span>2</span> <code><i>ab</i><b>12</b></code></p>`, "The 12 `ab12`"},
		"terms":               {`<dl><dt>Net</dt><dd>100</dd><dt>VAT</dt><dd>19</dd></dl><select><option>12</option><option>34</option></select>`, "Net\n\n100\n\nVAT\n\n19\n\n12"},
		"caption":             {`<table><caption>Fees 5</caption><tr><td>1</td><td>2</td></tr></table>`, "Fees 5\n\n| 1 | 2 |\n|---|---|"},
		"wide":                {`<table><tr><td rowspan="99999999">1</td><td>2</td></tr></table>`, "| 1 | 2 |\n|---|---|"},
		"two names over two":  {`<table><tr><th></th><th colspan=2>2023</th><th colspan=2>2024</th></tr><tr><td>Oslo</td><td>1</td><td>2</td><td>3</td><td>4</td></tr><tr><td rowspan=2 colspan=2>A</td><td>5</td><td colspan=2>B</td></tr><tr><td>6</td><td>7</td><td>8</td></tr></table>`, "|  | 2023 |  | 2024 |  |\n|---|---|---|---|---|\n| Oslo | 1 | 2 | 3 | 4 |\n| A |  | 5 | B |  |\n|  |  | 6 | 7 | 8 |"},
		"a page":              {`<table><tr><td><a href="/">Menu</a></td><td><h1>Tides</h1><p>They come.</p><ul><li>one</li></ul></td></tr></table>`, "Menu\n\n# Tides\n\nThey come.\n\n- one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := Parse([]byte("<body>"+test.page), "text/html; charset=utf-8")
			if err != nil {
				t.Fatal(err)
			}
			got, err := Convert(doc, shown)
			if diff := cmp.Diff(test.want, strings.TrimSpace(got)); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Raised digits may not join the number before them.
func TestConvert_scripts(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		`Pressure 10<sup>5</sup> Pa on 5 m<sup>2</sup>, CO<sub>2</sub>, the 3<sup>rd</sup>, cost 120<sup>1</sup> euros`:         "Pressure 10⁵ Pa on 5 m², CO₂, the 3rd, cost 120¹ euros",
		`10<sup><i>n</i>+1</sup>, 10<sup>-<b>2</b></sup>, v<sub>max</sub>, <b>2</b><sup>b</sup>`:                                "10^(*n*+1), 10⁻**²**, v\\_(max), **2**^(b)",
		`120<sup><a href="https://x.org/1">7</a></sup>, 120<sup>[<a href="https://x.org/1">7</a>]</sup>, 5<sup>*</sup>`:         "120[⁷](https://x.org/1), 120\\[[7](https://x.org/1)], 5*",
		`10<span style="vertical-align: super; font-size: 60%">3</span> and H<span style="vertical-align:sub">2</span>O`:        "10³ and H₂O",
		`<table><tr><td>10<sup>3</sup></td><td>20</td></tr></table>`:                                                            "| 10³ | 20 |\n|---|---|",
		`<p>as said<a href="#n" role="doc-noteref"><sup>1</sup></a></p><aside id="n" role="doc-footnote">2<sup>3</sup></aside>`: "as said[^1]\n\n[^1]: 2³",
		`<p>as said<sup><a href="#n" role="doc-noteref">1</a></sup></p><aside id="n" role="doc-footnote">x</aside>`:             "as said[^1]\n\n[^1]: x",
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
