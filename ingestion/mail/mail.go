// Package mail reads messages: their parts, headers and attachments.
package mail

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"path"
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
	Data       []byte // decoded
	Cut        bool   // the message ends in it, or its encoding does
}

// CutOff returns a sentence if a message is not whole, or "".
func CutOff(parts []Part) string {
	var names []string
	for i, p := range parts {
		switch {
		case !p.Cut:
		case p.IsFile():
			names = append(names, markdown.OneLine(p.FileName(i+1), 100))
		case strings.HasPrefix(p.MediaType, "text/"):
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
	r := &reader{}
	err = r.part(header(m.Header), m.Body, 0)
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

// header is how both packages name a part's header.
type header map[string][]string

func (h header) get(key string) string {
	if v := h[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

type reader struct {
	parts []Part
	size  int64
	torn  []int // parts without a boundary after them
}

// unclosed reports whether a message has no closing boundary. Programs omit those of inner parts, because the outer one ends them too
// (RFC 2046, section 5.1.2).
func unclosed(h header, data []byte) bool {
	mediaType, params, err := mime.ParseMediaType(h.get("Content-Type"))
	return err == nil && strings.HasPrefix(mediaType, "multipart/") && params["boundary"] != "" &&
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

// part reads a part and those in it. A part that ends early keeps what there is.
func (r *reader) part(h header, body io.Reader, depth int) error {
	if depth > maxDepth || len(r.parts) >= maxParts {
		return errors.New("the message has too many parts")
	}
	mediaType, params, err := mime.ParseMediaType(h.get("Content-Type"))
	if err != nil || mediaType == "" {
		mediaType = "text/plain"
	}
	if strings.HasPrefix(mediaType, "multipart/") && params["boundary"] != "" {
		inner := multipart.NewReader(body, params["boundary"])
		for {
			p, err := inner.NextRawPart()
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || err != nil && len(r.parts) > 0 {
				return nil
			}
			if err != nil {
				return err
			}
			if err := r.part(header(p.Header), p, depth+1); err != nil {
				return err
			}
		}
	}
	disposition, how, _ := mime.ParseMediaType(h.get("Content-Disposition")) // absent: inline
	name := how["filename"]
	if name == "" {
		name = params["name"]
	}
	leaf := Part{
		MediaType: mediaType, Charset: params["charset"], Name: Words(name), Attachment: disposition == "attachment",
		ID: strings.Trim(h.get("Content-Id"), "<> "), Location: strings.TrimSpace(h.get("Content-Location")),
	}
	raw := &torn{r: body}
	decoded, err := io.ReadAll(io.LimitReader(transfer(h.get("Content-Transfer-Encoding"), raw), MaxSize+1))
	if r.size += int64(len(decoded)); r.size > MaxSize {
		return fmt.Errorf("the message holds more than %d MB", MaxSize>>20)
	}
	leaf.Cut = errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && len(decoded) == 0 && !leaf.Cut {
		return nil // a part that cannot be decoded does not cost the others
	}
	if raw.found {
		r.torn = append(r.torn, len(r.parts))
	}
	leaf.Data = decoded
	r.parts = append(r.parts, leaf)
	return nil
}

// torn reads a part and notes whether the data ends before its boundary. What the part's encoding lacks is another error then.
type torn struct {
	r     io.Reader
	found bool
}

func (t *torn) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		t.found, err = true, io.EOF
	}
	return n, err
}

// transfer undoes a part's transfer encoding.
func transfer(encoding string, body io.Reader) io.Reader {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "base64":
		return base64.NewDecoder(base64.StdEncoding, &base64Lines{r: body})
	case "quoted-printable":
		return quotedprintable.NewReader(body)
	}
	return body
}

// base64Lines drops what is no letter of base64: line ends, blanks, and what mailing lists append.
type base64Lines struct{ r io.Reader }

func (b *base64Lines) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	kept := 0
	for _, c := range p[:n] {
		if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' {
			p[kept] = c
			kept++
		}
	}
	return kept, err
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

// Picture returns a function that finds the part for a reference, by Content-ID or by address.
func Picture(parts []Part) func(src string) func() ([]byte, error) {
	return func(src string) func() ([]byte, error) {
		id, byID := strings.CutPrefix(src, "cid:")
		for _, p := range parts {
			if byID && p.ID == id || !byID && src != "" && p.Location == src {
				return func() ([]byte, error) { return p.Data, nil }
			}
		}
		return nil
	}
}

// Shown are the media types of pictures that are shown in the message's own note.
var Shown = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/bmp": true}

// IsFile reports whether a part is something that the sender attached.
func (p Part) IsFile() bool {
	return p.Name != "" && (p.Attachment || p.ID == "") || p.Attachment
}

// FileName returns the name of an attachment. An attached message without one gets its subject.
func (p Part) FileName(n int) string {
	if p.Name != "" {
		return p.Name
	}
	if p.MediaType == "message/rfc822" {
		subject := ""
		if m, err := mail.ReadMessage(bytes.NewReader(p.Data)); err == nil {
			subject = Words(m.Header.Get("Subject"))
		}
		if subject == "" {
			subject = fmt.Sprintf("message %d", n)
		}
		return strings.ReplaceAll(subject, "/", "-") + ".eml"
	}
	return fmt.Sprintf("attachment %d", n)
}

// Files returns the attachments that are imported by themselves.
func Files(parts []Part) (list []Part) {
	for i, p := range parts {
		if !Shown[p.MediaType] && (p.IsFile() || p.MediaType == "message/rfc822") {
			p.Name = path.Base(strings.ReplaceAll(p.FileName(i+1), `\`, "/")) // a folder means nothing here
			list = append(list, p)
		}
	}
	return list
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

// Lines returns a plain body as Markdown with the same lines. Quoted ones stay quotes.
func Lines(s string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		line = strings.TrimRight(line, " \t")
		if line != "" && !strings.HasPrefix(line, ">") {
			line = markdown.Plain(line) + "\\"
		}
		lines = append(lines, line)
	}
	text := strings.Join(lines, "\n")
	text = strings.ReplaceAll(text, "\\\n\n", "\n\n")
	return strings.TrimSuffix(strings.TrimRight(text, "\n"), "\\")
}
