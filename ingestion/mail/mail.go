// Package mail reads messages: their parts, headers and attachments.
package mail

import (
	"bytes"
	"io"
	"mime"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"

	textenc "github.com/vaultflow/vaultflow/ingestion/charset"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// Limits of a message (RFC 5322, RFC 2045 to 2047).
const (
	MaxSize  = 128 << 20
	maxParts = 500
	maxDepth = 20
)

// Part is a leaf of a message.
type Part struct {
	MediaType  string
	Charset    string
	Name       string // of an attachment
	ID         string // Content-ID without its brackets
	Location   string // Content-Location, in saved web pages
	Attachment bool
	Covered    bool   // another part says the same, or shows it
	Data       []byte // decoded
	Cut        bool   // the message ends in it, or its encoding does
}

// CutOff returns a sentence if a message is not whole, or "".
func CutOff(parts []Part) string {
	var names []string
	for i, p := range parts {
		switch {
		case !p.Cut:
		case p.IsFile() || Shown[p.MediaType]:
			names = append(names, markdown.OneLine(p.FileName(i+1), 100))
		case p.readable():
			names = append(names, "its text")
		}
	}
	switch {
	case len(names) > 0:
		return "the message is cut off in " + strings.Join(names, " and ") + ": a part of it may be missing, and so may what followed; ask for the message again"
	case slices.ContainsFunc(parts, func(p Part) bool { return p.Cut }):
		return "the message has no mark of its end: it may be cut off, and text or attachments may be missing; if so, ask for it again"
	}
	return ""
}

// Read reads a message and its parts. Those of a message that is cut off are as far as they go; see [CutOff].
func Read(data []byte) (*mail.Message, []Part, error) {
	m, err := mail.ReadMessage(bytes.NewReader(bytes.TrimLeft(data, "\r\n")))
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(m.Body)
	if err != nil {
		return nil, nil, err
	}
	r := &reader{}
	err = r.part(header(m.Header), body, position{otherwise: "text/plain"})
	if unclosed(header(m.Header), data) {
		for _, i := range r.torn {
			r.parts[i].Cut = true
		}
		r.parts = append(r.parts, Part{Cut: true})
	}
	if len(r.parts) == 1 && stops(header(m.Header), data, r.parts[0]) {
		r.parts[0].Cut = true
	}
	return m, r.parts, err
}

// unclosed reports whether a message has no closing boundary. Programs omit those of inner parts, because the outer one ends them too
// (RFC 2046, section 5.1.2).
func unclosed(h header, data []byte) bool {
	mediaType, params := typed(h.get("Content-Type"))
	return strings.HasPrefix(mediaType, "multipart/") && params["boundary"] != "" &&
		!bytes.Contains(data, []byte("\n--"+params["boundary"]+"--"))
}

// stops reports whether a message of one part is shorter than its header says, or is a page of HTML without its end. Other text has no
// mark of its end.
func stops(h header, data []byte, p Part) bool {
	_, body, found := bytes.Cut(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	if n, err := strconv.Atoi(h.get("Content-Length")); err == nil && found && n > len(body)+bytes.Count(body, []byte("\n")) {
		return true
	}
	text := bytes.ToLower(p.Data)
	return p.MediaType == "text/html" && bytes.Contains(text, []byte("<html")) && !bytes.Contains(text, []byte("</html")) && !bytes.Contains(text, []byte("</body"))
}

// Text returns a text part in UTF-8.
func (p Part) Text() string {
	if p.Charset == "" || strings.EqualFold(p.Charset, "utf-8") || strings.EqualFold(p.Charset, "us-ascii") {
		return textenc.Decode(p.Data).Text
	}
	in, err := charset.NewReaderLabel(p.Charset, bytes.NewReader(p.Data))
	if err != nil {
		return textenc.Decode(p.Data).Text
	}
	data, err := io.ReadAll(in)
	if err != nil {
		data = p.Data
	}
	return strings.ToValidUTF8(string(data), "�")
}

// Words decodes the encoded words of a header (RFC 2047).
func Words(s string) string {
	dec := mime.WordDecoder{CharsetReader: charset.NewReaderLabel}
	if plain, err := dec.DecodeHeader(s); err == nil {
		s = plain
	}
	return markdown.OneLine(s, 300)
}

// Head returns the sender, the recipients and the date as a list.
func Head(m *mail.Message) string {
	var b strings.Builder
	for _, key := range []string{"From", "To", "Cc", "Date"} {
		if v := Words(m.Header.Get(key)); v != "" {
			b.WriteString("- " + key + ": " + markdown.Inline(strings.NewReplacer("<", "(", ">", ")").Replace(v)) + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// Lines returns a plain body as Markdown with the same lines. Quoted ones stay quotes, and nothing that follows becomes a part of them.
func Lines(s string) string {
	var lines []string
	before := 0
	for line := range strings.SplitSeq(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		line = strings.TrimRight(line, " \t")
		level := strings.Count(quoteMarks.FindString(line), ">")
		if n := len(lines); line != "" && n > 0 && lines[n-1] != "" && (level < before || level > 0 && before == 0) {
			lines = append(lines, strings.Repeat(">", min(level, before)))
		}
		if before = level; line != "" && level == 0 {
			line = markdown.Plain(line) + "\\"
		}
		lines = append(lines, line)
	}
	return lastBreak.ReplaceAllString(strings.TrimRight(strings.Join(lines, "\n"), "\n"), "$1$2")
}

var (
	quoteMarks = regexp.MustCompile(`^(?:> ?)+`)
	lastBreak  = regexp.MustCompile(`(?m)^([^>\n].*)\\(\n\n|\z)`) // in a paragraph
)
