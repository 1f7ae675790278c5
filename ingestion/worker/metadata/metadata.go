// Package metadata cleans what documents say about themselves: titles, dates, languages. Authors and programs write
// anything there.
package metadata

import (
	"regexp"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// Limits of a document. One with more pages is refused, a longer outline is cut.
const (
	MaxPages   = 100_000
	MaxOutline = 10_000
)

// Text cuts off the zeros that MuPDF's binding pads with, and half a character at the end.
func Text(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return strings.TrimSpace(layout.Normal(strings.ToValidUTF8(s, "")))
}

var tagForm = regexp.MustCompile(`^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$`)

// Language returns the language that a document names, or "" if it is not in the form of RFC 5646: programs also write
// words and blanks.
func Language(s string) string {
	if s = strings.ReplaceAll(s, "_", "-"); len(s) > 35 || !tagForm.MatchString(s) {
		return ""
	}
	return s
}

// Time returns a date of PDF as RFC 3339, or unchanged if it is not a date.
func Time(s string) string {
	plain := strings.ReplaceAll(strings.TrimPrefix(s, "D:"), "'", "")
	for _, form := range []string{"20060102150405Z0700", "20060102150405", "200601021504", "20060102"} {
		if t, err := time.Parse(form, plain); err == nil {
			return t.Format(time.RFC3339)
		}
	}
	return s
}
