package mupdf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// drawing is a page as MuPDF writes it twice: its lines in HTML, its glyphs in SVG.
type drawing struct{ html, svg strings.Builder }

// add adds a line whose letters are half as wide as high.
func (d *drawing) add(x, base, size float64, font, text string) {
	fmt.Fprintf(&d.html, "<p style=\"top:%.1fpt;left:%.1fpt;line-height:%.1fpt\"><span style=\"font-family:%s,serif;font-size:%.1fpt;color:#000000\">%s</span></p>\n",
		base-0.8*size, x, size, font, size, text)
	for _, r := range text {
		if r != ' ' {
			fmt.Fprintf(&d.svg, "<use data-text=\"%c\" xlink:href=\"#%s_%d\" transform=\"matrix(%g,0,0,-%g,%g,%g)\"/>\n", r, font, r, size, size, x, base)
		}
		x += size / 2
	}
}

func (d *drawing) read() string {
	page := readHTML(pageHead + d.html.String())
	addSVG(&page, d.svg.String())
	_, marked := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	return marked
}

func TestPageText_writesFormulas(t *testing.T) {
	t.Parallel()
	var d drawing
	d.add(60, 100, 10, "Times", "The slope of a line is given by the following fraction, as everybody knows,")
	d.add(250, 130, 10, "CMMI10", "m")
	d.add(257, 130, 10, "CMR10", "=")
	d.add(270, 123, 10, "CMMI10", "y")
	d.add(275, 125, 7, "CMR7", "2")
	d.add(270, 137, 10, "CMMI10", "x")
	d.svg.WriteString("<path d=\"M 268 127.5 L 282 127.5 \" fill=\"none\" stroke=\"#000000\"/>\n")
	d.add(60, 160, 10, "Times", "where the sign of the letter m says whether it rises or falls to the right.")
	want := "The slope of a line is given by the following fraction, as everybody knows,\n\n$$m=\\frac{y_{2}}{x}$$\n\nwhere the sign of the letter m says whether it rises or falls to the right."
	if got := d.read(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A formula within a text is written as one, with its fraction and scripts, for which MuPDF divides the line. What else the text says stays.
func TestPageText_writesFormulasInText(t *testing.T) {
	t.Parallel()
	var d drawing
	d.add(60, 100, 10, "Times", "For $5, the mean is")
	d.add(160, 96, 7, "CMMI7", "a")
	d.add(160, 105, 7, "CMMI7", "b")
	d.svg.WriteString("<path d=\"M 159.5 97.5 L 164.5 97.5 \" fill=\"none\" stroke=\"#000000\"/>\n")
	d.add(168, 100, 10, "CMSY10", "∈")
	d.add(176, 100, 10, "CMMI10", "x")
	d.add(181, 96, 7, "CMR7", "2")
	d.add(181, 103, 7, "CMMI7", "i")
	d.add(185, 100, 10, "Times", ", and others that nobody has written down")
	d.add(60, 112, 10, "Times", "so far, but")
	d.add(120, 112, 10, "CMMI10", "y")
	d.add(128, 112, 10, "CMR10", "=")
	d.add(60, 124, 10, "CMMI10", "z")
	d.add(72, 124, 10, "Times", "is known to all.")
	want := `For \$5, the mean is $\frac{a}{b}\in x_{i}^{2}$, and others that nobody has written down so far, but $y=z$ is known to all.`
	if got := d.read(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What may be the denominator of a formula above is no formula of its own, and the number of a note is no exponent.
func TestPageText_leavesDoubtfulFormulas(t *testing.T) {
	t.Parallel()
	var d drawing
	d.add(60, 100, 10, "Times", "The values of the function are")
	d.add(220, 100, 10, "CMMI10", "x")
	d.add(225, 96, 7, "CMR7", "1")
	d.add(235, 100, 10, "Times", "and all others")
	d.add(60, 200, 7, "CMR7", "1")
	d.add(66, 202, 10, "Times", "A note about these values.")
	if got := d.read(); strings.Contains(got, "$") {
		t.Error(got)
	}
}

// A line over a letter is above the box of its line.
func TestPageText_seesLinesOverLetters(t *testing.T) {
	t.Parallel()
	var d drawing
	d.add(60, 100, 10, "Times", "The complement of a set is written with a line above it, as everybody knows,")
	d.add(250, 130, 10, "CMMI10", "A")
	d.add(257, 130, 10, "CMR10", "=")
	d.add(264, 130, 10, "CMMI10", "B")
	d.svg.WriteString("<path d=\"M 250 119.5 L 255 119.5 \" fill=\"none\" stroke=\"#000000\"/>\n")
	if got := d.read(); !strings.Contains(got, `$$\overline{A}=B$$`) {
		t.Error(got)
	}
}

// A formula whose accent was read with the line above is not written without it.
func TestPageText_losesNoAccents(t *testing.T) {
	t.Parallel()
	var d drawing
	d.html.WriteString(`<p style="top:92.0pt;left:60.0pt;line-height:10.0pt"><span style="font-family:Times,serif;font-size:10.0pt;color:#000000">Its force is:</span>` +
		"<span style=\"font-family:CMMI10,serif;font-size:10.0pt;color:#000000\">⃗</span></p>\n")
	for i, r := range "Its force is:" {
		if r != ' ' {
			fmt.Fprintf(&d.svg, "<use data-text=\"%c\" xlink:href=\"#T_%d\" transform=\"matrix(10,0,0,-10,%d,100)\"/>\n", r, r, 60+5*i)
		}
	}
	d.svg.WriteString("<use data-text=\"⃗\" xlink:href=\"#M_1\" transform=\"matrix(10,0,0,-10,252,127.5)\"/>\n")
	d.add(250, 130, 10, "CMMI10", "F=G")
	if got := d.read(); strings.Contains(got, "$$F=G$$") {
		t.Error(got)
	}
}
