package main

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// textLine is a line of a text layer, in points from the top left corner of the page as it is displayed.
type textLine struct {
	text      string
	top, left float64
	size      float64
	bold      bool
	invisible bool // drawn without ink, as the text behind a scan is
	font      string
}

// pictureBox is the area of a picture on the page.
type pictureBox struct{ x0, y0, x1, y1 float64 }

// layer is what MuPDF knows of a page's text and pictures.
type layer struct {
	width, height float64
	lines         []textLine
	pictures      []pictureBox
}

// The HTML that MuPDF prints for a page has one form only: a div with the size, an img for each picture and a p for each
// line, each on a line of its own. It is not a matter of reading HTML in general.
var (
	divSize  = regexp.MustCompile(`^<div id="page\d+" style="width:([\d.]+)pt;height:([\d.]+)pt"`)
	lineHead = regexp.MustCompile(`^<p style="top:(-?[\d.]+)pt;left:(-?[\d.]+)pt;line-height:([\d.]+)pt">`)
	spanHead = regexp.MustCompile(`<span style="font-family:([^;"]*);font-size:([\d.]+)pt([^"]*)">`)
	tag      = regexp.MustCompile(`<[^>]*>`)
	matrix   = regexp.MustCompile(`^<img style="position:absolute;transform:matrix\(([^)]*)\)" src="data:image/[a-z]+;base64,`)
)

// readLayer reads the HTML of a page.
func readLayer(page string) layer {
	var l layer
	for len(page) > 0 {
		var line string
		if strings.HasPrefix(page, "<img ") { // the picture within may hold line breaks
			line, page, _ = strings.Cut(page, ">")
		} else {
			line, page, _ = strings.Cut(page, "\n")
		}
		switch {
		case strings.HasPrefix(line, "<p "):
			if found, ok := readLine(line); ok {
				l.lines = append(l.lines, found)
			}
		case strings.HasPrefix(line, "<img "):
			if box, ok := readPicture(line); ok {
				l.pictures = append(l.pictures, box)
			}
		case strings.HasPrefix(line, "<div "):
			if m := divSize.FindStringSubmatch(line); m != nil {
				l.width, l.height = number(m[1]), number(m[2])
			}
		}
	}
	l.dropOutside()
	return l
}

func readLine(s string) (textLine, bool) {
	head := lineHead.FindStringSubmatch(s)
	if head == nil {
		return textLine{}, false
	}
	line := textLine{top: number(head[1]), left: number(head[2]), size: number(head[3])}
	spans := spanHead.FindAllStringSubmatchIndex(s, -1)
	var longest, bold, unseen int
	for i, at := range spans {
		end := len(s)
		if i+1 < len(spans) {
			end = spans[i+1][0]
		}
		n := utf8.RuneCountInString(tag.ReplaceAllString(s[at[1]:end], ""))
		if strings.HasSuffix(s[:at[0]], "<b>") || strings.HasSuffix(s[:at[0]], "<b><i>") {
			bold += n
		}
		if !strings.Contains(s[at[6]:at[7]], "color:") {
			unseen += n
		}
		if n > longest {
			longest, line.font, line.size = n, s[at[2]:at[3]], number(s[at[4]:at[5]])
		}
	}
	line.text = strings.TrimSpace(normal(html.UnescapeString(tag.ReplaceAllString(s, ""))))
	total := utf8.RuneCountInString(line.text)
	line.bold, line.invisible = bold*2 > total, unseen*2 > total
	return line, line.text != ""
}

// dropOutside forgets the lines that begin outside of the page: they are not displayed either.
func (l *layer) dropOutside() {
	kept := l.lines[:0]
	for _, line := range l.lines {
		if line.top+line.size > 0 && line.top < l.height && line.left < l.width && line.left > -l.width {
			kept = append(kept, line)
		}
	}
	l.lines = kept
}

func number(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0 // "1.2.3" passes the patterns; no number of MuPDF does
	}
	return f
}
