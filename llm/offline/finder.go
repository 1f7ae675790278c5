package offline

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/content"
)

// finder gathers what the prompt holds. It knows Markdown and that inputs stand between tags with a path; it does not
// depend on the names of the tags.
type finder struct {
	request  []string // lines outside all inputs: what was asked
	sources  []*source
	stack    []frame
	fence    string // the mark that opened a code block
	pictures []picture
	deferred []string // ids of chunks that the prompt had no room for
	read     []string // ids of chunks that a tool gave
	inputs   []string // the lines of all inputs, for patterns
}

// frame is an input that is being read.
type frame struct {
	tag    string
	source *source
	page   int
	lines  int // seen so far
	front  bool
	own    string   // the section, when the input is an earlier answer of this model
	data   []string // the lines, when the input is JSON
}

// source is one input.
type source struct {
	name      string
	headings  []heading
	sentences []string
	tasks     []string
	dates     []string
	pages     map[int]bool
	pageText  map[int]string // the first sentence of each page
}

type heading struct {
	level, page int
	last        int // its last page, where that is written down
	text        string
}

type picture struct {
	image content.Image
	from  string // the input it stands in, "" for the prompt itself
	page  int
}

const maxSentences = 3

func newFinder() *finder { return &finder{} }

var (
	openTag     = regexp.MustCompile(`^<([A-Za-z][\w.:-]*)((?:\s[^<>]*)?)>$`)
	closeTag    = regexp.MustCompile(`^</([A-Za-z][\w.:-]*)>$`)
	pathOf      = regexp.MustCompile(`\b(?:path|name|file|note|variable)="([^"]*)"`)
	chunkOf     = regexp.MustCompile(`\bchunk="(c\d+)"`)
	markdownH   = regexp.MustCompile(`^(#{1,6})\s+(.+?)\s*#*$`)
	plainH      = regexp.MustCompile(`^(?i:chapter|unit|lesson|part|module|section|kapitel|lektion)\s+(?:\d+|[IVXLC]+)\b.{0,80}$`)
	pageLine    = regexp.MustCompile(`^\[page (\d+) of \d+(?:, printed as [^\]]*)?\]$`)
	dataStart   = regexp.MustCompile(`^(?:\{|\[)(?:\s*["{\[\]}\d-].*)?$`)
	pageH       = regexp.MustCompile(`^(?i:page|seite)\s+(\d+)\b`)
	pageName    = regexp.MustCompile(`page_0*(\d+)\.\w+$`)
	chapterLine = regexp.MustCompile(`^- (.+?)(?: \(pages? (\d+)(?:–(\d+))?\))?$`)
	task        = regexp.MustCompile(`^\s*[-*+]\s+\[[ xX]\]\s+(.+)$`)
	taskWord    = regexp.MustCompile(`(?i)\b(?:action|to ?do|decision|decided|agreed|deadline|due|follow.?up|next step)s?\b`)
	date        = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}\.? (?:January|February|March|April|May|June|July|August|September|October|November|December)(?: \d{4})?\b`)
)

// text reads a text block line by line.
func (f *finder) text(block string) {
	for line := range strings.Lines(block) {
		f.line(strings.TrimRight(line, "\r\n"))
	}
}

func (f *finder) line(line string) {
	trimmed := strings.TrimSpace(line)
	if f.tag(trimmed) {
		return
	}
	if m := deferredAs.FindStringSubmatch(trimmed); m != nil {
		f.deferred = union(f.deferred, chunkID.FindAllString(m[1], -1))
	}
	if len(f.stack) == 0 {
		f.request = append(f.request, line)
		return
	}
	f.inputs = append(f.inputs, line)
	top := &f.stack[len(f.stack)-1]
	if len(top.data) > 0 || top.lines == 0 && f.fence == "" && dataStart.MatchString(trimmed) {
		top.data = append(top.data, line)
		return
	}
	top.lines++
	if f.skip(top, trimmed) {
		return
	}
	if trimmed == strings.TrimSpace(notice) {
		top.own = notice
		return
	}
	if top.own != "" {
		top.reread(trimmed)
		return
	}
	top.read(line, trimmed)
}

// tag opens or closes an input.
func (f *finder) tag(line string) bool {
	if m := closeTag.FindStringSubmatch(line); m != nil {
		for i := len(f.stack) - 1; i >= 0; i-- {
			if f.stack[i].tag != m[1] {
				continue
			}
			for _, closed := range f.stack[i:] {
				closed.source.data(strings.Join(closed.data, "\n"))
			}
			f.stack, f.fence = f.stack[:i], ""
			return true
		}
		return false
	}
	m := openTag.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	named := pathOf.FindStringSubmatch(m[2])
	if named == nil {
		return false
	}
	s := f.source(named[1])
	if chunk := chunkOf.FindStringSubmatch(m[2]); chunk != nil {
		f.read = union(f.read, chunk[1:])
	}
	f.stack = append(f.stack, frame{tag: m[1], source: s, page: pageOf(named[1])})
	f.fence = ""
	return true
}

// source is the input of a name; the chunks of an input that came later are parts of it.
func (f *finder) source(name string) *source {
	for _, s := range f.sources {
		if s.name == name {
			return s
		}
	}
	s := &source{name: name, pages: map[int]bool{}, pageText: map[int]string{}}
	f.sources = append(f.sources, s)
	return s
}

func pageOf(name string) int {
	m := pageName.FindStringSubmatch(name)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	return n
}

// skip passes over properties at the top and code blocks.
func (f *finder) skip(top *frame, line string) bool {
	switch {
	case top.lines == 1 && line == "---":
		top.front = true
		return true
	case top.front:
		top.front = line != "---"
		return true
	case f.fence != "":
		if strings.HasPrefix(line, f.fence) {
			f.fence = ""
		}
		return true
	case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
		f.fence = line[:3]
		return true
	}
	return line == ""
}

// read takes what is of use from a line of an input.
func (t *frame) read(line, trimmed string) {
	s := t.source
	if m := pageLine.FindStringSubmatch(trimmed); m != nil {
		t.page, _ = strconv.Atoi(m[1]) // digits; a number too large to hold is page 0, unknown
		s.pages[t.page] = true
		return
	}
	if m := markdownH.FindStringSubmatch(trimmed); m != nil {
		if p := pageH.FindStringSubmatch(m[2]); p != nil {
			t.page, _ = strconv.Atoi(p[1]) // digits; a number too large to hold is page 0, unknown
			s.pages[t.page] = true
			return
		}
		s.headings = append(s.headings, heading{level: len(m[1]), page: t.page, text: plain(m[2])})
		return
	}
	if plainH.MatchString(trimmed) {
		s.headings = append(s.headings, heading{level: 1, page: t.page, text: plain(trimmed)})
		return
	}
	s.dates = append(s.dates, date.FindAllString(trimmed, -1)...)
	if m := task.FindStringSubmatch(line); m != nil {
		s.tasks = append(s.tasks, plain(m[1]))
		return
	}
	if taskWord.MatchString(trimmed) {
		s.tasks = append(s.tasks, plain(trimmed))
	}
	if !isProse(trimmed) {
		return
	}
	first := firstSentence(plain(trimmed))
	if t.page > 0 && s.pageText[t.page] == "" {
		s.pageText[t.page] = first
	}
	if len(s.sentences) < maxSentences {
		s.sentences = append(s.sentences, first)
	}
}

// reread takes the chapters from an earlier answer of this model, so that one step can build on another.
func (t *frame) reread(line string) {
	if m := markdownH.FindStringSubmatch(line); m != nil {
		t.own = m[2]
		return
	}
	m := chapterLine.FindStringSubmatch(line)
	if m == nil || t.own != chaptersTitle {
		return
	}
	h := heading{level: 1, text: m[1]}
	h.page, _ = strconv.Atoi(m[2]) // empty or digits: 0 is not known
	h.last, _ = strconv.Atoi(m[3])
	t.source.headings = append(t.source.headings, h)
}

// picture notes an image at the place where it stands.
func (f *finder) picture(image content.Image) {
	p := picture{image: image, page: pageOf(path.Base(image.Name))}
	if image.Page > 0 {
		p.page = image.Page
	}
	if n := len(f.stack); n > 0 {
		p.from = f.stack[n-1].source.name
		if p.page == 0 {
			p.page = f.stack[n-1].page
		}
	}
	f.pictures = append(f.pictures, p)
}

// matching are the different texts of the inputs that a pattern takes, in order. Anchors at its ends are those of the text
// that is looked for and not of a line.
func (f *finder) matching(pattern string, limit int) []string {
	re, err := regexp.Compile(strings.TrimSuffix(strings.TrimPrefix(pattern, "^"), "$"))
	if err != nil || re.MatchString("") {
		return nil
	}
	var found []string
	for _, line := range f.inputs {
		if len(found) >= limit {
			break
		}
		found = union(found, re.FindAllString(line, limit))
	}
	return found[:min(len(found), limit)]
}
