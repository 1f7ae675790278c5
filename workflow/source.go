package workflow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/workflow/assistantmd"
)

// MaxSize is the largest workflow note in bytes. People and models do not write larger ones.
const MaxSize = 1 << 20

// report collects the diagnostics of a note, in the order of discovery.
type report struct {
	file string
	list []diag.Diagnostic
}

func (r *report) at(line, column int) Position {
	return Position{File: r.file, Line: line, Column: column}
}

func (r *report) add(at Position, code, suggestion, format string, args ...any) {
	r.list = append(r.list, directives.At(at, code, suggestion, format, args...))
}

// mend adds edits to the last diagnostic.
func (r *report) mend(edits ...diag.Edit) {
	if len(r.list) > 0 {
		r.list[len(r.list)-1].Edits = edits
	}
}

// source is a note's text, split into frontmatter and body. Lines have no line ends.
type source struct {
	frontmatter []string // lines between the --- lines; nil without frontmatter
	hasMeta     bool
	metaLine    int    // number of the --- line above the frontmatter
	body        []byte // with \n line ends
	bodyLine    int    // number of the body's first line
	lastLine    int
}

// read checks that a source is text and splits it. It drops a byte order mark and the carriage returns of line ends.
func (s *source) read(src []byte, out *report) bool {
	s.bodyLine = 1
	if len(src) > MaxSize {
		out.add(out.at(1, 1), directives.CodeUnreadable, "", "the file has %d bytes; a workflow may have at most %d", len(src), MaxSize)
		return false
	}
	if line, ok := textual(src); !ok {
		out.add(out.at(line, 1), directives.CodeUnreadable, "save it as UTF-8", "the file is not UTF-8 text")
		return false
	}
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	text := strings.ReplaceAll(strings.ReplaceAll(string(src), "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	s.lastLine = len(lines)
	first := frontmatterStart(lines, out)
	if first < 0 {
		s.body = []byte(text)
		return true
	}
	s.metaLine = first + 1
	for i := first + 1; i < len(lines); i++ {
		if isDashes(lines[i]) {
			s.hasMeta, s.frontmatter = true, lines[first+1:i]
			s.body, s.bodyLine = []byte(strings.Join(lines[i+1:], "\n")), i+2
			return true
		}
	}
	out.add(out.at(s.metaLine, 1), directives.CodeFrontmatterOpen, "add a --- line below the properties", "the frontmatter is not closed")
	s.body = []byte(text)
	return false
}

// frontmatterStart returns the index of the line that opens the frontmatter, or -1. Properties below blank lines are
// reported, since no program sees them there, but read anyway to report their other faults.
func frontmatterStart(lines []string, out *report) int {
	i := 0
	for i < len(lines) && strings.TrimSpace(lines[i]) == "" {
		i++
	}
	switch {
	case i == len(lines) || !isDashes(lines[i]):
		return -1
	case i == 0:
		return 0
	case i+1 == len(lines) || !strings.Contains(lines[i+1], ":"):
		return -1 // a rule
	}
	out.add(out.at(i+1, 1), directives.CodeFrontmatterOpen, "delete the lines above ---", "the frontmatter does not start on the first line")
	out.mend(diag.Edit{Line: 1, Column: 1, EndLine: i + 1, EndColumn: 1})
	return i
}

func isDashes(line string) bool { return strings.TrimRight(line, " \t") == "---" }

// textual reports whether the source is UTF-8 without NUL, and if not, on which line.
func textual(src []byte) (line int, ok bool) {
	line = 1
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			return line, false
		}
		if r == '\n' {
			line++
		}
		i += size
	}
	return line, true
}

func digest(src []byte) string {
	sum := sha256.Sum256(src)
	return hex.EncodeToString(sum[:])
}

// line returns a line of the frontmatter by its number in the note, or "" outside.
func (s *source) line(number int) string {
	if i := number - s.metaLine - 1; i >= 0 && i < len(s.frontmatter) {
		return s.frontmatter[i]
	}
	return ""
}

// rest returns the line of the frontmatter from a position on.
func (s *source) rest(at Position) string {
	line := []rune(s.line(at.Line))
	return string(line[min(at.Column-1, len(line)):])
}

// beside reports whether a property with this name has the indentation of a position.
func (s *source) beside(at Position, name string) bool {
	return slices.ContainsFunc(s.frontmatter, func(line string) bool {
		trimmed := strings.TrimLeft(line, " ")
		return len(line)-len(trimmed) == at.Column-1 && strings.HasPrefix(trimmed, name+":")
	})
}

// old returns the frontmatter as AssistantMD read it.
func (s *source) old(file string) assistantmd.Frontmatter {
	f := assistantmd.Frontmatter{File: file, Start: s.metaLine, Keys: keyNames}
	if s.hasMeta {
		f.Lines = s.frontmatter
	}
	return f
}
