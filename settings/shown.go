package settings

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
)

// tokenLike fits a part of an address that is likely to be a token: long, with a digit, and no word of a language.
var tokenLike = regexp.MustCompile(`^[A-Za-z0-9_.~=+-]{20,}$`)

// Address is an address that may hold a token. It prints without it; convert to string to use it.
type Address string

// String is the address as it may be shown.
func (a Address) String() string { return shownAddress(string(a)) }

// Format implements fmt.Formatter: every verb prints what may be shown.
func (a Address) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, a.String()) // fmt.State has nowhere to report an error
}

// MarshalText implements encoding.TextMarshaler, and with it JSON and YAML.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// LogValue implements slog.LogValuer.
func (a Address) LogValue() slog.Value { return slog.StringValue(a.String()) }

// Arguments are a program and its arguments, which may hold a token. They print without it.
type Arguments []string

// String is the command line as it may be shown.
func (a Arguments) String() string { return strings.Join(shownArguments(a), " ") }

// Format implements fmt.Formatter: every verb prints what may be shown.
func (a Arguments) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, a.String()) // fmt.State has nowhere to report an error
}

// MarshalJSON writes the list as it may be shown.
func (a Arguments) MarshalJSON() ([]byte, error) { return json.Marshal(shownArguments(a)) }

// MarshalYAML writes the list as it may be shown.
func (a Arguments) MarshalYAML() (any, error) { return shownArguments(a), nil }

// LogValue implements slog.LogValuer.
func (a Arguments) LogValue() slog.Value { return slog.StringValue(a.String()) }

// shownAddress is an address without what may be secret in it: name and password, the values of the query, the fragment, and
// parts of the path that look like tokens.
func shownAddress(address string) string {
	if address == "" {
		return ""
	}
	u, err := url.Parse(address)
	if err != nil {
		return hidden
	}
	var b strings.Builder
	if u.Scheme != "" {
		b.WriteString(u.Scheme + ":")
	}
	if u.Opaque != "" {
		return mask(b.String() + u.Opaque)
	}
	if u.Host != "" || u.User != nil {
		b.WriteString("//")
	}
	if u.User != nil {
		b.WriteString(hidden + "@")
	}
	b.WriteString(u.Host)
	for i, part := range strings.Split(u.EscapedPath(), "/") {
		if i > 0 {
			b.WriteByte('/')
		}
		if tokenLike.MatchString(part) && strings.ContainsAny(part, "0123456789") {
			part = hidden
		}
		b.WriteString(part)
	}
	for i, pair := range strings.FieldsFunc(u.RawQuery, func(c rune) bool { return c == '&' || c == ';' }) {
		name, _, _ := strings.Cut(pair, "=")
		b.WriteString(map[bool]string{true: "?", false: "&"}[i == 0] + name + "=" + hidden)
	}
	if u.Fragment != "" {
		b.WriteString("#" + hidden)
	}
	return mask(b.String())
}

// secretName fits the names of options whose values are secrets.
var secretName = regexp.MustCompile(`(?i)(key|token|secret|passw|auth|bearer|credential)`)

// tokenValue fits a value that may be a token. A command, or the path of a program, is none: a person has to see it.
var tokenValue = regexp.MustCompile(`^[A-Za-z0-9_~+=:-][A-Za-z0-9_.~+=:-]*$|^[A-Za-z0-9_~+=:-][A-Za-z0-9_.~+=:/-]{19,}$`)

// shownArguments is a command line without what may be secret in it.
func shownArguments(args []string) []string {
	list := make([]string, 0, len(args))
	after := false // the option before names a secret
	for i, arg := range args {
		name, value, pair := strings.Cut(arg, "=")
		switch {
		case after && !strings.HasPrefix(arg, "-") && tokenValue.MatchString(arg):
			arg = hidden
		case i > 0 && pair && tokenValue.MatchString(value) && secretName.MatchString(name):
			arg = name + "=" + hidden
		case strings.Contains(arg, "://"):
			arg = shownAddress(arg)
		case i > 0 && tokenLike.MatchString(arg) && strings.ContainsAny(arg, "0123456789") && !strings.HasPrefix(arg, "-"):
			arg = hidden
		}
		after = i > 0 && !pair && strings.HasPrefix(arg, "-") && secretName.MatchString(arg)
		list = append(list, mask(arg))
	}
	return list
}
