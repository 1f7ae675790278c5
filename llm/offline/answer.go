package offline

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxListed bounds each list of the answer.
const maxListed = 200

// chaptersTitle is the section that a later step may build on.
const chaptersTitle = "Chapters"

// notice is the first line of every answer.
const notice = "> Answer of the offline model: extracted from the prompt, without understanding it. Configure a real model for more.\n"

var (
	wantsChapters = regexp.MustCompile(`(?i)\bchapters?\b|\bboundar(?:y|ies)\b|\bcontents\b`)
	wantsPlan     = regexp.MustCompile(`(?i)\b(?:plan|schedule|timetable|days?|weeks?)\b`)
	wantsTags     = regexp.MustCompile(`(?i)\btag(?:s|ging)?\b|\bkeywords?\b`)
)

// sections is the whole answer, piece by piece.
func (f *finder) sections() []string {
	out := []string{notice}
	add := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		more := ""
		if len(lines) > maxListed {
			more = fmt.Sprintf("- and %d more\n", len(lines)-maxListed)
			lines = lines[:maxListed]
		}
		out = append(out, "\n## "+title+"\n\n"+strings.Join(lines, "\n")+"\n"+more)
	}
	request := strings.Join(f.request, "\n")
	add("Asked", f.asked())
	if wantsChapters.MatchString(request) {
		add(chaptersTitle, f.chapterList())
	}
	if wantsPlan.MatchString(request) {
		add("Study plan", f.plan())
	}
	if wantsTags.MatchString(request) {
		add("Tags", f.tagList())
	}
	add("Headings found", f.headingList())
	add("Images seen", f.pictureList())
	add("Tasks and decisions", f.each(func(s *source) []string { return s.tasks }))
	add("Dates", f.dates())
	if len(f.read) > 0 {
		add("Read by "+readChunks, []string{"- " + strings.Join(f.read, ", ")})
	}
	add("First sentences", f.each(func(s *source) []string { return s.sentences }))
	if len(out) == 1 {
		out = append(out, "\nThe prompt holds nothing to extract.\n")
	}
	return out
}

// asked is the first sentence outside the inputs.
func (f *finder) asked() []string {
	for _, line := range f.request {
		if trimmed := strings.TrimSpace(line); isProse(trimmed) {
			return []string{firstSentence(plain(trimmed))}
		}
	}
	return nil
}

// chapterList is what reread reads.
func (f *finder) chapterList() []string {
	var lines []string
	for _, s := range f.sources {
		for _, c := range s.chapters() {
			lines = append(lines, "- "+c.text+c.span())
		}
	}
	return lines
}

// plan gives every chapter a day, with the pages from its heading to the next one.
func (f *finder) plan() []string {
	var lines []string
	for _, s := range f.sources {
		for _, c := range s.chapters() {
			lines = append(lines, fmt.Sprintf("- [ ] Day %d: %s%s", len(lines)+1, c.text, c.span()))
		}
	}
	return lines
}

// chapter is a heading and the pages until the next one of its level.
type chapter struct {
	heading
	last int
}

func (c chapter) span() string {
	switch {
	case c.page == 0:
		return ""
	case c.last > c.page:
		return fmt.Sprintf(" (pages %d–%d)", c.page, c.last)
	}
	return fmt.Sprintf(" (page %d)", c.page)
}

// chapters are the headings of the topmost level that occurs more than once; a single top heading is the title. When
// no level does, every heading counts.
func (s *source) chapters() []chapter {
	level := 0
	for l := 1; l <= 6 && level == 0; l++ {
		if n := s.count(l); n > 1 || n == 1 && s.count(0) == 1 {
			level = l
		}
	}
	lastPage := 0
	for p := range s.pages { // the largest: the order does not matter
		lastPage = max(lastPage, p)
	}
	var all []chapter
	for _, h := range s.headings {
		if level > 0 && h.level != level {
			continue
		}
		if n := len(all); n > 0 && h.page > 0 && all[n-1].heading.last == 0 {
			all[n-1].last = max(h.page-1, all[n-1].page)
		}
		last := lastPage
		if h.last > 0 {
			last = h.last
		}
		all = append(all, chapter{h, last})
	}
	return all
}

// count is the number of headings of a level, of all levels for 0.
func (s *source) count(level int) int {
	n := 0
	for _, h := range s.headings {
		if level == 0 || h.level == level {
			n++
		}
	}
	return n
}

func (f *finder) headingList() []string {
	return f.each(func(s *source) []string {
		var lines []string
		for _, h := range s.headings {
			line := h.text
			if h.page > 0 {
				line = fmt.Sprintf("%s (page %d)", h.text, h.page)
			}
			lines = append(lines, line)
		}
		return lines
	})
}

func (f *finder) pictureList() []string {
	var lines []string
	for i, p := range f.pictures {
		line := fmt.Sprintf("%d. `%s`", i+1, p.image.Name)
		if p.image.Width > 0 && p.image.Height > 0 {
			line += fmt.Sprintf(", %d×%d", p.image.Width, p.image.Height)
		}
		if p.page > 0 {
			line += fmt.Sprintf(", page %d", p.page)
		}
		if p.image.Alt != "" {
			line += ": " + plain(p.image.Alt)
		}
		if p.from != "" {
			line += fmt.Sprintf(" (in `%s`)", p.from)
		}
		lines = append(lines, line)
	}
	return lines
}

func (f *finder) tagList() []string {
	var lines []string
	for _, p := range f.pictures {
		words := strings.Join(tags(p), " ")
		if words == "" {
			words = "no words in its name or description"
		}
		lines = append(lines, fmt.Sprintf("- [[%s|%s]]: %s", p.image.Name, path.Base(p.image.Name), words))
	}
	return lines
}

func (f *finder) dates() []string {
	var all []string
	for _, s := range f.sources {
		for _, d := range s.dates {
			if line := "- " + d; !slices.Contains(all, line) {
				all = append(all, line)
			}
		}
	}
	return all
}

// each lists what every input has, under its name when there are several inputs.
func (f *finder) each(of func(*source) []string) []string {
	var lines []string
	for _, s := range f.sources {
		found := of(s)
		if len(found) == 0 {
			continue
		}
		indent := ""
		if len(f.sources) > 1 {
			lines = append(lines, "- `"+s.name+"`")
			indent = "  "
		}
		for _, item := range found {
			lines = append(lines, indent+"- "+item)
		}
	}
	return lines
}
