package mupdf

import (
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/ingestion/formula"
	"github.com/vaultflow/vaultflow/ingestion/layout"
	"github.com/vaultflow/vaultflow/ingestion/script"
)

// The HTML that MuPDF prints for a page always has the same form: a div with the size and a p for each line of text, each on its own
// line. So no HTML parser is needed. Before it, read.c prints numbers of letters, boxes to tick, lines through words, and an img for each picture.
var divSize = regexp.MustCompile(`^<div id="page\d+" style="width:([\d.]+)pt;height:([\d.]+)pt"`)

// The beginnings of lines and spans are read by hand, because regular expressions took most of the time of reading lines.

// lineHead reads what ^<p style="top:(-?[\d.]+)pt;left:(-?[\d.]+)pt;line-height:([\d.]+)pt"> matches.
func lineHead(s string) (top, left, height float64, ok bool) {
	var found [3]float64
	for i, name := range []string{`<p style="top:`, "pt;left:", "pt;line-height:"} {
		value, begins := strings.CutPrefix(s, name)
		s = strings.TrimLeft(strings.TrimPrefix(value, "-"), numerals)
		written := value[:len(value)-len(s)]
		if !begins || strings.Trim(written, "-") == "" || i == 2 && written[0] == '-' {
			return 0, 0, 0, false
		}
		found[i] = number(written)
	}
	return found[0], found[1], found[2], strings.HasPrefix(s, `pt">`)
}

const numerals = "0123456789."

// spanHead finds what <span style="font-family:([^;"]*);font-size:([\d.]+)pt([^"]*)"> matches, and its groups.
func spanHead(s string) (found [][8]int) {
	const start, size = `<span style="font-family:`, ";font-size:"
	for at := 0; ; {
		i := strings.Index(s[at:], start)
		if i < 0 {
			return found
		}
		begin := at + i
		at = begin + len(start)
		family := strings.IndexAny(s[at:], `;"`)
		if family < 0 || !strings.HasPrefix(s[at+family:], size) {
			continue
		}
		points := at + family + len(size)
		unit := points + len(s[points:]) - len(strings.TrimLeft(s[points:], numerals))
		if unit == points || !strings.HasPrefix(s[unit:], "pt") {
			continue
		}
		rest := unit + len("pt")
		end := strings.IndexByte(s[rest:], '"')
		if end < 0 || !strings.HasPrefix(s[rest+end:], `">`) {
			continue
		}
		found = append(found, [8]int{begin, rest + end + 2, at, at + family, points, unit, rest, rest + end})
		at = rest + end + 2
	}
}

// untagged removes elements' tags from a text.
func untagged(s string) string {
	if strings.IndexByte(s, '<') < 0 {
		return s
	}
	var b strings.Builder
	for {
		text, rest, _ := strings.Cut(s, "<")
		_, after, closed := strings.Cut(rest, ">")
		if !closed {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(text)
		s = after
	}
}

// readHTML reads the HTML of a page. It has no right edges: they are estimated from the size of the type. On pages with formulas, lines have
// their glyphs, still without places.
func readHTML(page string) layout.Page {
	l, formulas := readElements(page, false)
	if formulas {
		l, _ = readElements(page, true)
	}
	dropOutside(&l)
	dropDoubled(&l)
	return l
}

// readElements reads the elements of a page, with the fonts of letters if asked, and reports whether any is one of formulas.
func readElements(page string, fonts bool) (l layout.Page, formulas bool) {
	var ends []float64 // of the lines that follow
	for len(page) > 0 {
		var line string
		line, page, _ = strings.Cut(page, "\n")
		switch {
		case strings.HasPrefix(line, "<p "):
			found, math, ok := readLine(line, fonts)
			formulas = formulas || math
			if len(ends) > 0 {
				if found.Invisible && ends[0] > found.Box.X0 { // the SVG does not have its letters
					found.Box.X1 = ends[0]
				}
				ends = ends[1:]
			}
			if ok {
				l.Lines = append(l.Lines, found)
			}
		case strings.HasPrefix(line, "<letters "):
			if n := strings.Fields(strings.Trim(line, "<>")); len(n) == 4 {
				l.Hidden, l.Drawn, l.Damage = int(number(n[1])), int(number(n[2])), layout.Damage(number(n[3]))
			}
		case strings.HasPrefix(line, "<end "):
			ends = append(ends, number(strings.Trim(line[len("<end "):], ">\n")))
		case strings.HasPrefix(line, "<tick "):
			if at := strings.Fields(strings.Trim(line, "<>")); len(at) == 6 {
				l.Ticks = append(l.Ticks, layout.Tick{Box: layout.Box{X0: number(at[1]), Y0: number(at[2]), X1: number(at[3]), Y1: number(at[4])}, On: at[5] == "1"})
			}
		case strings.HasPrefix(line, "<struck "):
			if at := strings.Fields(strings.Trim(line, "<>")); len(at) == 5 {
				l.Struck = append(l.Struck, layout.Box{X0: number(at[1]), Y0: number(at[2]), X1: number(at[3]), Y1: number(at[4])})
			}
		case strings.HasPrefix(line, "<img "):
			if at := strings.Fields(strings.Trim(line, "<>")); len(at) == 5 {
				l.Pictures = append(l.Pictures, layout.Box{X0: number(at[1]), Y0: number(at[2]), X1: number(at[3]), Y1: number(at[4])})
			}
		case strings.HasPrefix(line, "<div "):
			if m := divSize.FindStringSubmatch(line); m != nil {
				l.Width, l.Height = number(m[1]), number(m[2])
			}
		}
	}
	return l, formulas
}

func readLine(s string, fonts bool) (line layout.Line, formulas, ok bool) {
	top, left, height, ok := lineHead(s)
	if !ok {
		return layout.Line{}, false, false
	}
	line.Size = height
	spans := spanHead(s)
	var longest, bold, unseen int
	pieces := make([]span, len(spans))
	for i, at := range spans {
		end, from := len(s), 0
		if i+1 < len(spans) {
			end = spans[i+1][0]
		}
		if i > 0 {
			from = spans[i-1][1]
		}
		text, family := untagged(s[at[1]:end]), s[at[2]:at[3]]
		n := utf8.RuneCountInString(text)
		formulas = formulas || formula.IsMath(family)
		before := s[:at[0]]
		pieces[i] = span{html.UnescapeString(text), number(s[at[4]:at[5]]), strings.Contains(s[from:at[0]], "<sup>")}
		heavy := strings.HasSuffix(before, "<b>") || strings.HasSuffix(before, "<b><i>")
		if heavy {
			bold += n
		}
		if fonts {
			line.Glyphs = append(line.Glyphs, glyphsOf(text, fontName(family, heavy, strings.HasSuffix(before, "<i>")))...)
		}
		if !strings.Contains(s[at[6]:at[7]], "color:") {
			unseen += n
		}
		if n > longest {
			longest, line.Font, line.Size = n, family, number(s[at[4]:at[5]])
		}
	}
	text := layout.Normal(scripted(pieces, line.Size))
	line.Text = strings.TrimSpace(text)
	left += blankWidth(line) * line.Size * float64(len(text)-len(strings.TrimLeft(text, " ")))
	total := utf8.RuneCountInString(line.Text)
	line.Bold, line.Invisible = bold*2 > total, unseen*2 > total
	line.Box = layout.Box{X0: left, Y0: top, X1: left + float64(total)*line.Size*layout.CharWidth, Y1: top + height}
	return line, formulas, line.Text != ""
}

// blankWidth is about the width of a blank, in sizes: that of Courier or Helvetica.
func blankWidth(line layout.Line) float64 {
	if line.Mono() {
		return 0.6
	}
	return 0.278
}

// fontName returns the name of a font with its style, which MuPDF writes as elements.
func fontName(family string, bold, italic bool) string {
	name, _, _ := strings.Cut(family, ",")
	if bold {
		name += "-Bold"
	}
	if italic {
		name += "-Italic"
	}
	return name
}

// glyphsOf returns the letters of a text in one font. As elsewhere in a line, there are none for blanks, and a ligature is several letters.
func glyphsOf(text, family string) []formula.Glyph {
	var out []formula.Glyph
	for _, r := range layout.Normal(html.UnescapeString(text)) {
		if !unicode.IsSpace(r) {
			out = append(out, formula.Glyph{Text: string(r), Font: family})
		}
	}
	return out
}

// dropOutside drops the lines that begin outside the page, where nobody sees them.
func dropOutside(l *layout.Page) {
	kept := l.Lines[:0]
	for _, line := range l.Lines {
		if line.Box.Y1 > 0 && line.Box.Y0 < l.Height && line.Box.X0 < l.Width && line.Box.X0 > -l.Width {
			kept = append(kept, line)
		}
	}
	l.Lines = kept
}

// dropDoubled drops lines that are printed again a little aside, to look bold.
func dropDoubled(l *layout.Page) {
	seen := map[string][]layout.Box{}
	l.Lines = slices.DeleteFunc(l.Lines, func(line layout.Line) bool {
		near := 0.12 * line.Size
		before := seen[line.Text]
		if slices.ContainsFunc(before[max(0, len(before)-8):], func(b layout.Box) bool {
			return math.Abs(b.X0-line.Box.X0) <= near && math.Abs(b.Y0-line.Box.Y0) <= near
		}) {
			return true
		}
		seen[line.Text] = append(before, line.Box)
		return false
	})
}

func number(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0 // "1.2.3" passes the patterns; no number of MuPDF does
	}
	return f
}

// sideBySide reports whether any lines are beside one another. If none are, the page has neither columns nor tables, and
// MuPDF's HTML is all that is needed.
func sideBySide(page layout.Page) bool {
	rows := map[int]float64{}
	for _, line := range page.Lines {
		row := int(line.Box.Y0 / 12)
		for _, at := range []int{row - 1, row, row + 1} {
			if left, ok := rows[at]; ok && (left-line.Box.X0 > 2*line.Size || line.Box.X0-left > 2*line.Size) {
				return true
			}
		}
		rows[row] = line.Box.X0
	}
	return false
}

// sized reports whether most lines of a page have a size that type has: that of bitmap fonts is their dots'.
func sized(page layout.Page) bool {
	tiny := 0
	for _, l := range page.Lines {
		if l.Size < 1 {
			tiny++
		}
	}
	return tiny*2 <= len(page.Lines)
}

// hasLarge reports whether a page of text has type that is so much larger that it may be a stamp or watermark. Only glyphs show its angle.
func hasLarge(page layout.Page) bool {
	const lines, times, large = 8, 1.8, 18
	if len(page.Lines) < lines {
		return false
	}
	sizes := make([]float64, len(page.Lines))
	for i, l := range page.Lines {
		sizes[i] = l.Size
	}
	slices.Sort(sizes)
	largest := sizes[len(sizes)-1]
	return largest >= large && largest >= times*sizes[len(sizes)/2]
}

// needsGlyphs reports whether the HTML of a page is not enough to read it: its text does not run down the page, some letters are
// spaced, run from right to left, may be lowered, or have no size, or it has listings, whose blanks the HTML leaves out.
func needsGlyphs(page layout.Page) bool {
	rising, typed := 0, 0
	for i, l := range page.Lines {
		if l.Mono() {
			typed++
		}
		if l.Size < 1 || len(l.Glyphs) > 0 || mayBeSpaced(l.Text) || hasAccents(l.Text) || script.HasLowered(l.Text) || strings.ContainsFunc(l.Text, layout.RightToLeft) {
			return true
		}
		if i > 0 && l.Box.Y0 < page.Lines[i-1].Box.Y0+1 {
			rising++
		}
	}
	return rising*3 > len(page.Lines) || typed > 1
}
