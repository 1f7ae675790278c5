package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
)

// maxMedia is the largest picture that is served, in bytes.
const maxMedia = 64 << 20

// rasters are the types that are served. SVG is not among them: it can hold script.
var rasters = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/bmp": true}

// media serves a picture of the vault. Its bytes alone decide about its type.
func (s *Server) media(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if !showable(name) {
		s.site.notFound(w, r)
		return
	}
	f, err := s.site.cfg.FS.Open(name)
	if err != nil {
		s.site.notFound(w, r)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxMedia {
		s.site.notFound(w, r)
		return
	}
	content, ok := f.(io.ReadSeeker)
	if !ok {
		data, err := io.ReadAll(io.LimitReader(f, maxMedia))
		if err != nil {
			s.site.notFound(w, r)
			return
		}
		content = newReader(data)
	}
	mediaType, err := sniff(content)
	if err != nil || !rasters[mediaType] {
		s.site.fail(w, r, http.StatusUnsupportedMediaType, "this is not a picture that the dashboard shows", "")
		return
	}
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Disposition", "inline")
	h.Set("Cache-Control", "private, no-cache")
	http.ServeContent(w, r, "", info.ModTime(), content)
}

// showable reports whether a name may be requested at all: inside the vault and not hidden.
func showable(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.HasPrefix(name, ".") && !strings.Contains(name, "/.")
}

// sniff returns the type by the first bytes and seeks back to the start.
func sniff(r io.ReadSeeker) (string, error) {
	head := make([]byte, 512)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	return http.DetectContentType(head[:n]), nil
}

// mediaURL is where a picture of the vault is served; empty when its name is none to show.
func mediaURL(name string) string {
	if !showable(name) {
		return ""
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return "/media/" + strings.Join(parts, "/")
}

func newReader(data []byte) *bytes.Reader { return bytes.NewReader(data) }

// digest is a short name for bytes.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
