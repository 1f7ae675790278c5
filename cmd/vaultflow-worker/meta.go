package main

import (
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
