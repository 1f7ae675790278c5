package remote

import (
	"net/url"
	"strings"
)

// hidden replaces the parts of an address that are not repeated.
const hidden = "***"

// Redact is an address for records, logs and people: its scheme, host, path and the names of its query, without the
// query's values, which may be tokens, without a name or password and without the fragment. A query without `=` is a value
// as a whole. What is no address of the web is hidden altogether.
func Redact(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return hidden
	}
	kept := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	shown := kept.String()
	if u.RawQuery == "" {
		return shown
	}
	pairs := strings.Split(u.RawQuery, "&")
	for i, pair := range pairs {
		if name, _, named := strings.Cut(pair, "="); named {
			pairs[i] = name + "=" + hidden
		} else if pair != "" {
			pairs[i] = hidden
		}
	}
	return shown + "?" + strings.Join(pairs, "&")
}
