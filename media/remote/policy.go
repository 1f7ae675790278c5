package remote

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/failure/omission"
)

// Policy decides what may be fetched. The zero value allows nothing.
type Policy struct {
	Enabled      bool
	Allow        []string      // hosts such as example.org or *.example.org; empty: all that Deny does not name
	Deny         []string      // hosts that are never asked; stronger than Allow
	MaxBytes     int64         // of one content; 0 = 10 MiB
	Timeout      time.Duration // of one content with all redirects; 0 = 20 s
	MaxRedirects int           // 0: none is followed
	SizeSetting  string        // name of the setting behind MaxBytes, for messages; empty: policy.remote_images.max_mb
	Setting      string        // name of the settings behind the lists, for messages; empty: policy.remote_images

	// May is a further rule for hosts, asked at each hop; an error refuses the host. Nil allows every host.
	May func(host string) error
}

// ErrRefused is matched when the policy forbids an address. Nothing was sent.
var ErrRefused = omission.Wrap(omission.Address, errors.New("not allowed"))

// refuse is an error that matches ErrRefused.
func (p Policy) refuse(format string, args ...any) error {
	return fmt.Errorf("%w by %s: "+format, append([]any{ErrRefused, cmp.Or(p.Setting, "policy.remote_images")}, args...)...)
}

// Check returns why an address must not be requested, or nil. It sends nothing, not even a DNS query.
func (p Policy) Check(address string) error {
	if !p.Enabled {
		return p.refuse("fetching is off")
	}
	u, err := url.Parse(address)
	if err != nil {
		return p.refuse("the address is not valid")
	}
	return p.check(u)
}

func (p Policy) check(u *url.URL) error {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return p.refuse("only http and https are")
	case host == "":
		return p.refuse("the address names no host")
	case u.User != nil:
		return p.refuse("the address holds a name or password")
	case !ascii(host): // the lists could be passed by in another spelling
		return p.refuse("write the host in its ASCII form (xn--…)")
	case matches(p.Deny, host):
		return p.refuse("%s is denied", host)
	case len(p.Allow) > 0 && !matches(p.Allow, host):
		return p.refuse("%s is not in the list", host)
	}
	if p.May == nil {
		return nil
	}
	if err := p.May(host); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return nil
}

// matches reports whether a list names the host. *.example.org names every host below example.org, not that one itself.
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
