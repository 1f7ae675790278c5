package settings

import (
	"fmt"
	"io"
	"log/slog"
	"regexp"
)

// Secret is a key, a token or a header that may hold one. No verb of fmt, no encoder and no logger prints it; convert to
// string to use it.
type Secret string

const hidden = "***"

// String is *** for a secret that is set.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// Format implements fmt.Formatter: every verb prints the same.
func (s Secret) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, s.String()) // fmt.State has nowhere to report an error
}

// MarshalText implements encoding.TextMarshaler, and with it JSON, without the value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML implements yaml.Marshaler without the value.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// LogValue implements slog.LogValuer without the value.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// keyLike fits the keys of known services.
var keyLike = regexp.MustCompile(`\b(sk-[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,}|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}|AKIA[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{30,})`)

// mask hides what looks like a key in a text that is shown.
func mask(s string) string { return keyLike.ReplaceAllString(s, hidden) }
