package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/failure/omission"
)

func picture(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// only dials one server of a test: its guard lets that address through and refuses what New refuses.
func only(t testing.TB, server *httptest.Server, p Policy) *Fetcher {
	t.Helper()
	allowed := server.Listener.Addr().String()
	strict := New(p).client.Transport.(*http.Transport)
	if strict.Proxy != nil {
		t.Error("a proxy would be used")
	}
	return guarded(p, func(network, address string, c syscall.RawConn) error {
		if address == allowed {
			return nil
		}
		return guardOf(network, address, c)
	}, nil)
}

// guardOf is the guard that New uses.
func guardOf(network, address string, _ syscall.RawConn) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	_, err = New(Policy{}).client.Transport.(*http.Transport).DialContext(context.Background(), network, net.JoinHostPort(host, port))
	if err == nil {
		return errors.New("a test dialled the world")
	}
	return err
}

func serve(t testing.TB, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

func TestFetch_givesAPicture(t *testing.T) {
	t.Parallel()
	want := picture(t)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" || r.Header.Get("Cookie") != "" || r.Header.Get("Authorization") != "" {
			t.Errorf("headers %v", r.Header)
		}
		if r.URL.Path == "/moved" {
			http.SetCookie(w, &http.Cookie{Name: "id", Value: "1"})
			http.Redirect(w, r, "/here.png", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html") // a lie: the bytes decide
		_, _ = w.Write(want)
	})
	f := only(t, server, Policy{Enabled: true, Allow: []string{"127.0.0.1"}, MaxRedirects: 1})
	for _, path := range []string{"/here.png", "/moved"} {
		got, err := f.Fetch(t.Context(), server.URL+path)
		if err != nil || !bytes.Equal(got.Data, want) || got.Info.Width != 40 || got.Info.MediaType != "image/png" || got.URL != server.URL+"/here.png" {
			t.Errorf("%s: %d bytes, %+v from %s, %v", path, len(got.Data), got.Info, got.URL, err)
		}
	}
}

func TestFetch_saysWhyThereIsNone(t *testing.T) {
	t.Parallel()
	block := make(chan struct{})
	t.Cleanup(func() { close(block) })
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			w.Header().Set("Content-Type", "image/png") // a lie too
			_, _ = w.Write([]byte("<!DOCTYPE html><html><script>alert(1)</script>"))
		case "/json":
			_, _ = w.Write([]byte(`{"secret": "s3cr3t"}`))
		case "/long":
			w.Header().Set("Content-Length", "5000000")
			_, _ = w.Write(make([]byte, 5000))
		case "/endless":
			for range 100 {
				_, _ = w.Write(make([]byte, 64<<10))
			}
		case "/empty":
		case "/slow":
			w.(http.Flusher).Flush()
			select {
			case <-block:
			case <-r.Context().Done():
			}
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	})
	patient := only(t, server, Policy{Enabled: true, MaxBytes: 1 << 20, MaxRedirects: 3})
	hasty := only(t, server, Policy{Enabled: true, Timeout: 50 * time.Millisecond})
	for path, want := range map[string]string{
		"/page": "web page", "/json": "no picture", "/long": "5000000 bytes", "/endless": "more than the 1048576 bytes", "/empty": "empty",
		"/slow": "no answer within 50ms", "/loop": "more than 3 redirects", "/nothing": "answered 404 Not Found",
	} {
		f := patient
		if path == "/slow" {
			f = hasty
		}
		_, err := f.Fetch(t.Context(), server.URL+path+"?token=t0ken")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "t0ken")) {
			t.Errorf("%s: the error says too much: %v", path, err)
		}
	}
}

func TestFetch_checksEveryHop(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 100)
	hidden := serve(t, func(http.ResponseWriter, *http.Request) { asked <- "a private server" })
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	f := only(t, server, Policy{Enabled: true, Deny: []string{"denied.example"}, MaxRedirects: 5})
	for _, to := range []string{
		hidden.URL, "http://127.0.0.1/", "http://localhost/x.png", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/",
		"http://169.254.169.254/latest/meta-data/", "http://10.1.2.3/", "http://192.168.1.1/", "http://172.16.0.1/", "http://100.64.0.1/",
		"http://[fe80::1]/", "http://[fd00::1]/", "http://[64:ff9b::7f00:1]/", "http://denied.example/", "file:///etc/passwd", "gopher://127.0.0.1/",
		"http://user:pass@127.0.0.1/", "http://2130706433/", "http://0x7f.1/",
	} {
		if got, err := f.Fetch(t.Context(), server.URL+"/?to="+strings.ReplaceAll(to, "#", "%23")); err == nil {
			t.Errorf("a redirect to %s gave %d bytes", to, len(got.Data))
		}
		if strings.HasPrefix(to, "http://1") || strings.HasPrefix(to, "http://[") || strings.Contains(to, "denied") {
			if _, err := New(Policy{Enabled: true, Deny: []string{"denied.example"}}).Fetch(t.Context(), to); !errors.Is(err, ErrRefused) {
				t.Errorf("%s asked directly: %v, want ErrRefused", to, err)
			}
		}
	}
	select {
	case who := <-asked:
		t.Errorf("%s was asked", who)
	default:
	}
}

// A name that resolves to a public address when it is looked at and to a private one when it is dialled: the guard sees
// what is dialled.
func TestFetch_rebinding(t *testing.T) {
	t.Parallel()
	hidden := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a private server was asked") })
	port := netip.MustParseAddrPort(hidden.Listener.Addr().String()).Port()
	f := New(Policy{Enabled: true})
	transport := f.client.Transport.(*http.Transport)
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dial(ctx, network, fmt.Sprintf("127.0.0.1:%d", port)) // the resolver's second answer
	}
	if _, err := f.Fetch(t.Context(), "http://public.example/x.png"); !errors.Is(err, ErrRefused) {
		t.Errorf("got %v, want ErrRefused", err)
	}
}

func TestFetch_staysWithHTTPS(t *testing.T) {
	t.Parallel()
	f := New(Policy{Enabled: true, MaxRedirects: 3})
	before, _ := http.NewRequest(http.MethodGet, "https://a.example/", nil)
	next, _ := http.NewRequest(http.MethodGet, "http://a.example/", nil)
	if err := f.follow(next, []*http.Request{before}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "https to http") {
		t.Errorf("got %v", err)
	}
}

func TestFetch_endsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(Policy{Enabled: true}).Fetch(ctx, "http://93.184.216.34/x.png"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	p := Policy{Enabled: true, Allow: []string{"example.org", "*.wiki.example"}, Deny: []string{"bad.wiki.example"}}
	for address, want := range map[string]bool{
		"https://example.org/a.png": true, "https://EXAMPLE.org./a.png": true, "http://en.wiki.example/x": true, "http://a.b.wiki.example:80/": true,
		"https://wiki.example/": false, "https://www.example.org/": false, "https://bad.wiki.example/": false, "https://BAD.wiki.example./": false,
		"https://other.example/": false, "ftp://example.org/": false, "https://me@example.org/": false, "//example.org/": false, "https:///x": false,
		"https://exämple.org/": false, "http://exa mple.org/": false, "data:image/png;base64,AA==": false, "": false,
	} {
		if err := p.Check(address); (err == nil) != want || err != nil && !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v, want allowed: %v", address, err, want)
		}
	}
	if err := (Policy{Allow: []string{"example.org"}}).Check("https://example.org/"); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "off") {
		t.Errorf("switched off: %v", err)
	}
	if err := (Policy{Enabled: true}).Check("https://anything.example/"); err != nil {
		t.Errorf("without a list: %v", err)
	}
}

// Each error has a cause with a remedy that fits: what may not be asked is saved in the vault, what is too large or no picture is not
// asked for again. Everything else may come another time.
func TestFetch_causes(t *testing.T) {
	t.Parallel()
	hidden := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a private server was asked") })
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			_, _ = w.Write(make([]byte, 2000))
		case "/long":
			w.Header().Set("Content-Length", "2000")
		case "/page":
			_, _ = io.WriteString(w, "<!DOCTYPE html><html>")
		case "/private":
			http.Redirect(w, r, hidden.URL, http.StatusFound)
		case "/slow":
			<-r.Context().Done()
		default:
			http.NotFound(w, r)
		}
	})
	f := only(t, server, Policy{Enabled: true, MaxBytes: 1000, MaxRedirects: 3, Timeout: 200 * time.Millisecond})
	for path, want := range map[string]omission.Cause{
		"/large": omission.TooLarge, "/long": omission.TooLarge, "/page": omission.Kind, "/private": omission.Address, "/slow": "", "/gone": "",
	} {
		_, err := f.Fetch(t.Context(), server.URL+path)
		var got omission.Cause
		if cause, ok := errors.AsType[*omission.Error](err); ok {
			got = cause.Cause
		}
		if err == nil || got != want {
			t.Errorf("%s: %v, cause %q, want %q", path, err, got, want)
		}
	}
}
