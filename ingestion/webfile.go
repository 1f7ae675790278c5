package ingestion

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/mail"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/ingestion/webpage"
)

// webFile reads saved web pages: HTML, and MHTML with its pictures.
type webFile struct{}

func (webFile) name() string { return "html" }

func (webFile) extract(ctx context.Context, w *work) error {
	if done, err := w.store.composedBefore(); err != nil || done {
		return err
	}
	data, err := w.whole(webpage.MaxSize)
	if err != nil {
		return err
	}
	if data == nil {
		return keeper{}.extract(ctx, w)
	}
	source := webSource{html: data, base: savedFrom(data), from: savedFrom(data)}
	if w.job.Route.MediaType == "multipart/related" {
		if source, err = readMHTML(data); err != nil {
			return fault.Permanent(failure.Corrupt, "save the page again, as a web page", "the saved page cannot be read: %v", err)
		}
	}
	c, err := source.composed()
	if err != nil {
		return fault.Permanent(failure.Corrupt, "open it in a browser and save it again", "the page cannot be read: %v", err)
	}
	c.cutOff(strings.Replace(source.cut, "the message", "the saved page", 1))
	return composing{w}.compose(ctx, c)
}

// composed returns the readable part of the page.
func (source webSource) composed() (c composed, err error) {
	page, err := webpage.Readable(source.html, source.contentType, source.base, c.hooks(source.part))
	if err != nil {
		return c, err
	}
	c.title, c.author, c.created = page.Title, page.Author, page.Published
	text := page.Markdown
	if to := safeWebLink(source.from); to != "" {
		text = "Saved from [" + markdown.Inline(source.from) + "](" + to + ")\n\n" + text
	}
	c.parts = []composedPart{{"", text}}
	return c, nil
}

// webSource is a page with the files saved with it.
type webSource struct {
	html        []byte
	contentType string
	base        string                                  // the address that its references are relative to; empty if they mean files
	from        string                                  // the page's address, if the file has it
	part        func(src string) func() ([]byte, error) // a picture saved with the page; nil if there is none
	cut         string                                  // what is missing at its end
}

// whole returns the file's bytes, or nil if it is larger than the limit.
func (w *work) whole(limit int64) ([]byte, error) {
	if w.job.Size > limit {
		return nil, nil
	}
	file, size, err := w.im.open(w.job.at())
	if err != nil {
		return nil, fault.Storage("open "+w.job.at(), err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.NewSectionReader(file, 0, min(size, limit)))
	if err != nil {
		return nil, fault.Storage("read "+w.job.at(), err)
	}
	return data, nil
}

// hooks keep web links and the pictures in the page itself or saved with it. A picture that would have to be fetched becomes a link.
func (c *composed) hooks(saved func(src string) func() ([]byte, error)) webpage.Hooks {
	return webpage.Hooks{
		Link: safeWebLink,
		Image: func(src, alt string) string {
			load := inlinePicture(src)
			if load == nil && saved != nil {
				load = saved(src)
			}
			if load != nil {
				c.pictures = append(c.pictures, load)
				return pictureMark(len(c.pictures)-1, alt)
			}
			if to := safeWebLink(src); to != "" {
				if alt == "" {
					alt = "picture"
				}
				return "[" + markdown.Inline(alt) + "](" + to + ")"
			}
			return markdown.Inline(alt)
		},
	}
}

// safeWebLink keeps addresses that readers can follow.
func safeWebLink(to string) string {
	u, err := url.Parse(strings.TrimSpace(to))
	if err != nil {
		return ""
	}
	switch u.Scheme {
	case "http", "https", "mailto", "tel":
		return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", "|", "%7C").Replace(u.String())
	}
	return ""
}

var errNoPicture = errors.New("not a picture")

// inlinePicture loads a picture from a data: address. It returns nil for other addresses.
func inlinePicture(src string) func() ([]byte, error) {
	rest, ok := strings.CutPrefix(src, "data:image/")
	if !ok {
		return nil
	}
	head, body, ok := strings.Cut(rest, ",")
	return func() ([]byte, error) {
		if !ok || !strings.HasSuffix(head, ";base64") || len(body) > maxAsset*4/3 {
			return nil, errNoPicture
		}
		if plain, err := url.PathUnescape(body); err == nil {
			body = plain
		}
		return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(body), ""))
	}
}

// readMHTML finds the page in a saved one, and its pictures by address and by id.
func readMHTML(data []byte) (webSource, error) {
	m, parts, err := mail.Read(data)
	if err != nil {
		return webSource{}, err
	}
	s := webSource{base: m.Header.Get("Snapshot-Content-Location"), cut: mail.CutOff(parts)}
	for _, p := range parts {
		if s.html == nil && (p.MediaType == "text/html" || p.MediaType == "application/xhtml+xml") {
			s.html, s.contentType = p.Data, p.MediaType
			if p.Charset != "" {
				s.contentType += "; charset=" + p.Charset
			}
			if s.base == "" {
				s.base = p.Location
			}
		}
	}
	if s.html == nil {
		return s, errors.New("it contains no page")
	}
	s.from, s.part = s.base, mail.Picture(parts)
	return s, nil
}
