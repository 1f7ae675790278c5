package web

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/web/session"
)

// Proxy names the peers whose headers about a request are trusted. Those of anybody else are removed first.
type Proxy struct {
	Trust      []netip.Prefix
	TrustUnix  bool   // whoever can open the Unix socket
	UserHeader string // who has signed in at the proxy; empty: the proxy signs nobody in
}

// forwarded are the headers of proxies.
var forwarded = []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "X-Real-Ip"}

// sender is what is known about where a request comes from.
type sender struct {
	addr   netip.Addr // of the client; not valid on a Unix socket
	secure bool       // the client reached the proxy with TLS
	user   string     // whom the proxy signed in
}

type senderKey struct{}

// senderOf returns the sender of a request, as the guard determined it.
func senderOf(r *http.Request) sender {
	s, _ := r.Context().Value(senderKey{}).(sender)
	return s
}

// clientOf is the address of a client.
func clientOf(r *http.Request) netip.Addr { return senderOf(r).addr }

// receive determines the sender of a request.
func (p Proxy) receive(r *http.Request) *http.Request {
	peer := peerOf(r)
	s := sender{addr: peer, secure: r.TLS != nil}
	r = r.Clone(r.Context()) // its headers are ours now
	if p.trusts(peer) {
		p.read(r, &s)
	}
	for _, name := range append([]string{p.UserHeader}, forwarded...) {
		if name != "" {
			r.Header.Del(name)
		}
	}
	return r.WithContext(context.WithValue(r.Context(), senderKey{}, s))
}

// peerOf is the address at the other end of the connection. It is not valid on a Unix socket.
func peerOf(r *http.Request) netip.Addr {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return from.Addr().Unmap()
}

func (p Proxy) trusts(addr netip.Addr) bool {
	if !addr.IsValid() {
		return p.TrustUnix
	}
	return slices.ContainsFunc(p.Trust, func(n netip.Prefix) bool { return n.Contains(addr.WithZone("")) })
}

// read reads the headers of a trusted proxy.
func (p Proxy) read(r *http.Request, s *sender) {
	if addr, ok := p.client(r.Header.Values("X-Forwarded-For")); ok {
		s.addr = addr
	}
	if host := r.Header.Values("X-Forwarded-Host"); len(host) == 1 && !strings.ContainsAny(host[0], ", \t/\\@") {
		r.Host = host[0]
	}
	s.secure = s.secure || r.Header.Get("X-Forwarded-Proto") == "https"
	if p.UserHeader == "" {
		return
	}
	if users := r.Header.Values(p.UserHeader); len(users) == 1 && isUser(users[0]) { // two of them contradict each other
		s.user = users[0]
	}
}

// client returns the last address of the list that is not a trusted proxy: the client may have written those before it.
func (p Proxy) client(lines []string) (netip.Addr, bool) {
	list := strings.Split(strings.Join(lines, ","), ",")
	for _, text := range slices.Backward(list) {
		addr, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			return netip.Addr{}, false
		}
		if addr = addr.Unmap(); !p.trusts(addr) {
			return addr, true
		}
	}
	return netip.Addr{}, false
}

// isUser reports whether a name can be shown on a page and kept in a record.
func isUser(name string) bool {
	return name != "" && name == strings.TrimSpace(name) && utf8.ValidString(name) && utf8.RuneCountInString(name) <= 64 &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// byProxy returns the user whom a trusted proxy signed in.
func byProxy(r *http.Request) (session.Identity, bool) {
	user := senderOf(r).user
	return session.Identity{Name: user, Scopes: session.All()}, user != ""
}
