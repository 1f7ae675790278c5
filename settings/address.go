package settings

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const minToken = 16

// Loopback says whether only this machine can reach the address. It is false for an address that cannot be read.
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

func (s *Settings) validateWeb(r *reporter) {
	host, port, err := net.SplitHostPort(s.Web.Listen)
	number, portErr := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || portErr != nil:
		s.fault(r, "web.listen", CodeValue, "write 127.0.0.1:8321", "web.listen: %q is no address with a port", s.Web.Listen)
		return
	case number > 0 && number < 1024:
		r.report(s.placeOf("web.listen"), SeverityWarning, CodeUnsafe, "", "web.listen: most systems keep ports below 1024 for root")
	}
	if !loopback(host) && s.Web.Token == "" {
		s.fault(r, "web.listen", CodeConflict, "set VAULTFLOW_WEB_TOKEN, or listen on 127.0.0.1",
			"web.listen: %s can be reached from other machines, so web.token is needed", s.Web.Listen)
	}
	if s.Web.Token != "" && len(s.Web.Token) < minToken {
		s.fault(r, "web.token", CodeRange, "`openssl rand -hex 16` makes one", "web.token is shorter than %d characters", minToken)
	}
}

var variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (s *Settings) validateProvider(name string, r *reporter) {
	p, key := s.Providers[name], "providers."+name
	if _, known := kinds[p.Kind]; !known {
		s.unknownKind(key, p, r)
		return
	}
	if !Available(p.Kind) && s.used(name) {
		r.report(s.placeOf(key), SeverityWarning, CodeNoEffect, "", "%s: this version does not speak %s yet; its models cannot be called", key, p.Kind)
	}
	if p.APIKeyEnv != "" && !variableForm.MatchString(p.APIKeyEnv) {
		s.fault(r, key+".api_key_env", CodeValue, "write the variable's name, such as ANTHROPIC_API_KEY, not the key", "%s.api_key_env is no name of a variable", key)
	}
	if p.Proxy != "" && p.Proxy != "direct" {
		u, err := url.Parse(string(p.Proxy))
		if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
			s.fault(r, key+".proxy", CodeValue, "write http://proxy.example.org:3128, socks5://127.0.0.1:1080 or direct", "%s.proxy is no address of a proxy", key)
		}
	}
	if p.BaseURL == "" {
		if p.Kind == "openai_compatible" {
			s.fault(r, key, CodeValue, "add base_url:", "%s: a server of one's own needs its address", key)
		}
		return
	}
	s.validateURL(key+".base_url", p, r)
}

func (s *Settings) unknownKind(key string, p Provider, r *reporter) {
	if p.Kind == "" {
		s.fault(r, key, CodeValue, "add kind:, one of "+strings.Join(Kinds(), ", "), "%s: its name is no kind of provider, so it needs one", key)
		return
	}
	s.fault(r, key+".kind", CodeValue, guess(p.Kind, Kinds()), "%s.kind: there is no kind %q", key, p.Kind)
}

func (s *Settings) validateURL(key string, p Provider, r *reporter) {
	u, err := url.Parse(string(p.BaseURL))
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		s.fault(r, key, CodeValue, "write http://127.0.0.1:8000/v1", "%s is no http or https address", key)
	case u.User != nil:
		s.fault(r, key, CodeSecret, "use api_key_env or headers", "%s holds a name or a password", key)
	case u.RawQuery != "" || u.Fragment != "":
		s.fault(r, key, CodeValue, "", "%s goes on after its path; leave out ? and #", key)
	case u.Scheme == "http" && !loopback(u.Hostname()) && p.APIKeyEnv != "":
		r.report(s.placeOf(key), SeverityWarning, CodeUnsafe, "use https", "%s: the key and your notes travel unencrypted to %s", key, u.Host)
	}
}

// used says whether an alias is reached through the provider.
func (s *Settings) used(name string) bool {
	for _, a := range s.Models.Aliases {
		if a.Provider == name {
			return true
		}
	}
	return false
}
