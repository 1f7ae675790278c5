package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/content"
)

// ReadVariable is the name of the tool that reads variables of the run.
const ReadVariable = "read_variable"

// Variables are those of the run, with what tools have put there.
type Variables interface {
	// Names lists them.
	Names() []string
	// Value is the text of one. found is false when it is not set.
	Value(ctx context.Context, name string) (text string, found bool, err error)
}

// VariableReader is read_variable. It is safe for concurrent use when its variables are.
type VariableReader struct {
	Variables Variables
	MaxText   int
}

// maxPeek is how much of a variable `peek` shows, in bytes.
const maxPeek = 2 << 10

const readVariableParameters = `{"type":"object","properties":{` +
	`"action":{"type":"string","enum":["list","peek","read","search"],"description":"list: all names with sizes. peek: the beginning of one. read: lines of one. search: its lines that contain a text."},` +
	`"name":{"type":"string","description":"Name of the variable; not for list."},` +
	`"start_line":{"type":"integer","minimum":1,"description":"For read: the first line."},` +
	`"end_line":{"type":"integer","minimum":1,"description":"For read: the last line."},` +
	`"query":{"type":"string","maxLength":500,"description":"For search: the text. Case is ignored."},` +
	`"from":{"type":"integer","minimum":0,"description":"For read: byte to continue from in a long line, as a result says. For search: matches to skip."}` +
	`},"required":["action"],"additionalProperties":false}`

type readVariableInput struct {
	Action    string `json:"action"`
	Name      string `json:"name"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	Query     string `json:"query"`
	From      int    `json:"from"`
}

// Tool is read_variable.
func (r *VariableReader) Tool() Tool {
	return Tool{
		Name: ReadVariable, Parameters: json.RawMessage(readVariableParameters), Run: r.run,
		Description: "Reads variables of the run: texts that earlier steps set, and tool results that were too long to show.",
	}
}

func (r *VariableReader) run(ctx context.Context, input json.RawMessage) content.ToolResult {
	in, err := parse[readVariableInput](input, `{"action": "read", "name": "tool_1", "start_line": 1}`)
	if err != nil {
		return Failed("%v", err)
	}
	if in.Action == "list" {
		return r.list(ctx)
	}
	text, found, err := r.Variables.Value(ctx, in.Name)
	switch {
	case err != nil:
		return Failed("the variable %.80q cannot be read", in.Name)
	case !found:
		return Failed("no variable %.80q; variables: %s", in.Name, clipped(strings.Join(r.Variables.Names(), ", ")))
	}
	var words string
	switch in.Action {
	case "peek":
		words = peek(text)
	case "read":
		words, err = r.read(in, text)
	case "search":
		words, err = r.search(in, text)
	default:
		err = fmt.Errorf("action must be list, peek, read or search, not %.40q", in.Action)
	}
	if err != nil {
		return Failed("%v", err)
	}
	return said(words)
}

func (r *VariableReader) list(ctx context.Context) content.ToolResult {
	var b strings.Builder
	for _, name := range r.Variables.Names() {
		text, found, err := r.Variables.Value(ctx, name)
		if err != nil || !found {
			continue
		}
		row := fmt.Sprintf("%s  %s  %s\n", name, content.FormatSize(int64(len(text))), lineCount([]byte(text)))
		if b.Len()+len(row) > room(r.MaxText)-reserve {
			b.WriteString("[and more]\n")
			break
		}
		b.WriteString(row)
	}
	if b.Len() == 0 {
		return said("[no variables]")
	}
	return said(b.String())
}

// peek returns the beginning of a text, and its size.
func peek(text string) string {
	if len(text) <= maxPeek {
		return text
	}
	return cutText(text, maxPeek) + fmt.Sprintf("\n[the beginning of %s, %s]", content.FormatSize(int64(len(text))), lineCount([]byte(text)))
}

// read returns lines. A line that is too long for a result is continued by bytes.
func (r *VariableReader) read(in readVariableInput, text string) (string, error) {
	most := room(r.MaxText) - reserve
	if in.From > 0 {
		if in.From >= len(text) {
			return "", fmt.Errorf("the value has %d bytes; from is %d", len(text), in.From)
		}
		part := cutText(strings.ToValidUTF8(text[in.From:], ""), most)
		if end := in.From + len(part); end < len(text) {
			part += fmt.Sprintf("\n[more: call again with from=%d, of %d bytes]", end, len(text))
		}
		return part, nil
	}
	if err := ordered(in.StartLine, in.EndLine, "start_line", "end_line"); err != nil {
		return "", err
	}
	lines := splitLines(text)
	first, last := max(in.StartLine, 1), in.EndLine
	if last == 0 || last > len(lines) {
		last = len(lines)
	}
	if len(lines) == 0 {
		return "[empty]", nil
	}
	if first > len(lines) {
		return "", fmt.Errorf("the value has %d lines; start_line is %d", len(lines), first)
	}
	var b strings.Builder
	n := first
	for ; n <= last && b.Len()+len(lines[n-1])+8 <= most; n++ {
		fmt.Fprintf(&b, "%6d\t%s\n", n, lines[n-1])
	}
	switch {
	case n == first:
		before := lineStart(text, n)
		part := cutText(lines[n-1], most)
		return part + fmt.Sprintf("\n[more of line %d: call again with from=%d, of %d bytes]", n, before+len(part), len(text)), nil
	case n <= len(lines):
		fmt.Fprintf(&b, "[lines %d-%d of %d; call again with start_line=%d]\n", first, n-1, len(lines), n)
	}
	return b.String(), nil
}

// lineStart returns the byte at which a line begins. Lines count from 1.
func lineStart(text string, line int) int {
	at := 0
	for ; line > 1; line-- {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	return at
}

func (r *VariableReader) search(in readVariableInput, text string) (string, error) {
	if in.Query == "" || len(in.Query) > maxQuery {
		return "", errors.New("query must have 1 to 500 bytes")
	}
	pattern, err := searchFilesInput{Query: in.Query}.pattern()
	if err != nil {
		return "", err
	}
	s := search{pattern: pattern, skip: in.From, room: room(r.MaxText) - reserve}
	_ = s.lines(Paths{}, in.Name, []byte(text)) // it only ends a walk
	return s.words(searchFilesInput{Query: in.Query}, true), nil
}
