package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/vault"
)

// SearchFiles is the name of the tool that finds text in files.
const SearchFiles = "search_files"

// Bounds of one search.
const (
	maxQuery     = 500       // bytes of the pattern
	maxMatches   = 100       // lines in one result
	maxFileBytes = 4 << 20   // of one file; larger ones are only named
	maxBytes     = 256 << 20 // of all files
	maxLine      = 240       // bytes shown of a line
)

const searchFilesParameters = `{"type":"object","properties":{` +
	`"query":{"type":"string","minLength":1,"maxLength":500,"description":"The text to find, or with regexp=true an RE2 regular expression, matched line by line."},` +
	`"regexp":{"type":"boolean","description":"The query is a regular expression."},` +
	`"case_sensitive":{"type":"boolean","description":"Match case; default: ignore case."},` +
	`"folder":{"type":"string","description":"Folder from the vault's root; default: the whole vault."},` +
	`"glob":{"type":"string","description":"Pattern below the folder, such as **/*.md; default: all text files."},` +
	`"from":{"type":"integer","minimum":0,"description":"Matches to skip. A cut result names the next one."}` +
	`},"required":["query"],"additionalProperties":false}`

type searchFilesInput struct {
	Query         string `json:"query"`
	Regexp        bool   `json:"regexp"`
	CaseSensitive bool   `json:"case_sensitive"`
	listFilesInput
}

// SearchTool is search_files.
func (f *Finder) SearchTool() Tool {
	return Tool{
		Name: SearchFiles, Parameters: json.RawMessage(searchFilesParameters), Run: f.search,
		Description: "Finds a text or a regular expression in the text files of the vault. Each match is one line: file:line: text.",
	}
}

func (f *Finder) search(ctx context.Context, input json.RawMessage) content.ToolResult {
	in, err := parse[searchFilesInput](input, `{"query": "deadline", "glob": "**/*.md"}`)
	if err != nil {
		return Failed("%v", err)
	}
	pattern, err := in.pattern()
	if err != nil {
		return Failed("%v", err)
	}
	dir, err := in.where(f.Paths)
	if err != nil {
		return Failed("%v", err)
	}
	s := search{pattern: pattern, skip: in.From, room: room(f.MaxText) - reserve}
	bundles := vault.NewBundles(f.FS)
	whole, err := f.walk(ctx, dir, false, func(name string, d fs.DirEntry) error {
		if !in.fits(bundles, dir, name) || in.Glob == "" && !strings.HasSuffix(dir, "/"+vault.TextDir) && bundles.IsPageText(name) {
			return nil // a page's text is found once, in the note
		}
		return s.file(f.Paths, name, d)
	})
	if err != nil {
		return Failed("search: %v", plain(err))
	}
	return said(s.words(in, whole))
}

// pattern returns the query as a regular expression.
func (in searchFilesInput) pattern() (*regexp.Regexp, error) {
	if in.Query == "" || len(in.Query) > maxQuery {
		return nil, fmt.Errorf("query must have 1 to %d bytes", maxQuery)
	}
	expr := in.Query
	if !in.Regexp {
		expr = regexp.QuoteMeta(expr)
	}
	if !in.CaseSensitive {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("query is not a valid RE2 regular expression: %w", err)
	}
	return re, nil
}

// search is one call of search_files.
type search struct {
	pattern *regexp.Regexp
	skip    int
	room    int // bytes of text left

	b       strings.Builder
	matches int // found, including skipped ones
	shown   int
	files   int   // with a shown match
	read    int64 // bytes
	large   []string
	stopped string // why the search ended early
}

// file searches one file, and ends the walk when the result is full.
func (s *search) file(p Paths, name string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return nil //nolint:nilerr // gone since it was listed
	}
	if info.Size() > maxFileBytes {
		if len(s.large) < 5 {
			s.large = append(s.large, name)
			p.named(name)
		}
		return nil
	}
	if s.read += info.Size(); s.read > maxBytes {
		p.named(name)
		s.stopped = fmt.Sprintf("stopped before %s, after %s: name a folder or a glob", name, content.FormatSize(maxBytes))
		return fs.SkipAll
	}
	file, err := p.FS.Open(name)
	if err != nil {
		return nil //nolint:nilerr // gone, or not readable
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes))
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		return nil //nolint:nilerr // not readable, or no text
	}
	return s.lines(p, name, data)
}

func (s *search) lines(p Paths, name string, data []byte) error {
	first := true
	for n := 1; len(data) > 0; n++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		at := s.pattern.FindIndex(line)
		if at == nil {
			continue
		}
		if s.matches++; s.matches <= s.skip {
			continue
		}
		row := fmt.Sprintf("%s:%d: %s\n", name, n, excerpt(line, at))
		if s.shown == maxMatches || len(row) > s.room {
			s.matches--
			s.stopped = fmt.Sprintf("more matches: call again with from=%d", s.matches)
			return fs.SkipAll
		}
		s.b.WriteString(row)
		s.shown, s.room = s.shown+1, s.room-len(row)
		if first {
			first, s.files = false, s.files+1
			p.seen(name)
		}
	}
	return nil
}

// excerpt returns the line, or the part of a long line around the match.
func excerpt(line []byte, at []int) string {
	line = bytes.TrimRight(line, "\r")
	if len(line) <= maxLine {
		return strings.ToValidUTF8(string(line), "\uFFFD")
	}
	from := max(min(at[0]-maxLine/4, len(line)-maxLine), 0)
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	text := cutText(string(line[from:]), maxLine)
	if from > 0 {
		text = "…" + text
	}
	return strings.ToValidUTF8(text, "\uFFFD") + "…"
}

func (s *search) words(in searchFilesInput, whole bool) string {
	var notes []string
	if s.shown == 0 {
		notes = append(notes, fmt.Sprintf("no match for %.80q", in.Query))
	}
	if s.stopped != "" {
		notes = append(notes, s.stopped)
	}
	if len(s.large) > 0 {
		notes = append(notes, "too large to search: "+strings.Join(s.large, ", "))
	}
	if !whole {
		notes = append(notes, fmt.Sprintf("more than %d entries: name a folder", maxWalked))
	}
	for _, note := range notes {
		s.b.WriteString("[" + note + "]\n")
	}
	return s.b.String()
}
