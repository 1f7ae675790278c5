package remote

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Policy says what may be fetched. The zero value allows nothing.
type Policy struct {
	Enabled      bool
	Allow        []string      // hosts such as example.org or *.example.org; empty: all that Deny does not name
	Deny         []string      // hosts that are never asked; stronger than Allow
	MaxBytes     int64         // of one content; 0 = 10 MiB
	Timeout      time.Duration // of one content with all redirects; 0 = 20 s
	MaxRedirects int           // 0: none is followed
	SizeSetting  string        // name of the setting behind MaxBytes, for messages; empty: policy.remote_images.max_mb
}

// ErrRefused is matched when the policy forbids an address. Nothing was sent.
var ErrRefused = errors.New("not allowed by policy.remote_images")

// Check says whether an address may be asked; nil when it may. It asks nobody, not even for the host's IP address.
func (p Policy) Check(address string) error {
	if !p.Enabled {
		return fmt.Errorf("%w: fetching is off", ErrRefused)
	}
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("%w: the address is not valid", ErrRefused)
	}
	return p.check(u)
}

func (p Policy) check(u *url.URL) error {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%w: only http and https are", ErrRefused)
	case host == "":
		return fmt.Errorf("%w: the address names no host", ErrRefused)
	case u.User != nil:
		return fmt.Errorf("%w: the address holds a name or password", ErrRefused)
	case !ascii(host): // the lists could be passed by in another spelling
		return fmt.Errorf("%w: write the host in its ASCII form (xn--…)", ErrRefused)
	case matches(p.Deny, host):
		return fmt.Errorf("%w: %s is denied", ErrRefused, host)
	case len(p.Allow) > 0 && !matches(p.Allow, host):
		return fmt.Errorf("%w: %s is not in the list", ErrRefused, host)
	}
	return nil
}

// matches tells whether a list names the host. *.example.org names every host below example.org, not that one itself.
func matches(list []string, host string) bool {
	for _, pattern := range list {
		pattern = strings.TrimSuffix(strings.ToLower(pattern), ".")
		if below, wild := strings.CutPrefix(pattern, "*."); pattern == host || pattern == "*" || wild && strings.HasSuffix(host, "."+below) {
			return true
		}
	}
	return false
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func (p Policy) withDefaults() Policy {
	if p.MaxBytes <= 0 {
		p.MaxBytes = 10 << 20
	}
	if p.Timeout <= 0 {
		p.Timeout = 20 * time.Second
	}
	if p.SizeSetting == "" {
		p.SizeSetting = "policy.remote_images.max_mb"
	}
	p.MaxRedirects = max(p.MaxRedirects, 0)
	return p
}
