package defuse

import (
	"html"
	"regexp"
	"slices"
	"strings"
)

// scanner looks for what is active in one text.
type scanner struct {
	src    string
	format format
	rules  Rules
	own    map[string]bool // constructs that may stay
	code   []span          // plain code, whose pictures and tags are text
	strict []span          // where an address is loaded by a plugin, and not only linked
	judged map[int]int     // where the addresses of links that stay begin, and end
	marks  map[int]mark
	keyed  bool // the constructs are to be known again
	blocks bool // a line may begin a block of HTML, in which Markdown's own rules for tags do not hold
}

type span struct{ from, to int }

func within(list []span, at int) bool {
	i, found := slices.BinarySearchFunc(list, at, func(s span, at int) int {
		switch {
		case s.to <= at:
			return -1
		case s.from > at:
			return 1
		}
		return 0
	})
	return found && list[i].from <= at
}

// scan returns the marks that a text needs, in order. trusted: nothing before the text changes the meaning of its code blocks.
func scan(f format, text string, own map[string]bool, r Rules, trusted bool) []mark {
	switch f {
	case structured, properties:
		if marks, valid := scanJSON(f, text, own, r); valid {
			return marks
		}
	}
	s := newScanner(f, text, own, r)
	s.blocks = f != markdown || !trusted || htmlBlock.MatchString(text)
	if f == markdown {
		s.code, s.strict = s.regions(trusted)
	}
	if f == base {
		s.strict = []span{{0, len(text)}}
	}
	return s.run()
}

func newScanner(f format, text string, own map[string]bool, r Rules) *scanner {
	return &scanner{src: text, format: f, rules: r, own: own, judged: map[int]int{}, marks: map[int]mark{}, keyed: own != nil}
}

func (s *scanner) run() []mark {
	s.templates()
	s.fences()
	s.queries()
	s.tags()
	s.pictures()
	s.links()
	s.definitions()
	s.wikilinks()
	s.formulas()
	s.addresses()
	marks := make([]mark, 0, len(s.marks))
	for _, m := range s.marks {
		marks = append(marks, m)
	}
	slices.SortFunc(marks, func(a, b mark) int { return a.at - b.at })
	line, from := 1, 0
	for i := range marks {
		line += strings.Count(s.src[from:marks[i].at], "\n")
		from = marks[i].at
		marks[i].line = line
	}
	return marks
}

// add marks a place, unless the owner's text has the same construct or the mark is there already.
func (s *scanner) add(at int, kind, reason, text string) {
	key := ""
	if s.keyed {
		key = kind + "\x00" + text
	}
	if s.own[key] || strings.HasPrefix(s.src[at:], Mark) || strings.HasSuffix(s.src[:at], Mark) {
		return
	}
	if _, there := s.marks[at]; !there {
		s.marks[at] = mark{at: at, reason: reason, text: text, key: key}
	}
}

// live reports whether a place is no plain code.
func (s *scanner) live(at int) bool { return !within(s.code, at) }

// maxConstruct limits how far the end of a construct is searched.
const maxConstruct = 4 << 10

// ahead is the text from a place, at most as far as a construct reaches.
func ahead(src string, at int) string { return src[at:min(len(src), at+maxConstruct)] }

// Templater and the plugin Run execute their commands everywhere, in code too.
var (
	template = regexp.MustCompile(`<%`)
	runner   = regexp.MustCompile(`%%[ \t]*run\b`)
)

func (s *scanner) templates() {
	for _, m := range template.FindAllStringIndex(s.src, -1) {
		text := ahead(s.src, m[0])
		if end := strings.Index(text, "%>"); end >= 0 {
			text = text[:end+2]
		}
		s.add(m[0]+1, "template", "a command of the plugin Templater", text)
	}
	for _, m := range runner.FindAllStringIndex(s.src, -1) {
		s.add(m[0]+1, "runner", "a command of the plugin Run", line(s.src, m[0]))
	}
}

// line is the rest of the line at a place.
func line(src string, at int) string {
	text, _, _ := strings.Cut(ahead(src, at), "\n")
	return text
}

// inlineQuery matches inline code that plugins run: Dataview's = and $=, and the fields and buttons of Meta Bind, after any white space
// that JavaScript trims.
var inlineQuery = regexp.MustCompile("`+[\\s\\v\\pZ\\pC]*(\\$?=(?:[^=>`]|$)|(?i:INPUT|VIEW|BUTTON|EMBED|META_BIND[A-Z_]*)\\[|(?i:dvjs|js-engine|jsx):)")

func (s *scanner) queries() {
	for _, m := range inlineQuery.FindAllStringSubmatchIndex(s.src, -1) {
		ticks := m[0] + len(s.src[m[0]:m[2]]) - len(strings.TrimLeft(s.src[m[0]:m[2]], "`"))
		if closes(s.src, m[0]) {
			continue
		}
		s.add(ticks, "query", "inline code that a plugin runs", line(s.src, m[0]))
	}
	for _, m := range tex.FindAllStringSubmatchIndex(s.src, -1) {
		if s.live(m[0]) {
			s.add(m[0]+1, "tex", "a command of TeX that links or loads", line(s.src, m[0]))
		}
	}
}

// closes reports whether a backtick surely ends inline code, so that what follows it is text.
func closes(src string, at int) bool {
	from, to := 0, len(src)
	if i := lastBlankLine(src[:at]); i >= 0 {
		from = i
	}
	if m := blankLine.FindStringIndex(src[at:]); m != nil {
		to = at + m[0]
	}
	if to-from > maxConstruct {
		return false
	}
	code, sure := inlineOf(src[from:to], from)
	return sure && !slices.ContainsFunc(code, func(c span) bool { return c.from == at+1 })
}

// tex are the commands with which a formula links, loads, or brings in styles.
var tex = regexp.MustCompile(`\\(href|url|style|class|cssId|data|require|html[A-Za-z]*|includegraphics|csname|bbox|mmlToken)(?:[^A-Za-z]|$)`)

var tagStart = regexp.MustCompile("<[A-Za-z/!?\x00-\x08\x0b\x0c\x0e-\x1f]")

// tags marks every tag but the plain ones.
func (s *scanner) tags() {
	for _, m := range tagStart.FindAllStringIndex(s.src, -1) {
		at := m[0]
		if !s.live(at) {
			continue
		}
		text := ahead(s.src, at)
		if s.plainTag(text, at) > 0 || s.isComparison(text) {
			continue
		}
		reason := "HTML: " + tagName(text)
		if m := autolink.FindStringSubmatch(text); m != nil {
			reason = "a link to " + s.rules.where(m[1]) + s.notShown(m[1], at)
		}
		s.add(at+1, "tag", reason, wholeTag(text))
	}
}

// htmlBlock is a line that begins with a tag.
var htmlBlock = regexp.MustCompile("(?im)^[ \t>*+0-9.)-]*</?[a-z!?]")

var notTag = regexp.MustCompile(`^<[A-Za-z][A-Za-z0-9-]*[^A-Za-z0-9\-\s/>:@.+]`)

// isComparison reports whether Markdown cannot read a tag here: 0<x<1, or nothing that would close it in the paragraph.
func (s *scanner) isComparison(text string) bool {
	if s.blocks {
		return false
	}
	if m := blankLine.FindStringIndex(text); m != nil {
		text = text[:m[0]]
	} else if len(text) == maxConstruct {
		return false
	}
	return notTag.MatchString(text) || text[1] >= 'A' && !strings.Contains(text, ">")
}

var name = regexp.MustCompile(`^<[/!?]?[A-Za-z][A-Za-z0-9:-]*|^<!--`)

func tagName(text string) string {
	if n := name.FindString(text); n != "" {
		if n == "<!--" {
			return "a comment"
		}
		return strings.ToLower(n) + ">"
	}
	return "a tag"
}

// wholeTag is a tag, with its content where that is what makes it active.
func wholeTag(text string) string {
	n := strings.ToLower(strings.TrimPrefix(name.FindString(text), "<"))
	for _, element := range []string{"script", "style", "svg", "math", "object", "iframe", "template", "form", "video", "audio", "picture", "noscript"} {
		if n != element {
			continue
		}
		end := "</" + element
		if i := strings.Index(lower(text), end); i >= 0 {
			return text[:i+len(end)]
		}
		return text
	}
	if i := strings.IndexByte(text, '>'); i >= 0 {
		return text[:i+1]
	}
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// lower is a text of the same length with small letters for those of ASCII.
func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

var (
	plainName = `(?:br|wbr|hr|b|i|u|s|em|strong|small|sub|sup|kbd|mark|del|ins|q|cite|abbr|dfn|samp|var|code|p|div|span|center|h[1-6]|ul|ol|li|dl|dt|dd|` +
		`table|caption|thead|tbody|tfoot|tr|td|th|blockquote|details|summary|figure|figcaption|ruby|rt|rp|pre)`
	plainAttr = `(?:[ \t]+(?:open|reversed|(?:start|colspan|rowspan|align|valign|dir|lang|width|height)=(?:"[A-Za-z0-9%-]*"|'[A-Za-z0-9%-]*'|[A-Za-z0-9%-]+)))`
	plainTags = regexp.MustCompile(`^</?(?i:` + plainName + `)` + plainAttr + `*[ \t]*/?>`)
	pageTags  = regexp.MustCompile(`^(?i:</?(?:html|head|title|body|header|footer|main|section|article|nav|aside)` + plainAttr + `*[ \t]*>|<!doctype html>|<meta charset="?utf-8"? ?/?>)`)
	autolink  = regexp.MustCompile(`^<([A-Za-z][A-Za-z0-9+.\-]{1,31}:[^\s<>\x00-\x20]*)>`)
	mailLink  = regexp.MustCompile(`^<[A-Za-z0-9._+\-]+@[A-Za-z0-9.\-]+>`)
	richTag   = regexp.MustCompile(`^<(?i:(img|iframe|video|audio|source|a))((?:[ \t\n]+[A-Za-z]+(?:="[^"<>` + "`" + `]*")?)*)[ \t]*/?>`)
	closeTag  = regexp.MustCompile(`^</(?i:a|iframe|video|audio)>`)
	attribute = regexp.MustCompile(`([A-Za-z]+)(?:="([^"]*)")?`)

	unknownTag = regexp.MustCompile(`^</?([A-Za-z][A-Za-z0-9_]*)>`) // <T>, <name>: nothing that a browser knows
)

// elements are those of HTML that are not plain, with or without attributes.
var elements = strings.Fields(`a address acronym animate applet area article aside audio base basefont bdi bdo bgsound big blink body button canvas cite col colgroup
	content data datalist dialog dir discard embed fencedframe fieldset font footer form foreignobject frame frameset g head header hgroup html iframe ilayer image
	img input isindex keygen label layer legend link listing main map marquee math menu menuitem meta meter multicol nav nextid nobr noembed noframes noscript
	object optgroup option output param path picture plaintext portal progress rb rtc script search section select set shadow slot source spacer strike style svg
	tbody template textarea time title track tt use video xmp xss`)

// plainTag is the length of a tag or autolink that may stay; 0 for one that may not.
func (s *scanner) plainTag(text string, at int) int {
	if m := plainTags.FindString(text); m != "" {
		return len(m)
	}
	if m := pageTags.FindString(text); m != "" && s.format == markup {
		return len(m)
	}
	if m := closeTag.FindString(text); m != "" {
		return len(m)
	}
	if m := unknownTag.FindStringSubmatch(text); m != nil && !slices.Contains(elements, strings.ToLower(m[1])) {
		return len(m[0])
	}
	if m := mailLink.FindString(text); m != "" {
		return len(m)
	}
	if m := autolink.FindStringSubmatch(text); m != nil {
		return s.judge(m[1], at+1, len(m[0]))
	}
	if m := richTag.FindStringSubmatchIndex(text); m != nil {
		return s.richTag(strings.ToLower(text[m[2]:m[3]]), text[m[4]:m[5]], at+m[4], m[1])
	}
	return 0
}

// judge returns the length of a construct whose address a link may have, and otherwise 0.
func (s *scanner) judge(address string, at, length int) int {
	if !s.mayLink(address, at) {
		return 0
	}
	s.judged[at] = at + len(address)
	return length
}

// mayLink reports whether an address at a place may stay.
func (s *scanner) mayLink(address string, at int) bool {
	if within(s.strict, at) {
		return s.rules.mayLoad(address)
	}
	return s.rules.mayLink(address)
}

// richTag looks at a tag that loads or links something: its attributes must be known, and its addresses allowed.
func (s *scanner) richTag(tag, attributes string, at, length int) int {
	sources := 0
	for _, m := range attribute.FindAllStringSubmatchIndex(attributes, -1) {
		key, value, start := strings.ToLower(attributes[m[2]:m[3]]), "", 0
		if m[4] >= 0 {
			value, start = attributes[m[4]:m[5]], at+m[4]
		}
		switch {
		case key == "src" && tag != "a" && s.rules.mayLoad(value) && (tag != "iframe" || isRemote(value)), key == "href" && tag == "a" && s.mayLink(value, start):
			sources++
			s.judged[start] = start + len(value)
		case slices.Contains([]string{"alt", "title", "width", "height", "controls", "allowfullscreen", "loading", "type"}, key) && html.UnescapeString(value) == value:
		default:
			return 0
		}
	}
	if sources > 1 {
		return 0
	}
	return length
}

func isRemote(address string) bool {
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
}

// picture is a picture as everybody reads it: no brackets in its text, and an address without blanks and disguise.
var picture = regexp.MustCompile("^!\\[[^\\[\\]`<>\\\\\n]*\\]\\([ \t]*(<[^<>\n\\\\]*>|[^\\s()<>\\\\]*)(?:[ \t]+\"[^\"\\\\\n`<>]*\")?[ \t]*\\)")

// pictures marks every picture but those of the vault and of allowed hosts. A picture whose address stands elsewhere is
// marked too, since the address may be given later.
func (s *scanner) pictures() {
	for from := 0; ; {
		i := strings.Index(s.src[from:], "![")
		if i < 0 {
			return
		}
		at := from + i
		from = at + 2
		if !s.live(at) || strings.HasPrefix(s.src[at:], "![[") {
			continue
		}
		text := ahead(s.src, at)
		reason, whole := "a picture whose address stands elsewhere", line(s.src, at)
		if m := picture.FindStringSubmatchIndex(text); m != nil {
			address := strings.Trim(text[m[2]:m[3]], "<>")
			whole = text[:m[1]]
			if s.rules.mayLoad(address) && !strings.Contains(address, "[") {
				start := at + m[2] + strings.Index(text[m[2]:m[3]], address)
				s.judged[start] = start + len(address)
				continue
			}
			reason = "a picture from " + s.rules.where(address)
		}
		s.add(at+1, "picture", reason, whole)
	}
}

// destination is the address of a link: in pointed brackets, or up to a blank or the bracket that closes the link.
func destination(text string) (address string, start int) {
	start = len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	text = text[start:]
	if strings.HasPrefix(text, "<") {
		end := strings.IndexAny(text, ">\n")
		if end < 0 {
			end = len(text)
		}
		return text[1:end], start + 1
	}
	depth := 0
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			return text[:i], start
		case c == ')':
			depth--
		case strings.ContainsRune(" \t\r\n\v\f", c):
			return text[:i], start
		}
	}
	return text, start
}

// links marks the links whose address may not stay, between text and address.
func (s *scanner) links() {
	for from := 0; ; {
		i := strings.Index(s.src[from:], "](")
		if i < 0 {
			return
		}
		at := from + i + 1
		from = at
		if !s.live(at) {
			continue
		}
		address, start := destination(ahead(s.src, at+1))
		start += at + 1
		if !s.isJudged(start) {
			s.link(at, address, start)
		}
	}
}

func (s *scanner) link(at int, address string, start int) {
	if !strings.Contains(address, `\`) && s.mayLink(address, start) {
		if opened(s.src, at-1) {
			s.judged[start] = start + len(address)
		}
		return
	}
	s.add(at, "link", "a link to "+s.rules.where(address)+s.notShown(address, start), address)
}

// opened reports whether a bracket opens before the one that closes here, so that what follows is read as an address.
func opened(src string, closing int) bool {
	depth := 1
	for i := closing - 1; i >= max(0, closing-maxConstruct); i-- {
		switch src[i] {
		case ']':
			depth++
		case '[':
			if depth--; depth == 0 {
				return true
			}
		}
	}
	return false
}

// notShown returns why an ordinary address may not stay.
func (s *scanner) notShown(address string, at int) string {
	if p, _ := s.rules.place(address); p != outside || within(s.strict, at) {
		return ""
	}
	return " that the step was not shown"
}

var definition = regexp.MustCompile(`\]:[ \t]*(?:\r?\n[ \t>]*)?`)

// definitions marks the addresses that other links and pictures refer to. One of a footnote's marks is left to the scan of
// addresses, unless it is no ordinary one.
func (s *scanner) definitions() {
	for _, m := range definition.FindAllStringIndex(s.src, -1) {
		if !s.live(m[0]) {
			continue
		}
		address, start := destination(ahead(s.src, m[1]))
		start += m[1]
		if p, _ := s.rules.place(address); isFootnote(s.src, m[0]) && p == outside {
			continue
		}
		if p, _ := s.rules.place(address); p == unsafe && !schemeOf.MatchString(plainAddress(address)) && !strings.HasPrefix(plainAddress(address), "//") {
			continue // prose behind a bracket and a colon
		}
		s.link(m[0]+1, address, start)
	}
}

func isFootnote(src string, bracket int) bool {
	open := strings.LastIndexByte(src[max(0, bracket-200):bracket], '[')
	return open >= 0 && strings.HasPrefix(src[max(0, bracket-200)+open:], "[^")
}

var wikiScheme = regexp.MustCompile(`^\[\[[\s\x00-\x1f]*(?:[A-Za-z][A-Za-z0-9+.\-]*:[^\s\]|]|//|\\\\)`)

// wikilinks marks those that lead out of the vault.
func (s *scanner) wikilinks() {
	for from := 0; ; {
		i := strings.Index(s.src[from:], "[[")
		if i < 0 {
			return
		}
		at := from + i
		from = at + 1
		text := ahead(s.src, at)
		if end := strings.IndexAny(text, "]\n"); end > 0 {
			text = text[:end]
		}
		target, _, _ := strings.Cut(text, "|")
		plain := "[[" + plainAddress(strings.TrimPrefix(target, "[["))
		if !s.live(at) || !wikiScheme.MatchString(text) && !wikiScheme.MatchString(plain) {
			continue
		}
		s.add(at+1, "wikilink", "a link or embed that leads out of the vault", text)
	}
}

// formulaCall are the functions of Obsidian's bases that show pictures and HTML.
var (
	formulaCall = regexp.MustCompile(`(?i)\b(?:image|html|icon|link)[ \t]*\(`)
	formulaCell = regexp.MustCompile(`(?m)(?:^|[,;\t])[ \t]*"?[ \t]*([=@]|[+\-][A-Za-z(@=])`)
)

// formulas marks what spreadsheets and bases compute.
func (s *scanner) formulas() {
	switch s.format {
	case base:
		for _, m := range formulaCall.FindAllStringIndex(s.src, -1) {
			s.add(m[1]-1, "formula", "a formula that shows a picture, a link or HTML", line(s.src, m[0]))
		}
	case table:
		for _, m := range formulaCell.FindAllStringSubmatchIndex(s.src, -1) {
			s.add(m[2], "formula", "a formula in a table", line(s.src, m[2]))
		}
	}
}

// addressStart is where anything could begin that is made a link or loaded by itself.
var (
	addressStart = regexp.MustCompile(`(?i)[a-z][a-z0-9+.\-]*://|\bwww\.|\b(?:javascript|vbscript|livescript|mhtml|view-source|obsidian|blob|file|data|https?):`)
	dataAddress  = regexp.MustCompile(`(?i)^data:(?:[a-z]+/[a-z]|[,;])`)
)

// addresses marks what Obsidian or a browser makes a link of by itself, and what a plugin would load.
func (s *scanner) addresses() {
	for _, m := range addressStart.FindAllStringIndex(s.src, -1) {
		at := m[0]
		if !s.live(at) || s.isJudged(at) {
			continue
		}
		run := addressRun(s.src[at:min(len(s.src), at+maxConstruct)])
		colon := strings.IndexByte(run, ':')
		switch word := strings.ToLower(s.src[at:m[1]]); {
		case word == "www.":
			s.bare(at, run, len("www"))
		case strings.HasSuffix(word, "://"):
			s.bare(at, run, colon)
		case word == "data:" && !dataAddress.MatchString(s.src[at:min(len(s.src), at+64)]), word == "file:" && !strings.HasPrefix(s.src[m[1]:], "/"):
		case len(run) <= len(word): // a word and a colon
		case word == "http:" || word == "https:":
			if within(s.strict, at) {
				s.bare(at, run, colon)
			}
		default:
			s.add(at+colon, "scheme", "an address with "+word, run)
		}
	}
	for _, m := range hostOnly.FindAllStringIndex(s.src, -1) {
		if within(s.strict, m[0]) && s.live(m[0]) && !s.isJudged(m[0]) {
			s.add(m[0]+strings.Index(s.src[m[0]:m[1]], "//")+1, "address", "an address in disguise", line(s.src, m[0]))
		}
	}
}

// hostOnly is an address without its scheme, where something would be loaded from it.
var hostOnly = regexp.MustCompile(`(?m)(?:^|[\s"'(=\[,])//[A-Za-z0-9]`)

func (s *scanner) isJudged(at int) bool {
	_, judged := s.judged[at]
	return judged
}

// bare checks an address in plain text.
func (s *scanner) bare(at int, run string, mark int) {
	if strings.HasPrefix(strings.ToLower(run), "www.") {
		if host, _, _ := strings.Cut(run, "/"); !strings.ContainsAny(host, ":@?#") && s.mayLink("http://"+run, at) {
			return
		}
		s.add(at+mark, "address", "an address at "+run, run)
		return
	}
	if s.mayLink(run, at) || s.mayLink(strings.TrimRight(run, "/"), at) {
		return
	}
	if i := strings.Index(run, "]("); i > 0 && s.isJudged(at+i+2) && s.mayLink(run[:i], at) {
		return
	}
	reason := "an address at " + s.rules.where(run) + s.notShown(run, at)
	if s.rules.where(run) == "an address in disguise" || strings.HasPrefix(s.rules.where(run), "an address with") {
		reason = s.rules.where(run)
	}
	s.add(at+mark, "address", reason, run)
}

// addressRun is an address and what stands right behind it, without the punctuation at its end.
func addressRun(text string) string {
	end := strings.IndexFunc(text, func(c rune) bool { return c <= ' ' || c == '<' || c == '>' || isBlank(c) })
	if end >= 0 {
		text = text[:end]
	}
	for {
		trimmed := strings.TrimRight(text, ".,;:!?'\"*_~|]}`\\”’»。，、；：！？」』】》…")
		if strings.HasSuffix(trimmed, ")") && strings.Count(trimmed, "(") < strings.Count(trimmed, ")") {
			trimmed = strings.TrimSuffix(trimmed, ")")
		}
		if trimmed == text {
			return text
		}
		text = trimmed
	}
}
