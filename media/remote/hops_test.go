package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"code.dny.dev/ssrf"
	"golang.org/x/net/dns/dnsmessage"
)

// changing is a name server that answers every question for an IPv4 address with the next of its answers; the last one
// stays. It gives a resolver that asks it, and a count of its answers.
func changing(t *testing.T, answers ...string) (*net.Resolver, *atomic.Int64) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	var given atomic.Int64
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			if q.Type == dnsmessage.TypeA {
				i := min(int(given.Add(1)), len(answers)) - 1
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body:   &dnsmessage.AResource{A: netip.MustParseAddr(answers[i]).As4()},
				}}
			}
			if packed, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	}()
	address := conn.LocalAddr().String()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", address)
	}}, &given
}

// A name that leads to a public address at the first hop and to a private one at the next is refused there: what is dialled
// is looked at each time. The test's server stands for the public address; the guard is ssrf's for every other.
func TestFetchDocument_aResolverThatChangesItsMind(t *testing.T) {
	t.Parallel()
	private, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip("this system has no second loopback address: ", err)
	}
	hidden := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the private server was asked") })}
	go func() { _ = hidden.Serve(private) }()
	t.Cleanup(func() { _ = hidden.Close() })
	port := netip.MustParseAddrPort(private.Addr().String()).Port()
	asked := 0
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Skip("the port is taken on the first loopback address: ", err)
	}
	public := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "/again", http.StatusFound)
	})}
	go func() { _ = public.Serve(listener) }()
	t.Cleanup(func() { _ = public.Close() })

	resolver, given := changing(t, "127.0.0.1", "127.0.0.2")
	strict := ssrf.New(ssrf.WithPorts(port)).Safe // the port is not what it is refused for
	f := guarded(Policy{Enabled: true, MaxRedirects: 5}, func(network, address string, c syscall.RawConn) error {
		if address == listener.Addr().String() {
			return nil
		}
		return strict(network, address, c)
	}, resolver)
	_, err = f.FetchDocument(t.Context(), fmt.Sprintf("http://rebinding.example:%d/", port), io.Discard)
	if !errors.Is(err, ErrRefused) || asked != 1 || given.Load() < 2 {
		t.Errorf("%v after %d requests and %d answers", err, asked, given.Load())
	}
}

// Five redirects are followed where five are allowed, and not six. Each host is asked about.
func TestFetchDocument_redirects(t *testing.T) {
	t.Parallel()
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		left, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if left > 0 {
			http.Redirect(w, r, "/"+strconv.Itoa(left-1), http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "here")
	})
	var hosts []string
	p := Policy{Enabled: true, MaxRedirects: 5, May: func(host string) error { hosts = append(hosts, host); return nil }}
	if _, err := only(t, server, p).FetchDocument(t.Context(), server.URL+"/5", io.Discard); err != nil || len(hosts) != 6 {
		t.Errorf("5 redirects: %v, %q", err, hosts)
	}
	if _, err := only(t, server, p).FetchDocument(t.Context(), server.URL+"/6", io.Discard); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "more than 5") {
		t.Errorf("6 redirects: %v", err)
	}
	calls := 0
	p.May = func(host string) error {
		if calls++; calls > 2 {
			return fmt.Errorf("permissions.network does not name %s", host)
		}
		return nil
	}
	if _, err := only(t, server, p).FetchDocument(t.Context(), server.URL+"/5", io.Discard); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "permissions.network") {
		t.Errorf("a hop that is not allowed: %v", err)
	}
	refused := url.URL{Scheme: "http", Host: "other.example"}
	if err := p.Check(refused.String()); err == nil || strings.Contains(err.Error(), "remote_images") {
		t.Errorf("got %v", err)
	}
}
