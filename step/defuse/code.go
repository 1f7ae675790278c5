package defuse

import (
	"html"
	"regexp"
	"slices"
	"strings"
)

// fence is the line that begins or ends a block of code: its indentation or container, its marks, and the word after them.
var fence = regexp.MustCompile("(?m)^([ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*[ \t>]*)(`{3,}|~{3,})([^\n]*)$")

// plain are the languages of code that no plugin runs in a note. Plugins may run any other, and a list of those is never complete.
var plain = strings.Fields(`text txt plain plaintext none console terminal output log diff patch sh bash shell zsh fish powershell ps1 bat cmd c h cpp c++ cc hpp cs csharp
	go golang java kotlin scala rust rs swift objc objective-c python py python3 ruby rb perl php lua r julia haskell hs ocaml elixir erlang clojure lisp scheme
	javascript js typescript ts json json5 jsonc yaml yml toml ini conf properties xml html css scss sass less sql graphql proto protobuf dockerfile docker
	makefile make cmake nix hcl terraform vim tex latex bibtex markdown md csv http asm nasm zig dart groovy gradle matlab fortran pascal solidity wasm regex jsx tsx vue svelte sqlite
	query`)

// fences marks the blocks of code that something may run.
func (s *scanner) fences() {
	for _, m := range fence.FindAllStringSubmatchIndex(s.src, -1) {
		info := s.src[m[6]:m[7]]
		block := block(s.src, m[4], s.src[m[4]:m[5]])
		if !isActive(info, block) || within(s.code, m[4]) {
			continue
		}
		s.add(m[5], "fence", "code that a plugin may run: "+strings.TrimSpace(firstWord(info)), block)
	}
}

// block is a block of code from its fence to the next one like it.
func block(src string, at int, marks string) string {
	text := ahead(src, at)
	if i := strings.Index(text[len(marks):], "\n"+marks); i >= 0 {
		return text[:len(marks)+i+1+len(marks)]
	}
	return text
}

func firstWord(info string) string {
	fields := strings.Fields(info)
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}

// isActive reports whether the words after a fence name a language that something may run.
func isActive(info, block string) bool {
	if strings.HasPrefix(strings.TrimLeft(info, " \t"), Mark) || strings.Trim(info, " \t\r`~") == "" {
		return false
	}
	word := strings.ToLower(strings.TrimLeft(firstWord(html.UnescapeString(info)), "{."))
	if end := strings.IndexAny(word, "},("); end >= 0 {
		word = word[:end]
	}
	if word == "mermaid" {
		return loadingDiagram.MatchString(block)
	}
	return !slices.Contains(plain, word)
}

// loadingDiagram is what a diagram of Mermaid may link, load or style with. Its blocks hold YAML and CSS, which write
// addresses with escapes, so that an escape is enough.
var loadingDiagram = regexp.MustCompile(`(?i)@\s*\{|%%\s*\{|^[^\n]*\n\s*---|\\|&|<|url|href|click|link|image|img|icon|css|http|//|[\x00-\x08\x0b\x0c\x0e-\x1f]|\p{Cf}`)

// doubt matches what makes it uncertain whether a line of backticks begins code.
var doubt = regexp.MustCompile("(?im)%%|\\$\\$|^[ \t>*+0-9.)-]*</?[a-z!?]|<(?:script|style|pre|textarea)")

// regions finds what is code for every reader (at the line's beginning, closed, of a language that nobody carries out), and
// where addresses are loaded by plugins: in blocks of other languages, and in frontmatter.
func (s *scanner) regions(trusted bool) (code, strict []span) {
	start := frontmatter(s.src)
	if start > 0 {
		strict = s.loaded(start)
	}
	if strings.Contains(s.src[:start], "excalidraw-plugin") {
		return nil, []span{{0, len(s.src)}}
	}
	open, marks, from, isPlain := false, "", 0, false
	var outer []span
	last := start
	for _, m := range fence.FindAllStringSubmatchIndex(s.src, -1) {
		if m[0] < start {
			continue
		}
		run, info := s.src[m[4]:m[5]], strings.TrimSpace(s.src[m[6]:m[7]])
		switch {
		case !open && run[0] == '`' && strings.Contains(info, "`"): // inline code
			trusted = false
		case !open:
			open, marks, from = true, run, min(m[1]+1, len(s.src))
			isPlain = info == "" || slices.Contains(plain, strings.ToLower(info))
			if m[4] != m[0] {
				trusted = false // within a list or a quotation
			}
		case run[0] == marks[0] && len(run) >= len(marks) && info == "" && len(s.src[m[0]:m[4]])-len(strings.TrimLeft(s.src[m[0]:m[4]], " ")) <= 3:
			open = false
			if isPlain && m[4]-m[0] <= 3 {
				code, outer = append(code, span{from, m[0]}), append(outer, span{last, from})
				last = m[0]
			} else if !isPlain {
				strict = append(strict, span{from, m[0]})
			}
		}
	}
	outer = append(outer, span{last, len(s.src)})
	if open && !isPlain {
		strict = append(strict, span{from, len(s.src)})
	}
	for _, o := range outer {
		trusted = trusted && !doubt.MatchString(s.src[o.from:o.to])
	}
	if !trusted {
		return nil, strict
	}
	for _, o := range outer {
		code = append(code, inline(s.src, o)...)
	}
	slices.SortFunc(code, func(a, b span) int { return a.from - b.from })
	return code, strict
}

var blankLine = regexp.MustCompile(`\n[ \t>]*\n`)

// lastBlankLine is where the paragraph at a text's end begins, -1 when it is the first one.
func lastBlankLine(text string) int {
	base := max(0, len(text)-maxConstruct)
	text = text[base:]
	end := len(text)
	for {
		i := strings.LastIndexByte(text[:end], '\n')
		if i < 0 {
			return -1
		}
		if j := strings.LastIndexByte(text[:i], '\n'); strings.Trim(text[j+1:i], " \t>") == "" {
			return base + i + 1
		}
		end = i
	}
}

// inline finds inline code that every reader takes for it: all of its paragraph's backticks stand alone and close on their
// line, and nothing else on the line could be read first.
func inline(src string, in span) (code []span) {
	at := in.from
	for _, paragraph := range blankLine.Split(src[in.from:in.to], -1) {
		start := at + strings.Index(src[at:in.to], paragraph)
		at = start + len(paragraph)
		if found, sure := inlineOf(paragraph, start); sure {
			code = append(code, found...)
		}
	}
	return code
}

func inlineOf(paragraph string, at int) (code []span, sure bool) {
	for line := range strings.SplitAfterSeq(paragraph, "\n") {
		parts := strings.Split(line, "`")
		if len(parts)%2 == 0 {
			return nil, false
		}
		from := at
		for i, part := range parts {
			if i%2 == 1 {
				if part == "" {
					return nil, false
				}
				code = append(code, span{from, from + len(part)})
			} else if strings.ContainsAny(part, "$<|\\") || strings.Contains(part, "[[") || i > 0 && i < len(parts)-1 && part == "" {
				return nil, false
			}
			from += len(part) + 1
		}
		at += len(line)
	}
	return code, true
}

// quiet reports whether a text leaves nothing open that would change how a text behind it reads.
func quiet(text string) bool {
	open := ""
	for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
		run, info := text[m[4]:m[5]], strings.TrimSpace(text[m[6]:m[7]])
		switch {
		case m[4] != m[0]:
			return false
		case open == "":
			open = run
		case run[0] == open[0] && len(run) >= len(open) && info == "":
			open = ""
		}
	}
	return open == "" && !doubt.MatchString(text)
}

// frontmatter is the length of the properties at a text's beginning; 0 when there are none.
func frontmatter(src string) int {
	first, rest, _ := strings.Cut(src, "\n")
	if strings.TrimRight(strings.TrimPrefix(first, "\ufeff"), " \t\r") != "---" {
		return 0
	}
	at := len(first) + 1
	for line := range strings.SplitAfterSeq(rest, "\n") {
		at += len(line)
		if strings.TrimRight(line, " \t\r\n") == "---" {
			return min(at, len(src))
		}
	}
	return len(src)
}

// linkKeys are properties whose addresses are links for people. What other properties hold, a theme or a plugin may load.
var linkKeys = []string{"url", "urls", "source", "sources", "link", "links", "website", "homepage", "site", "address", "reference", "references", "via", "web"}

var (
	propertyKey = regexp.MustCompile(`^["']?([^\s"':#][^"':]*)["']?[ \t]*:`)
	yamlEscape  = regexp.MustCompile(`\\(?:[xuU/]|\r?\n)|!![a-z]|!<|(?:^|[\s:,\[{\-])\*[A-Za-z0-9_\-]+`)
)

// loaded are the parts of the frontmatter in which addresses may be loaded. It marks what would hide one.
func (s *scanner) loaded(end int) (strict []span) {
	for _, m := range yamlEscape.FindAllStringIndex(s.src[:end], -1) {
		at := m[0] + max(0, strings.IndexAny(s.src[m[0]:m[1]], `\!*`))
		s.add(at, "escape", "a value in disguise", line(s.src, at))
	}
	at, key := 0, ""
	for line := range strings.SplitAfterSeq(s.src[:end], "\n") {
		if m := propertyKey.FindStringSubmatch(line); m != nil {
			key = strings.ToLower(strings.TrimSpace(m[1]))
		} else if strings.TrimLeft(line, " \t-#}])\r\n") == line {
			key = ""
		}
		if !slices.Contains(linkKeys, key) {
			strict = append(strict, span{at, at + len(line)})
		}
		at += len(line)
	}
	return strict
}
