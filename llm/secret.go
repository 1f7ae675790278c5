package llm

import (
	"fmt"
	"io"
	"log/slog"
)

const hidden = "***"

// String implements fmt.Stringer without the value.
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

// MarshalText implements encoding.TextMarshaler, and with it JSON and YAML, without the value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue implements slog.LogValuer without the value.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
