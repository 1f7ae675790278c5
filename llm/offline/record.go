package offline

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
)

// record is one thing that was found, under the names by which schemas may ask for it. Members may be empty.
type record struct {
	title, text, file, date string
	page, last              int
	n                       int // tells records apart in which nothing was found
	tags                    []string
}

// about is the record of the prompt as a whole.
func (f *finder) about() record {
	var r record
	if asked := f.asked(); len(asked) > 0 {
		r.text = asked[0]
	}
	for _, s := range f.sources {
		if r.file == "" {
			r.file = s.name
		}
		if r.title == "" && len(s.headings) > 0 {
			r.title = s.headings[0].text
		}
		if len(s.sentences) > 0 && (r.text == "" || len(f.asked()) > 0 && r.text == f.asked()[0]) {
			r.text = s.sentences[0]
		}
		if r.date == "" && len(s.dates) > 0 {
			r.date = s.dates[0]
		}
		for p := range s.pages { // least and largest: the order does not matter
			if r.page == 0 || p < r.page {
				r.page = p
			}
			r.last = max(r.last, p)
		}
	}
	for _, p := range f.pictures {
		one := pictureRecord(p)
		if r.file == "" {
			r.file = one.file
		}
		r.tags = union(r.tags, one.tags)
		if r.page == 0 || one.page > 0 && one.page < r.page {
			r.page = one.page
		}
		r.last = max(r.last, one.page)
	}
	if r.title == "" {
		r.title = strings.TrimSuffix(path.Base(r.file), path.Ext(r.file))
	}
	if r.text == "" {
		r.text = r.title
	}
	if len(r.tags) == 0 {
		r.tags = wordTags(r.title)
	}
	return r
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

func pictureRecord(p picture) record {
	name := strings.TrimSuffix(path.Base(p.image.Name), path.Ext(p.image.Name))
	r := record{title: name, text: plain(p.image.Alt), file: p.image.Name, page: p.page, last: p.page}
	if r.text == "" {
		r.text = name
	}
	for _, tag := range tags(p) {
		r.tags = append(r.tags, strings.TrimPrefix(tag, "#"))
	}
	return r
}

// wordTags are the longer words of a title, in small letters.
func wordTags(title string) []string {
	var all []string
	for _, word := range strings.Fields(unwordly.ReplaceAllString(title, " ")) {
		word = strings.ToLower(word)
		if len([]rune(word)) > 3 && !onlyDigits.MatchString(word) && !slices.Contains(dullWords, word) && !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}

// Names of lists, and what they ask for.
var (
	ofChapters = regexp.MustCompile(`(?i)chapter|section|unit|heading|contents|lesson|boundar|part|kapitel|outline`)
	ofPages    = regexp.MustCompile(`(?i)page|seite`)
	ofPictures = regexp.MustCompile(`(?i)image|picture|photo|file|figure`)
	ofTasks    = regexp.MustCompile(`(?i)task|to_?do|action|decision|exercise|day|step`)
	ofDates    = regexp.MustCompile(`(?i)date|deadline|event`)
	ofTags     = regexp.MustCompile(`(?i)tag|keyword|topic|label|subject|categor`)
	ofSources  = regexp.MustCompile(`(?i)source|note|input|document`)
)

// list is what was found for a list of a name; without a known name the first kind of which there is something.
func (f *finder) list(name string) []record {
	for _, kind := range []struct {
		name *regexp.Regexp
		list func() []record
	}{
		{ofChapters, f.chapterRecords},
		{ofPages, f.pageRecords},
		{ofPictures, f.pictureRecords},
		{ofTags, f.tagRecords},
		{ofTasks, func() []record { return f.lineRecords(func(s *source) []string { return s.tasks }) }},
		{ofDates, func() []record { return f.lineRecords(func(s *source) []string { return s.dates }) }},
		{ofSources, f.sourceRecords},
	} {
		if kind.name.MatchString(name) {
			if found := kind.list(); len(found) > 0 {
				return found
			}
		}
	}
	for _, list := range []func() []record{f.chapterRecords, f.pageRecords, f.pictureRecords, f.sourceRecords} {
		if found := list(); len(found) > 0 {
			return found
		}
	}
	return nil
}

func (f *finder) chapterRecords() []record {
	var all []record
	for _, s := range f.sources {
		for _, c := range s.chapters() {
			r := record{title: c.text, text: s.pageText[c.page], file: s.name, page: c.page, last: max(c.last, c.page), tags: wordTags(c.text)}
			if r.text == "" {
				r.text = c.text
			}
			all = append(all, r)
		}
	}
	return all
}

// pageRecords has a record for each page that text or a picture was given of, in order.
func (f *finder) pageRecords() []record {
	var all []record
	for _, s := range f.sources {
		pages := make([]int, 0, len(s.pages))
		for p := range s.pages { // sorted below
			pages = append(pages, p)
		}
		for _, p := range f.pictures {
			if p.from == s.name && p.page > 0 && !slices.Contains(pages, p.page) {
				pages = append(pages, p.page)
			}
		}
		slices.Sort(pages)
		for _, p := range pages {
			all = append(all, s.pageRecord(p))
		}
	}
	return all
}

func (s *source) pageRecord(page int) record {
	r := record{file: s.name, page: page, last: page, text: s.pageText[page]}
	for _, h := range s.headings {
		if h.page == page {
			r.title = h.text
			break
		}
	}
	if r.title == "" {
		r.title = r.text
	}
	r.tags = wordTags(r.title)
	return r
}

func (f *finder) pictureRecords() []record {
	var all []record
	for _, p := range f.pictures {
		all = append(all, pictureRecord(p))
	}
	return all
}

func (f *finder) tagRecords() []record {
	var all []record
	for _, tag := range f.about().tags {
		all = append(all, record{title: tag, text: tag, tags: []string{tag}})
	}
	return all
}

func (f *finder) lineRecords(of func(*source) []string) []record {
	var all []record
	for _, s := range f.sources {
		for _, line := range of(s) {
			all = append(all, record{title: line, text: line, file: s.name, date: date.FindString(line)})
		}
	}
	return all
}

func (f *finder) sourceRecords() []record {
	var all []record
	for _, s := range f.sources {
		r := record{title: strings.TrimSuffix(path.Base(s.name), path.Ext(s.name)), file: s.name}
		if len(s.headings) > 0 {
			r.title = s.headings[0].text
		}
		r.text = r.title
		if len(s.sentences) > 0 {
			r.text = s.sentences[0]
		}
		if len(s.dates) > 0 {
			r.date = s.dates[0]
		}
		r.tags = wordTags(r.title)
		all = append(all, r)
	}
	return all
}

// found is everything, for an answer that may be any JSON.
func (f *finder) found() object {
	about := f.about()
	out := object{{"title", about.title}, {"summary", about.text}}
	add := func(name string, list []record) {
		var titles []string
		for _, r := range list[:min(len(list), maxListed)] {
			titles = append(titles, r.title)
		}
		if len(titles) > 0 {
			out = append(out, member{name, titles})
		}
	}
	add("headings", f.chapterRecords())
	add("images", f.pictureRecords())
	add("tasks", f.lineRecords(func(s *source) []string { return s.tasks }))
	add("tags", f.tagRecords())
	return out
}

// data takes headings from an input that is JSON: objects with a title and, perhaps, pages. So one step can build on
// another's JSON.
func (s *source) data(text string) {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		s.take(v, "")
	}
}

var (
	titleName = regexp.MustCompile(`(?i)^(?:title|name|heading|chapter|section)$`)
	startName = regexp.MustCompile(`(?i)^(?:page|first|start|from|begin|first_page|start_page|page_start|from_page|n)$`)
	endName   = regexp.MustCompile(`(?i)^(?:last|end|to|until|last_page|end_page|page_end|to_page)$`)
)

func (s *source) take(v any, title string) {
	switch v := v.(type) {
	case []any:
		for _, inner := range v {
			s.take(inner, title)
		}
	case map[string]any:
		h := heading{level: 1}
		names := make([]string, 0, len(v))
		for name := range v { // sorted below
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			switch inner := v[name].(type) {
			case string:
				if titleName.MatchString(name) && h.text == "" {
					h.text = plain(inner)
				} else if isProse(inner) && len(s.sentences) < maxSentences {
					s.sentences = append(s.sentences, firstSentence(plain(inner)))
				}
			case float64:
				switch {
				case startName.MatchString(name):
					h.page = int(inner)
				case endName.MatchString(name):
					h.last = int(inner)
				}
			}
		}
		if h.text != "" {
			s.headings = append(s.headings, h)
			if h.page > 0 {
				s.pages[h.page] = true
			}
		}
		for _, name := range names {
			s.take(v[name], h.text)
		}
	}
}
