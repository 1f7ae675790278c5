package parts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Heading is where a chapter or section begins.
type Heading struct {
	Title string
	Page  int // number of its page
}

// maxTitle is the length of a title in a name, in characters.
const maxTitle = 60

// ByHeadings divides pages where headings begin. Of headings on the same page the first one counts, and pages before the first
// heading are a part of their own, with the number 00. Parts on record keep their numbers, and their names while their title or
// their pages are the same; see [Known].
func ByHeadings(kind string, pages []Page, headings []Heading, old []Part) []Part {
	titles := map[int]string{}
	for _, h := range headings {
		if _, begun := titles[h.Page]; !begun {
			titles[h.Page] = h.Title
		}
	}
	var list []Part
	for i, p := range pages {
		title, begins := titles[p.N]
		if i == 0 || begins {
			if !begins {
				title = frontMatter
			}
			list = append(list, Part{Kind: kind, Title: title})
		}
		list[len(list)-1].Pages = append(list[len(list)-1].Pages, p)
	}
	return named(list, ofKind(old, kind))
}

// Named names the sections of a note. Those on record keep theirs, as in [ByHeadings].
func Named(sections []Part, old []Part) []Part { return named(sections, ofKind(old, Sections)) }

// frontMatter is the title of what comes before the first heading.
const frontMatter = "Front matter"

func ofKind(old []Part, kind string) []Part {
	return slices.DeleteFunc(slices.Clone(old), func(p Part) bool { return p.Kind != kind })
}

// named names parts by their number and title.
func named(list, old []Part) []Part {
	first := 1
	if len(list) > 0 && list[0].Title == frontMatter {
		first = 0
	}
	names := make([]string, len(list))
	at := owners(titlesOf(old), titlesOf(list))
	used := map[int]bool{}
	for i, place := range at {
		if place < len(old) && !used[place] && (old[place].Title == list[i].Title || !slices.Contains(titlesOf(list), old[place].Title)) {
			used[place] = true
			names[i] = old[place].Name
			if old[place].Title != list[i].Title && old[place].Digest() != list[i].Digest() {
				names[i] = numberOf(old[place].Name) + " " // the number stays
			}
		}
	}
	digits := max(2, len(strconv.Itoa(len(list))))
	for i, number := range numbered(names, old, first, digits) {
		if names[i] == "" || strings.HasSuffix(names[i], " ") {
			names[i] = number + " " + inName(list[i].Title, whole(number))
		}
		list[i].Name = names[i]
	}
	return list
}

func titlesOf(list []Part) []string {
	titles := make([]string, len(list))
	for i, p := range list {
		titles[i] = p.Title
	}
	return titles
}

// inName is a title as a part of a file's name, without the number that the name begins with anyway.
func inName(title string, number int) string {
	if rest, found := strings.CutPrefix(title, strconv.Itoa(number)); found {
		if short := strings.TrimLeft(rest, ".) :\t"); short != rest && short != "" {
			title = short
		}
	}
	title = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || strings.ContainsRune(`/\:*?"<>|#^[]{}`, c) {
			return ' '
		}
		return c
	}, title)
	title = strings.Join(strings.Fields(title), " ")
	if runes := []rune(title); len(runes) > maxTitle {
		title = string(runes[:maxTitle])
	}
	if title = strings.Trim(title, " ."); title == "" {
		return fmt.Sprintf("part %02d", number)
	}
	return title
}
