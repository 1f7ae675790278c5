package main

import (
	"regexp"
	"strings"
	"time"
)

// Above these a document is refused or its outline cut; the frames carry no more either.
const (
	maxPages   = 100_000
	maxOutline = 10_000
)

// metaText cuts the zeros off that the binding pads with, and half a character at the end.
func metaText(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return strings.TrimSpace(normal(strings.ToValidUTF8(s, "")))
}

var tagForm = regexp.MustCompile(`^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$`)

// languageTag gives a language as the document names it, empty when that has not the form of RFC 5646: programs write
// words and blanks there too.
func languageTag(s string) string {
	if s = strings.ReplaceAll(s, "_", "-"); len(s) > 35 || !tagForm.MatchString(s) {
		return ""
	}
	return s
}

// metaTime gives a date of PDF as RFC 3339, or as it was written when it is none.
func metaTime(s string) string {
	plain := strings.ReplaceAll(strings.TrimPrefix(s, "D:"), "'", "")
	for _, form := range []string{"20060102150405Z0700", "20060102150405", "200601021504", "20060102"} {
		if t, err := time.Parse(form, plain); err == nil {
			return t.Format(time.RFC3339)
		}
	}
	return s
}
