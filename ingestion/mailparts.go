package ingestion

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
	"strings"

	"golang.org/x/net/html/charset"
)

// Bounds of a message (RFC 5322, RFC 2045 to 2047).
const (
	maxMail      = 128 << 20
	maxMailParts = 500
	maxMailDepth = 20
)

// mailPart is a leaf of a message.
type mailPart struct {
	mediaType  string
	charset    string
	name       string // of an attachment
	id         string // Content-ID without its brackets
	location   string // Content-Location, in saved web pages
	attachment bool
	data       []byte // decoded
}

// readMail takes a message apart.
func readMail(data []byte) (*mail.Message, []mailPart, error) {
	m, err := mail.ReadMessage(bytes.NewReader(bytes.TrimLeft(data, "\r\n")))
	if err != nil {
		return nil, nil, err
	}
	r := &mailReader{}
	err = r.part(header(m.Header), m.Body, 0)
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

type mailReader struct {
	parts []mailPart
	size  int64
}

// part reads a part and those in it. A part that ends early keeps what there is.
func (r *mailReader) part(h header, body io.Reader, depth int) error {
	if depth > maxMailDepth || len(r.parts) >= maxMailParts {
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
	leaf := mailPart{
		mediaType: mediaType, charset: params["charset"], name: decodeWords(name), attachment: disposition == "attachment",
		id: strings.Trim(h.get("Content-Id"), "<> "), location: strings.TrimSpace(h.get("Content-Location")),
	}
	decoded, err := io.ReadAll(io.LimitReader(transfer(h.get("Content-Transfer-Encoding"), body), maxMail+1))
	if r.size += int64(len(decoded)); r.size > maxMail {
		return fmt.Errorf("the message holds more than %d MB", maxMail>>20)
	}
	if err != nil && len(decoded) == 0 {
		return nil // a part that cannot be decoded does not cost the others
	}
	leaf.data = decoded
	r.parts = append(r.parts, leaf)
	return nil
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

// text is a text part in UTF-8.
func (p mailPart) text() string {
	if p.charset == "" || strings.EqualFold(p.charset, "utf-8") || strings.EqualFold(p.charset, "us-ascii") {
		return decodeText(p.data).text
	}
	in, err := charset.NewReaderLabel(p.charset, bytes.NewReader(p.data))
	if err != nil {
		return decodeText(p.data).text
	}
	data, err := io.ReadAll(in)
	if err != nil {
		data = p.data
	}
	return strings.ToValidUTF8(string(data), "�")
}

// decodeWords reads the encoded words of a header (RFC 2047).
func decodeWords(s string) string {
	dec := mime.WordDecoder{CharsetReader: charset.NewReaderLabel}
	if plain, err := dec.DecodeHeader(s); err == nil {
		s = plain
	}
	return oneLine(s, 300)
}

// readMHTML finds the page in a saved one, and its pictures by address and by id.
func readMHTML(data []byte) (webSource, error) {
	m, parts, err := readMail(data)
	if err != nil {
		return webSource{}, err
	}
	s := webSource{base: m.Header.Get("Snapshot-Content-Location")}
	for _, p := range parts {
		if s.html == nil && (p.mediaType == "text/html" || p.mediaType == "application/xhtml+xml") {
			s.html, s.contentType = p.data, p.mediaType
			if p.charset != "" {
				s.contentType += "; charset=" + p.charset
			}
			if s.base == "" {
				s.base = p.location
			}
		}
	}
	if s.html == nil {
		return s, errors.New("it holds no page")
	}
	s.part = pictureIn(parts)
	return s, nil
}

// pictureIn finds the part that a reference means: by Content-ID or by address.
func pictureIn(parts []mailPart) func(src string) func() ([]byte, error) {
	return func(src string) func() ([]byte, error) {
		id, byID := strings.CutPrefix(src, "cid:")
		for _, p := range parts {
			if byID && p.id == id || !byID && src != "" && p.location == src {
				return func() ([]byte, error) { return p.data, nil }
			}
		}
		return nil
	}
}
