package workflow

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/directives"
)

// MaxSize is the largest workflow note in bytes. A workflow is written by hand or by a model; what is larger is not one.
const MaxSize = 1 << 20

// note is a workflow's text, cut into frontmatter and body. Lines are without their line ends.
type note struct {
	name, file string
	list       []directives.Diagnostic

	frontmatter []string // lines between the --- lines; nil without frontmatter
	hasMeta     bool
	metaLine    int    // number of the --- line above the frontmatter
	body        []byte // with \n line ends
	bodyLine    int    // number of the body's first line
	lastLine    int
	starts      []int              // offsets of the body's lines, once they are needed
	blocks      []directives.Block // of the steps, in order
	directives  int                // of the steps so far
	cutShort    bool               // a --- line has taken directives from a step, which is an error of its own
}

func (n *note) at(line, column int) Position {
	return Position{File: n.file, Line: line, Column: column}
}

func (n *note) add(at Position, code, suggestion, format string, args ...any) {
	n.list = append(n.list, directives.At(at, code, suggestion, format, args...))
}

// read checks that a source is text and cuts it. A byte order mark and the carriage returns of line ends are dropped.
func (n *note) read(src []byte) bool {
	n.bodyLine = 1
	if len(src) > MaxSize {
		n.add(n.at(1, 1), directives.CodeUnreadable, "", "the file has %d bytes; a workflow has at most %d", len(src), MaxSize)
		return false
	}
	if line, ok := textual(src); !ok {
		n.add(n.at(line, 1), directives.CodeUnreadable, "save it as UTF-8", "the file is not UTF-8 text")
		return false
	}
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	text := strings.ReplaceAll(strings.ReplaceAll(string(src), "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	n.lastLine = len(lines)
	first := n.frontmatterStart(lines)
	if first < 0 {
		n.body = []byte(text)
		return true
	}
	n.metaLine = first + 1
	for i := first + 1; i < len(lines); i++ {
		if isDashes(lines[i]) {
			n.hasMeta, n.frontmatter = true, lines[first+1:i]
			n.body, n.bodyLine = []byte(strings.Join(lines[i+1:], "\n")), i+2
			return true
		}
	}
	n.add(n.at(n.metaLine, 1), directives.CodeFrontmatterOpen, "add a --- line below the properties", "the frontmatter is not closed")
	n.body = []byte(text)
	return false
}

// frontmatterStart is the index of the line that opens the frontmatter, or -1. Properties below blank lines are
// reported, since no program sees them there, and read all the same, to report the rest of their faults.
func (n *note) frontmatterStart(lines []string) int {
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
	n.add(n.at(i+1, 1), directives.CodeFrontmatterOpen, "delete the lines above ---", "the frontmatter does not start on the first line")
	n.mend(directives.Edit{Line: 1, Column: 1, EndLine: i + 1, EndColumn: 1})
	return i
}

func isDashes(line string) bool { return strings.TrimRight(line, " \t") == "---" }

// textual says whether the source is UTF-8 without NUL, and on which line it is not.
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
