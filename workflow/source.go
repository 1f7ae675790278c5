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
	body        []byte // with \n line ends
	bodyLine    int    // number of the body's first line
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
	if !isDashes(lines[0]) {
		n.body = []byte(text)
		n.lateFrontmatter(lines)
		return true
	}
	for i := 1; i < len(lines); i++ {
		if isDashes(lines[i]) {
			n.hasMeta, n.frontmatter = true, lines[1:i]
			n.body, n.bodyLine = []byte(strings.Join(lines[i+1:], "\n")), i+2
			return true
		}
	}
	n.add(n.at(1, 1), directives.CodeFrontmatterOpen, "add a --- line below the properties", "the frontmatter is not closed")
	n.body = []byte(text)
	return false
}

// lateFrontmatter reports properties below blank lines, where no program sees them.
func (n *note) lateFrontmatter(lines []string) {
	i := 0
	for i < len(lines) && strings.TrimSpace(lines[i]) == "" {
		i++
	}
	if i == 0 || i+1 >= len(lines) || !isDashes(lines[i]) || !strings.Contains(lines[i+1], ":") {
		return
	}
	n.add(n.at(i+1, 1), directives.CodeFrontmatterOpen, "delete the lines above ---", "the frontmatter does not start on the first line")
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
