package mail

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/textproto"
	"regexp"
	"strconv"
	"strings"
)

// header is the header of a message or part.
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

// position is where a part is.
type position struct {
	depth     int
	torn      bool   // no boundary follows
	otherwise string // the type of a part that names none
}

// part reads a part and those in it. A part that ends early keeps what there is.
func (r *reader) part(h header, body []byte, at position) error {
	if at.depth > maxDepth || len(r.parts) >= maxParts {
		return errors.New("the message has too many parts")
	}
	mediaType, params := typed(h.get("Content-Type"))
	if mediaType == "" {
		mediaType = at.otherwise
	}
	if strings.HasPrefix(mediaType, "multipart/") {
		if pieces, after, ended := split(body, params["boundary"]); len(pieces) > 0 || ended {
			return r.inner(mediaType, pieces, after, position{depth: at.depth + 1, torn: !ended})
		}
		mediaType = "text/plain" // nothing divides it
	}
	disposition, how := typed(h.get("Content-Disposition")) // absent: inline
	name := how["filename"]
	if name == "" {
		name = params["name"]
	}
	leaf := Part{
		MediaType: mediaType, Charset: params["charset"], Name: Words(name), Attachment: disposition == "attachment",
		ID: strings.Trim(h.get("Content-Id"), "<> "), Location: strings.TrimSpace(h.get("Content-Location")),
	}
	leaf.Data, leaf.Cut = transfer(h.get("Content-Transfer-Encoding"), body)
	if r.size += int64(len(leaf.Data)); r.size > MaxSize {
		return fmt.Errorf("the message holds more than %d MB", MaxSize>>20)
	}
	if at.torn {
		r.torn = append(r.torn, len(r.parts))
	}
	r.parts = append(r.parts, leaf)
	return nil
}

// inner reads the parts of a multipart, and what programs that know nothing of parts have appended to it.
func (r *reader) inner(mediaType string, pieces [][]byte, after []byte, at position) error {
	torn := at.torn
	at.otherwise = "text/plain"
	if mediaType == "multipart/digest" {
		at.otherwise = "message/rfc822"
	}
	var starts []int
	for i, piece := range pieces {
		starts = append(starts, len(r.parts))
		h, body := headed(piece)
		at.torn = torn && i == len(pieces)-1
		if err := r.part(h, body, at); err != nil {
			return err
		}
	}
	if mediaType == "multipart/alternative" {
		choose(r.parts, starts)
	}
	if len(bytes.TrimSpace(after)) > 0 {
		return r.part(nil, after, position{depth: at.depth, otherwise: "text/plain"})
	}
	return nil
}

// split cuts a body at the lines with a boundary. It returns what is behind the closing one, and whether there is one.
func split(body []byte, boundary string) (pieces [][]byte, after []byte, ended bool) {
	if boundary == "" {
		return nil, nil, false
	}
	mark, start := []byte("--"+boundary), -1
	for at := 0; at < len(body); {
		end := len(body)
		if i := bytes.IndexByte(body[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		rest, found := bytes.CutPrefix(body[at:end], mark)
		rest = bytes.TrimSpace(rest)
		closing := string(rest) == "--"
		if found && (closing || len(rest) == 0) {
			if start >= 0 {
				pieces = append(pieces, bytes.TrimSuffix(bytes.TrimSuffix(body[start:at], []byte("\n")), []byte("\r")))
			}
			if closing {
				return pieces, body[end:], true
			}
			start = end
		}
		at = end
	}
	if start >= 0 {
		pieces = append(pieces, body[start:])
	}
	return pieces, nil, false
}

var (
	headerEnd = regexp.MustCompile(`(?:^|\n)\r?(?:\n|$)`)
	folded    = regexp.MustCompile(`\r?\n[ \t]+`)
)

// headed divides a part into its header and its body. Text that begins without a header is a body.
func headed(piece []byte) (header, []byte) {
	h, head, body := header{}, piece, []byte(nil)
	if end := headerEnd.FindIndex(piece); end != nil {
		head, body = piece[:end[0]], piece[end[1]:]
	}
	for line := range bytes.Lines(folded.ReplaceAll(head, []byte(" "))) {
		name, value, found := bytes.Cut(line, []byte(":"))
		name = bytes.TrimRight(name, " \t")
		if found && len(name) > 0 && !bytes.ContainsAny(name, " \t") {
			key := textproto.CanonicalMIMEHeaderKey(string(name))
			h[key] = append(h[key], string(bytes.TrimSpace(value)))
		} else if len(h) == 0 {
			return h, piece
		}
	}
	return h, body
}

// typed reads the value of a header with parameters. Those that break the rules, such as names with blanks but without quotes, are read too.
func typed(value string) (string, map[string]string) {
	kind, params, err := mime.ParseMediaType(value)
	if err == nil {
		return kind, params
	}
	fields := strings.Split(value, ";")
	params = map[string]string{}
	for _, f := range fields[1:] {
		if key, v, found := strings.Cut(f, "="); found {
			params[strings.ToLower(strings.TrimSpace(key))] = strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	kind = strings.ToLower(strings.TrimSpace(fields[0]))
	if strings.ContainsAny(kind, " \t=") {
		kind = ""
	}
	return kind, params
}

// transfer undoes a part's transfer encoding. It reports whether the encoding ends early.
func transfer(encoding string, body []byte) (data []byte, cut bool) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "base64":
		data, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, &base64Lines{r: bytes.NewReader(body)}))
		return data, errors.Is(err, io.ErrUnexpectedEOF) || err != nil && len(data) == 0
	case "quoted-printable":
		return unquoted(body), bytes.HasSuffix(body, []byte("="))
	}
	return body, false
}

// unquoted decodes quoted-printable. What breaks its rules stays as it is.
func unquoted(body []byte) []byte {
	out := make([]byte, 0, len(body))
	for len(body) > 0 {
		line, rest, ended := bytes.Cut(body, []byte("\n"))
		body = rest
		end := "\n"
		if bytes.HasSuffix(line, []byte("\r")) {
			end = "\r\n"
		}
		line = bytes.TrimRight(line, " \t\r")
		line, soft := bytes.CutSuffix(line, []byte("="))
		for len(line) > 0 {
			if line[0] == '=' && len(line) >= 3 {
				if c, err := strconv.ParseUint(string(line[1:3]), 16, 8); err == nil {
					out, line = append(out, byte(c)), line[3:]
					continue
				}
			}
			out, line = append(out, line[0]), line[1:]
		}
		if ended && !soft {
			out = append(out, end...)
		}
	}
	return out
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
