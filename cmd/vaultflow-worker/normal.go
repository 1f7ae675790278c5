package main

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// ligatures are written out: nobody searches for them.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st",
	"\u00a0", " ", "\u2007", " ", "\u202f", " ")

// normal gives text in NFC, without ligatures and control characters.
func normal(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r), r == '\ufeff', r == '\u200b':
			return -1
		}
		return r
	}, norm.NFC.String(ligatures.Replace(s)))
}
