package remote

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// Document describes fetched content of any kind. All of it is the host's word.
type Document struct {
	MediaType string // what the host calls it, without parameters; empty when it says nothing sensible
	Charset   string // of a text, as the host says; often empty
	Name      string // for a file: from the host's headers, else the end of the address; never empty, without a folder
	URL       string // where it was found in the end
	Size      int64  // bytes

	host string
}

// FetchDocument fetches any content and writes it to w as it comes; after an error some of it may have been written. Its
// rules and errors are those of [Fetcher.Fetch], but the bytes may be of any kind: whoever takes them finds out which.
func (f *Fetcher) FetchDocument(ctx context.Context, address string, w io.Writer) (Document, error) {
	got, err := f.fetch(ctx, address, "*/*", w)
	if err == nil && got.Size == 0 {
		err = errors.New("the answer is empty")
	}
	return got, err
}

func describe(host string, response *http.Response, size int64) Document {
	found := response.Request.URL
	mediaType, said, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil {
		mediaType = ""
	}
	d := Document{MediaType: mediaType, Charset: said["charset"], URL: found.String(), Size: size, host: host}
	if _, parameters, err := mime.ParseMediaType(response.Header.Get("Content-Disposition")); err == nil {
		d.Name = plainName(parameters["filename"])
	}
	if d.Name == "" {
		d.Name = plainName(found.Path)
	}
	if d.Name == "" {
		d.Name = found.Hostname()
	}
	if path.Ext(d.Name) == "" || d.Name == found.Hostname() {
		d.Name += extension(mediaType)
	}
	return d
}

// plainName is the last part of a path; empty when there is none.
func plainName(s string) string {
	s = path.Base(strings.ReplaceAll(s, "\\", "/"))
	if s == "." || s == "/" || s == ".." || !utf8.ValidString(s) {
		return ""
	}
	return strings.TrimLeft(s, ".")
}

// extension is the usual end of a name for some types that addresses often do not show. Package mime would ask the system,
// and differ from one to the next.
func extension(mediaType string) string {
	return map[string]string{
		"text/html": ".html", "application/xhtml+xml": ".html", "application/pdf": ".pdf", "text/plain": ".txt", "text/markdown": ".md", "text/csv": ".csv",
		"application/json": ".json", "image/png": ".png", "image/jpeg": ".jpg", "application/zip": ".zip", "application/epub+zip": ".epub",
	}[mediaType]
}

// IsAddress reports whether a word of a command line is meant as an address of the web.
func IsAddress(word string) bool {
	u, err := url.Parse(word)
	return err == nil && (strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https")) && strings.Contains(word, "://")
}
