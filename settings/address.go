package settings

import (
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

const minToken = 16

// Loopback reports whether only this machine can reach the address. It is false for an address that does not parse.
func (w Web) Loopback() bool {
	host, _, err := net.SplitHostPort(w.Listen)
	return err == nil && loopback(host)
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// Socket returns the path of the Unix socket to listen on, if the address is one.
func (w Web) Socket() (path string, ok bool) { return strings.CutPrefix(w.Listen, "unix:") }

func validateWeb(s *Settings, r *reporter) {
	if path, ok := s.Web.Socket(); ok {
		validateSocket(s, path, r)
	} else {
		validateListen(s, r)
	}
	if s.Web.Token != "" && len(s.Web.Token) < minToken {
		fault(s, r, "web.token", CodeRange, "create one with `openssl rand -hex 16`", "web.token is shorter than %d characters", minToken)
	}
	validateProxy(s, r)
}

func validateListen(s *Settings, r *reporter) {
	host, port, err := net.SplitHostPort(s.Web.Listen)
	number, portErr := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || portErr != nil:
		fault(s, r, "web.listen", CodeValue, "write 127.0.0.1:8321, or unix:/run/user/1000/vaultflow.sock", "web.listen: %q is not an address with a port", s.Web.Listen)
		return
	case number > 0 && number < 1024:
		r.report(placeOf(s, "web.listen"), diag.SeverityWarning, CodeUnsafe, "", "web.listen: most systems reserve ports below 1024 for root")
	}
	if !loopback(host) && len(s.Web.Proxy.Trust) == 0 {
		r.report(placeOf(s, "web.listen"), diag.SeverityWarning, CodeUnsafe, "put a proxy with TLS in front, see web.proxy",
			"web.listen: other machines can reach %s, and tokens travel unencrypted", s.Web.Listen)
	}
}

// maxSocket is the longest path of a socket: Linux allows 107 bytes, other systems 103.
const maxSocket = 100

func validateSocket(s *Settings, path string, r *reporter) {
	switch {
	case !filepath.IsAbs(path) || filepath.Clean(path) != path:
		fault(s, r, "web.listen", CodeValue, "write unix:/run/user/1000/vaultflow.sock", "web.listen: %q is not an absolute path", path)
	case len(path) > maxSocket:
		fault(s, r, "web.listen", CodeRange, "choose a shorter one", "web.listen: the socket's path has more than %d bytes", maxSocket)
	}
}

var headerForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{1,63}$`)

// validateProxy warns if anyone but the proxy could pose as it.
func validateProxy(s *Settings, r *reporter) {
	p := s.Web.Proxy
	const key = "web.proxy.trust"
	for _, text := range p.Trust {
		network, err := ParseNetwork(text)
		switch {
		case text == "unix":
			if _, ok := s.Web.Socket(); !ok {
				fault(s, r, key, CodeConflict, "set web.listen to unix:/path", "web.proxy.trust: unix works only if web.listen is a socket")
			}
		case err != nil:
			fault(s, r, key, CodeValue, "write 192.168.1.5, 10.0.0.0/24 or unix", "web.proxy.trust: %q is not an address or network", text)
		case network.Bits() == 0:
			fault(s, r, key, CodeUnsafe, "name the proxy's address", "web.proxy.trust: %s means everybody", text)
		case network.Addr().IsLoopback() && p.UserHeader != "":
			r.report(placeOf(s, key), diag.SeverityWarning, CodeUnsafe, "let web.listen be a unix: socket that the proxy opens",
				"web.proxy.trust: every account on this machine connects from %s and can put any name into %s", text, p.UserHeader)
		}
	}
	if p.UserHeader == "" {
		return
	}
	switch known := strings.ToLower(p.UserHeader); {
	case !headerForm.MatchString(p.UserHeader) || slices.Contains([]string{"authorization", "cookie", "host", "origin", "user-agent", "accept"}, known):
		fault(s, r, "web.proxy.user_header", CodeValue, "write a name such as Remote-User", "web.proxy.user_header: %q is not a usable header name", p.UserHeader)
	case len(p.Trust) == 0:
		fault(s, r, "web.proxy.user_header", CodeConflict, "name the proxy's address in web.proxy.trust", "web.proxy.user_header is set, but no proxy is trusted")
	}
}

// ParseNetwork parses an address or network of web.proxy.trust.
func ParseNetwork(text string) (netip.Prefix, error) {
	if ip, err := netip.ParseAddr(text); err == nil {
		return ip.Unmap().Prefix(ip.Unmap().BitLen())
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}

var variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func validateProvider(s *Settings, name string, r *reporter) {
	p, key := s.Providers[name], "providers."+name
	if _, known := kinds[p.Kind]; !known {
		unknownKind(s, key, p, r)
		return
	}
	if !Available(p.Kind) && used(s, name) {
		r.report(placeOf(s, key), diag.SeverityWarning, CodeNoEffect, "", "%s: this version does not speak %s yet; its models cannot be called", key, p.Kind)
	}
	if p.APIKeyEnv != "" && !variableForm.MatchString(p.APIKeyEnv) {
		fault(s, r, key+".api_key_env", CodeValue, "write the variable's name, such as ANTHROPIC_API_KEY, not the key", "%s.api_key_env is not the name of a variable", key)
	}
	if p.Proxy != "" && p.Proxy != "direct" {
		u, err := url.Parse(string(p.Proxy))
		if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
			fault(s, r, key+".proxy", CodeValue, "write http://proxy.example.org:3128, socks5://127.0.0.1:1080 or direct", "%s.proxy is not a proxy address", key)
		}
	}
	if p.BaseURL == "" {
		if p.Kind == "openai_compatible" {
			fault(s, r, key, CodeValue, "add base_url:", "%s: your own server needs an address", key)
		}
		return
	}
	validateURL(s, key+".base_url", p, r)
}

func unknownKind(s *Settings, key string, p Provider, r *reporter) {
	if p.Kind == "" {
		fault(s, r, key, CodeValue, "add kind:, one of "+strings.Join(Kinds(), ", "), "%s needs a kind, because its name is not one", key)
		return
	}
	fault(s, r, key+".kind", CodeValue, guess(p.Kind, Kinds()), "%s.kind: there is no kind %q", key, p.Kind)
}

func validateURL(s *Settings, key string, p Provider, r *reporter) {
	u, err := url.Parse(string(p.BaseURL))
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		fault(s, r, key, CodeValue, "write http://127.0.0.1:8000/v1", "%s is not an http or https address", key)
	case u.User != nil:
		fault(s, r, key, CodeSecret, "use api_key_env or headers", "%s contains a user name or password", key)
	case u.RawQuery != "" || u.Fragment != "":
		fault(s, r, key, CodeValue, "", "%s must end with its path; remove ? or # and what follows", key)
	case u.Scheme == "http" && !loopback(u.Hostname()) && p.APIKeyEnv != "":
		r.report(placeOf(s, key), diag.SeverityWarning, CodeUnsafe, "use https", "%s: the key and your notes travel unencrypted to %s", key, u.Host)
	}
}

// used reports whether any alias uses the provider.
func used(s *Settings, name string) bool {
	for _, a := range s.Models.Aliases {
		if a.Provider == name {
			return true
		}
	}
	return false
}
