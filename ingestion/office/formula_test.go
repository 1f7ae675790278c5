package office

import "testing"

func TestFormula(t *testing.T) {
	t.Parallel()
	r := func(s string) string { return `<m:r><m:t>` + s + `</m:t></m:r>` }
	e := func(s string) string { return `<m:e>` + s + `</m:e>` }
	d := func(left, right, inside string) string {
		return `<m:d><m:dPr><m:begChr m:val="` + left + `"/><m:endChr m:val="` + right + `"/></m:dPr>` + inside + `</m:d>`
	}
	matrix := `<m:m><m:mr>` + e(r("1")) + e(r("0")) + `</m:mr><m:mr>` + e(r("0")) + e(r("-1")) + `</m:mr></m:m>`
	for name, test := range map[string]struct{ source, want string }{
		"fraction in a root": {`<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/>` + e(`<m:f><m:num>`+r("a+b")+`</m:num><m:den>`+r("c")+`</m:den></m:f>`) + `</m:rad>`, `\sqrt{\frac{a+b}{c}}`},
		"two fractions":      {`<m:rad><m:deg>` + r("3") + `</m:deg>` + e(`<m:sSup>`+e(r("ab"))+`<m:sup>`+r("2")+`</m:sup></m:sSup>`+r("+")+`<m:sSup>`+e(r("c"))+`<m:sup>`+r("10")+`</m:sup></m:sSup>`) + `</m:rad>`, `\sqrt[3]{{ab}^2+c^{10}}`},
		"binomial":           {`<m:d>` + e(`<m:f><m:fPr><m:type m:val="noBar"/></m:fPr><m:num>`+r("n")+`</m:num><m:den>`+r("k")+`</m:den></m:f>`) + `</m:d>`, `\left( \genfrac{}{}{0pt}{}{n}{k}\right)`},
		"matrix":             {matrix, `\begin{matrix} 1 & 0 \\ 0 & -1 \end{matrix}`},
		"bracketed matrix":   {d("[", "]", e(matrix)), `\begin{bmatrix} 1 & 0 \\ 0 & -1 \end{bmatrix}`},
		"odd brackets":       {d("[", ")", e(matrix)), `\left[ \begin{matrix} 1 & 0 \\ 0 & -1 \end{matrix}\right)`},
		"cases":              {d("{", "", e(`<m:eqArr>`+e(r("1, &amp;x&gt;0"))+e(r("0, &amp;else"))+`</m:eqArr>`)), `\begin{cases} 1, &x>0 \\ 0, &else \end{cases}`},
		"equations":          {`<m:eqArr>` + e(r("a&amp;=b")) + e(r("c&amp;=d")) + `</m:eqArr>`, `\begin{aligned} a&=b \\ c&=d \end{aligned}`},
		"vector":             {`<m:acc><m:accPr><m:chr m:val="⃗"/></m:accPr>` + e(r("v")) + `</m:acc>` + r("≤50 % &amp; {α}"), `\vec{v}\le 50 \% \& \{α\}`},
		"long vector":        {`<m:acc><m:accPr><m:chr m:val="⃗"/></m:accPr>` + e(r("AB")) + `</m:acc>`, `\overrightarrow{AB}`},
		"hat, bar":           {`<m:acc>` + e(r("x")) + `</m:acc><m:bar><m:barPr><m:pos m:val="top"/></m:barPr>` + e(r("y")) + `</m:bar><m:bar>` + e(r("z")) + `</m:bar>`, `\hat{x}\overline{y}\underline{z}`},
		"another accent":     {`<m:acc><m:accPr><m:chr m:val="⃰"/></m:accPr>` + e(r("x")) + `</m:acc>`, `\overset{⃰}{x}`},
		"sum":                {`<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>` + r("k=1") + `</m:sub><m:sup>` + r("n") + `</m:sup>` + e(`<m:sSubSup>`+e(r("x"))+`<m:sub>`+r("k")+`</m:sub><m:sup>`+r("2")+`</m:sup></m:sSubSup>`) + `</m:nary>`, `\sum_{k=1}^{n} x_k^2`},
		"integral":           {`<m:nary><m:naryPr><m:subHide m:val="1"/></m:naryPr><m:sub/><m:sup/>` + e(r("f")) + `</m:nary>`, `\int f`},
		"limit":              {`<m:func><m:fName><m:limLow>` + e(`<m:r><m:rPr><m:sty m:val="p"/></m:rPr><m:t>lim</m:t></m:r>`) + `<m:lim>` + r("n→∞") + `</m:lim></m:limLow></m:fName>` + e(r("a")) + `</m:func>`, `\lim_{n→\infty} a`},
		"function":           {`<m:func><m:fName>` + r("sin") + `</m:fName>` + e(r("x")) + `</m:func>`, `\sin x`},
		"brace below":        {`<m:limLow>` + e(`<m:groupChr>`+e(r("a+b"))+`</m:groupChr>`) + `<m:lim>` + r("n") + `</m:lim></m:limLow>`, `\underbrace{a+b}_n`},
		"text":               {`<m:r><m:rPr><m:nor/></m:rPr><m:t>if 5 % of </m:t></m:r>` + r("x"), `\text{if 5 \% of }x`},
		"before":             {`<m:sPre><m:sub>` + r("92") + `</m:sub><m:sup>` + r("238") + `</m:sup>` + e(r("U")) + `</m:sPre>`, `{}_{92}^{238}U`},
		"parts":              {`<m:d>` + e(r("a")) + e(r("b")) + `</m:d>`, `(a\vert b)`},
		"MathML":             {`<math><mfenced open="[" close="]"><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable></mfenced><mover><mi>v</mi><mo>→</mo></mover><munder><mo>lim</mo><mi>n</mi></munder><munderover><mo>∑</mo><mn>1</mn><mi>n</mi></munderover></math>`, `\begin{bmatrix} 1 & 2 \end{bmatrix}\vec{v}\lim_n\sum_{1}^{n}`},
	} {
		n, err := parse([]byte(`<m:oMath xmlns:m="m">` + test.source + `</m:oMath>`))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := formula(n.first("oMath")), "$"+test.want+"$"; got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
	n, err := parse([]byte(`<math><menclose notation="longdiv"><mn>12</mn><mn>34</mn></menclose></math>`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := formula(n.first("math")), "12 34 (an equation that cannot be written as text: look at the original)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
