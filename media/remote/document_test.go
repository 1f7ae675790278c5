package remote

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestFetchDocument_tellsWhatTheHostSays(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{"t": "Content-Type", "d": "Content-Disposition"} {
			if v := r.URL.Query().Get(name); v != "" {
				w.Header().Set(value, v)
			}
		}
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/papers/found.pdf", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("%PDF-1.7"))
	})
	f := only(t, server, Policy{Enabled: true, MaxRedirects: 1})
	for address, want := range map[string]string{
		"/papers/q3.pdf?t=application/pdf": "q3.pdf application/pdf", "/moved": "found.pdf application/pdf", "/q3?t=application/pdf": "q3.pdf application/pdf",
		"/?t=text/html%3B%20charset=utf-8":                                  "127.0.0.1.html text/html",
		"/x?t=application/pdf&d=attachment%3Bfilename=%22a%20b.pdf%22":      "a b.pdf application/pdf",
		"/x?t=application/pdf&d=attachment%3Bfilename=%22../../b.pdf%22":    "b.pdf application/pdf",
		"/x?t=application/pdf&d=attachment%3Bfilename=%22C:%5C%5C.c.pdf%22": "c.pdf application/pdf",
		"/x?t=nonsense//&d=%22":                                             "x ", "/a/%2e%2e/?t=text/plain": "127.0.0.1.txt text/plain",
	} {
		var b bytes.Buffer
		got, err := f.FetchDocument(t.Context(), server.URL+address, &b)
		if err != nil || b.String() != "%PDF-1.7" || got.Size != 8 || got.Name+" "+strings.TrimSuffix(got.MediaType, "; charset=utf-8") != want {
			t.Errorf("%s: %q, %v, %+v, want %s", address, b.String(), err, got, want)
		}
	}
}

func TestFetchDocument_isBounded(t *testing.T) {
	t.Parallel()
	block := make(chan struct{})
	t.Cleanup(func() { close(block) })
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/endless":
			for range 100 {
				_, _ = w.Write(make([]byte, 64<<10))
			}
		case "/announced":
			w.Header().Set("Content-Length", "5000000")
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("half"))
		case "/slow":
			_, _ = w.Write([]byte("begin"))
			w.(http.Flusher).Flush()
			select {
			case <-block:
			case <-r.Context().Done():
			}
		case "/private":
			http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusFound)
		case "/empty":
		default:
			http.NotFound(w, r)
		}
	})
	policy := Policy{Enabled: true, MaxBytes: 1 << 20, MaxRedirects: 3, SizeSetting: "ingestion.remote.max_size"}
	patient := only(t, server, policy)
	policy.Timeout = 50 * time.Millisecond
	hasty := only(t, server, policy)
	for path, want := range map[string]string{
		"/endless": "more than the 1048576 bytes of ingestion.remote.max_size", "/announced": "5000000 bytes", "/cut": "unexpected EOF", "/slow": "no answer within",
		"/private": "private or special", "/empty": "is empty", "/nothing": "404",
	} {
		f := patient
		if path == "/slow" {
			f = hasty
		}
		var b bytes.Buffer
		_, err := f.FetchDocument(t.Context(), server.URL+path+"?token=t0ken", &b)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "t0ken") || b.Len() > 1<<20+1 {
			t.Errorf("%s: %v after %d bytes, want %q", path, err, b.Len(), want)
		}
		if (path == "/private") != errors.Is(err, ErrRefused) {
			t.Errorf("%s: refused: %v", path, err)
		}
	}
}

func TestIsAddress(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{
		"https://example.org/a.pdf": true, "HTTP://example.org": true, "http:a.pdf": false, "ftp://example.org": false, "a.pdf": false, "-": false, "/tmp/http:/x": false, "C:/x": false,
	} {
		if IsAddress(word) != want {
			t.Errorf("%s: want %v", word, want)
		}
	}
}
