package mcp

import (
	"errors"
	"net/url"
	"strings"
)

// conceal is an error without the parts of the server's address and headers that may be secret: its text comes from HTTP
// libraries and from the server, and goes to the model, to records and to the log.
func (s Server) conceal(err error) error {
	var pairs []string
	hide := func(text, shown string) {
		if len(text) > len(shown) {
			pairs = append(pairs, text, shown)
		}
	}
	if u, bad := url.Parse(s.URL); bad == nil && u.Host != "" {
		where := u.Scheme + "://" + u.Host
		hide(s.URL, where)
		hide(u.String(), where)
		if request := u.RequestURI(); len(request) > 1 {
			hide(request, "/…")
		}
		for _, values := range u.Query() {
			for _, value := range values {
				hide(value, "***")
			}
		}
	}
	for _, value := range s.Headers {
		hide(value, "***")
		if words := strings.Fields(value); len(words) > 1 {
			hide(words[len(words)-1], "***") // the token after Bearer
		}
	}
	if len(pairs) == 0 {
		return err
	}
	return errors.New(strings.NewReplacer(pairs...).Replace(err.Error()))
}
