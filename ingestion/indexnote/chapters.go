package indexnote

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/vault"
)

const (
	rangePages    = 20  // of a chapter, in documents without a usable outline
	mostChapters  = 150 // more are not chapters
	chapterPages  = 80  // in a longer chapter, the outline's next level is used
	outlineLevels = 3
	titleBytes    = 80
)

// Chapters divides the pages of a long document among notes: along the first level of its outline that makes chapters of bearable
// length, else in ranges. A document of at most this many pages has none, nor one that would be a single chapter.
func Chapters(m manifest.Manifest, outline []extract.OutlineItem, most int) []manifest.Chapter {
	switch m.Source.Kind {
	case filetype.KindPDF, filetype.KindImage, filetype.KindOffice, filetype.KindHTML, filetype.KindEmail:
	default:
		return nil
	}
	if len(m.Pages) <= most {
		return nil
	}
	if chapters := outlined(m.Pages, outline); chapters != nil {
		return chapters
	}
	var chapters []manifest.Chapter
	digits := len(strconv.Itoa(m.Pages[len(m.Pages)-1].N))
	for pages := range slices.Chunk(m.Pages, rangePages) {
		first, last := pages[0].N, pages[len(pages)-1].N
		if len(pages) < rangePages/4 && len(chapters) > 0 { // the rest is too short for a chapter
			chapters[len(chapters)-1].Last = last
			break
		}
		chapters = append(chapters, manifest.Chapter{First: first, Last: last})
	}
	if len(chapters) < 2 {
		return nil
	}
	for i := range chapters {
		c := &chapters[i]
		c.Note, c.Title = path.Join(vault.ChaptersDir, fmt.Sprintf("pages %0*d-%0*d.md", digits, c.First, digits, c.Last)), pagesOf(*c)
	}
	return chapters
}

// outlined returns chapters by the outline, or nil.
func outlined(pages []manifest.Page, outline []extract.OutlineItem) []manifest.Chapter {
	var best []manifest.Chapter
	for level := 1; level <= outlineLevels; level++ {
		chapters := atLevel(pages, outline, level)
		if len(chapters) < 2 || len(chapters) > mostChapters {
			continue
		}
		best = chapters
		if !slices.ContainsFunc(chapters, func(c manifest.Chapter) bool { return c.Last-c.First >= chapterPages }) {
			break
		}
	}
	return best
}

// atLevel returns the chapters that begin where entries of the outline lead, down to a level. Pages before the first entry are a
// chapter of their own, with the number 0.
func atLevel(pages []manifest.Page, outline []extract.OutlineItem, level int) []manifest.Chapter {
	titles := map[int]string{}
	for _, o := range outline {
		if _, known := titles[o.Page]; !known && o.Level <= level {
			titles[o.Page] = markdown.OneLine(o.Title, titleBytes)
		}
	}
	var chapters []manifest.Chapter
	for i, p := range pages {
		title, begins := titles[p.N]
		if i == 0 && !begins {
			title, begins = "Front matter", true
		}
		if begins {
			chapters = append(chapters, manifest.Chapter{Title: title, First: p.N})
		}
		chapters[len(chapters)-1].Last = p.N
	}
	number := 1
	if _, begins := titles[chapters[0].First]; !begins {
		number = 0
	}
	digits := max(2, len(strconv.Itoa(len(chapters))))
	for i := range chapters {
		c := &chapters[i]
		if c.Title == "" {
			c.Title = pagesOf(*c)
		}
		c.Note = path.Join(vault.ChaptersDir, vault.SafeName(fmt.Sprintf("%0*d %s", digits, number, withoutNumber(c.Title, number)), titleBytes)+".md")
		number++
	}
	return chapters
}

// withoutNumber removes a chapter's number from its title, where the note's name begins with it anyway.
func withoutNumber(title string, number int) string {
	rest, found := strings.CutPrefix(title, strconv.Itoa(number))
	short := strings.TrimLeft(rest, ".) :\t")
	if !found || rest == short || short == "" {
		return title
	}
	return short
}

// ComposeChapter returns the note of a chapter: what the user wrote in it in the version before, and the generated block. more is
// text of the user from notes that exist no longer.
func (n *Note) ComposeChapter(c manifest.Chapter, before, more string) ([]byte, error) {
	part := n.ofChapter(c)
	block, err := part.block()
	if err != nil {
		return nil, err
	}
	old := splitNote(before)
	front := ""
	if old.properties != nil && strings.TrimSpace(old.front) != "" {
		front = "---\n" + old.front + "\n---\n"
	}
	text := front + old.above + block + old.below + more
	if old.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return []byte(text), nil
}

// Own returns what the user wrote around the generated block of a note, or "".
func Own(text string) string {
	old := splitNote(text)
	if strings.TrimSpace(old.above+old.below) == "" {
		return ""
	}
	return old.above + old.below
}

// ofChapter returns the note of a chapter in the making.
func (n *Note) ofChapter(c manifest.Chapter) *Note {
	m := *n.Manifest
	m.Pages = slices.DeleteFunc(slices.Clone(m.Pages), func(p manifest.Page) bool { return p.N < c.First || p.N > c.Last })
	return &Note{Manifest: &m, Settings: n.Settings, Original: n.Original, Bundle: n.Bundle, Layout: n.Layout, chapter: &c}
}

// divided reports whether the note is an overview of chapters.
func (n *Note) divided() bool { return n.chapter == nil && len(n.Manifest.Chapters) > 0 }

// here leads from the note to the bundle's folder.
func (n *Note) here() string {
	if n.chapter != nil {
		return "../"
	}
	return "./"
}

// writeOverview lists the chapters, and the outline if it has more.
func writeOverview(n *Note) {
	n.line("")
	n.line("## Chapters")
	n.line("")
	for _, c := range n.Manifest.Chapters {
		line := "- " + chapterLink(n, c, "", c.Title)
		if pages := pagesOf(c); pages != c.Title {
			line += " · " + strings.ToLower(pages[:1]) + pages[1:]
		}
		n.line(line)
	}
	if len(n.Outline) > len(n.Manifest.Chapters) || len(n.Outline) > 0 && n.Outline[0].Title != n.Manifest.Chapters[0].Title && len(n.Outline) < 2 {
		n.contents()
	}
}

func pagesOf(c manifest.Chapter) string {
	if c.First == c.Last {
		return fmt.Sprintf("Page %d", c.First)
	}
	return fmt.Sprintf("Pages %d–%d", c.First, c.Last)
}

// chapterLink is a link to the note of a chapter.
func chapterLink(n *Note, c manifest.Chapter, fragment, shown string) string {
	return "[[" + n.here() + strings.TrimSuffix(c.Note, ".md") + fragment + "|" + markdown.Alias(shown) + "]]"
}

// chapterFacts is the line below a chapter's title: its document, its pages, and the chapters beside it.
func chapterFacts(n *Note) string {
	main := strings.TrimSuffix(n.Manifest.NoteName(), ".md")
	parts := []string{"[[../" + main + "|" + markdown.Alias(documentTitle(n.Manifest)) + "]]", pagesOf(*n.chapter)}
	i := slices.IndexFunc(n.Manifest.Chapters, func(c manifest.Chapter) bool { return c.Note == n.chapter.Note })
	if i > 0 {
		parts = append(parts, chapterLink(n, n.Manifest.Chapters[i-1], "", "← "+n.Manifest.Chapters[i-1].Title))
	}
	if i >= 0 && i+1 < len(n.Manifest.Chapters) {
		parts = append(parts, chapterLink(n, n.Manifest.Chapters[i+1], "", n.Manifest.Chapters[i+1].Title+" →"))
	}
	return strings.Join(parts, " · ")
}

// writeSections writes the pages of a chapter.
func writeSections(n *Note) error {
	for _, p := range n.Manifest.Pages {
		write := writePart
		if k := n.Manifest.Source.Kind; k == filetype.KindPDF || k == filetype.KindImage {
			write = func(n *Note, p manifest.Page) error { return n.page(p, fmt.Sprintf("Page %d", p.N)) }
		}
		if err := write(n, p); err != nil {
			return err
		}
	}
	return nil
}

// pageLink is a link of a page's text to another page.
var pageLink = regexp.MustCompile(`\]\(#\^p(\d{1,7})\)`)

// linkPages points links to pages at the notes of their chapters.
func linkPages(n *Note, text string) string {
	if n.chapter == nil {
		return text
	}
	return pageLink.ReplaceAllStringFunc(text, func(s string) string {
		page, err := strconv.Atoi(pageLink.FindStringSubmatch(s)[1])
		c, found := n.Manifest.ChapterOf(page)
		if err != nil || !found || c.Note == n.chapter.Note {
			return s
		}
		return "](" + url.PathEscape(path.Base(c.Note)) + "#^p" + strconv.Itoa(page) + ")"
	})
}
