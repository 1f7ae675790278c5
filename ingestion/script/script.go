// Package script writes raised and lowered text with the characters that Unicode has for it, so that it does not join the number before it.
package script

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Digits and signs that Unicode has raised and lowered, in the order of ordinary.
const (
	ordinary = "0123456789+-=()"
	raised   = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾"
	lowered  = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎"
)

// Replacers between ordinary characters and raised and lowered ones. Characters without such a form stay.
var (
	ToRaised   = replacer(ordinary, raised, "−", "⁻", "–", "⁻")
	ToLowered  = replacer(ordinary, lowered, "−", "₋", "–", "₋")
	ToOrdinary = replacer(raised+lowered, ordinary+ordinary, "ⁿ", "n", "ⁱ", "i", "−", "-")
	LowToPlain = replacer(lowered, ordinary)
	letters    = map[string]string{"n": "ⁿ", "i": "ⁱ", "a": "ª", "o": "º", "TM": "™"}
)

// HasLowered reports whether a text has lowered characters.
func HasLowered(text string) bool { return strings.ContainsAny(text, lowered) }

// replacer replaces each rune of a text by the one of another text.
func replacer(from, to string, more ...string) *strings.Replacer {
	pairs, runes := more, []rune(to)
	for i, r := range []rune(from) {
		pairs = append(pairs, string(r), string(runes[i]))
	}
	return strings.NewReplacer(pairs...)
}

var (
	raisable  = regexp.MustCompile(`^\s*[-−–+(]?\d[\d\s,.()+−–*-]{0,7}$`)
	lowerable = regexp.MustCompile(`^[\d+−–=()-]{1,8}$`)
	ordinal   = regexp.MustCompile(`^(?:st|nd|rd|th|er|re|e|ère|ème|os|as|ª|º)$`)
)

// Raisable reports whether a text has digits that can be raised.
func Raisable(text string) bool { return raisable.MatchString(text) }

// Raised writes a text that is raised behind what stands before it: with raised characters, as ^(text) if there are none, and as it is if it
// cannot join. The endings of 1st and 2nd are written in line.
func Raised(before, text string) string {
	return scripted(before, text, "^", func(s string) (string, bool) {
		last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(before))
		switch {
		case Raisable(s):
			return ToRaised.Replace(s), true
		case letters[s] != "":
			return letters[s], true
		}
		return s, ordinal.MatchString(s) && unicode.IsDigit(last)
	})
}

// Lowered is Raised for text that is lowered.
func Lowered(before, text string) string {
	return scripted(before, text, "_", func(s string) (string, bool) { return ToLowered.Replace(s), lowerable.MatchString(s) })
}

func scripted(before, text, mark string, write func(string) (string, bool)) string {
	core := strings.TrimSpace(text)
	first, _ := utf8.DecodeRuneInString(core)
	last, _ := utf8.DecodeLastRuneInString(before)
	digit := strings.ContainsFunc(core, unicode.IsDigit)
	if first == '[' || !digit && !strings.ContainsFunc(core, unicode.IsLetter) {
		return text // a mark such as * or [1] joins nothing
	}
	lead, tail, _ := strings.Cut(text, core)
	if s, ok := write(core); ok {
		return lead + s + tail
	}
	if !unicode.IsLetter(last) && !unicode.IsDigit(last) && !strings.ContainsRune(")]}", last) && !digit {
		return text
	}
	if strings.HasPrefix(core, "(") && strings.HasSuffix(core, ")") {
		return lead + mark + core + tail
	}
	return lead + mark + "(" + core + ")" + tail
}
