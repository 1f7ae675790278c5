package origin

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// maxOrigins is how many origins a record names; more means that there were others.
const (
	maxOrigins = 20
	more       = "and more"
)

// Kinds of origins: the first word of each.
const (
	kindFile   = "file "
	kindRun    = "run "
	kindImport = "import "
)

// Join adds new origins to a list. The list remains short and is not changed in place.
func Join(list []string, add ...string) []string {
	list = slices.Clone(list)
	for _, o := range add {
		switch {
		case o == "" || slices.Contains(list, o):
		case len(list) < maxOrigins:
			list = append(list, o)
		case len(list) == maxOrigins:
			list = append(list, more)
		}
	}
	return list
}

// OfRun returns the origins of what a run wrote after it was shown foreign content: the run, and what that content was made
// from. Names of files and earlier runs in between are left out unless nothing else is known, so that the list does not grow
// with each hop.
func OfRun(run, workflow string, shown []string) []string {
	var roots []string
	for _, o := range shown {
		if !strings.HasPrefix(o, kindFile) && !strings.HasPrefix(o, kindRun) {
			roots = append(roots, o)
		}
	}
	if len(roots) == 0 || len(roots) == 1 && roots[0] == more {
		roots = shown
	}
	return Join([]string{oneLine(kindRun + run + " (" + workflow + ")")}, roots...)
}

// OfImport returns the origin of what an import made.
func OfImport(id, source string) string {
	return oneLine(kindImport + id + " (" + path.Base(source) + ")")
}

// oneLine keeps an origin on one line in records, because names may contain anything.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == '\u2028' || c == '\u2029' {
			return ' '
		}
		return c
	}, text)
}

// Key normalizes a name for records: file systems may ignore case, and spell accents in two ways.
func Key(name string) string { return strings.ToLower(norm.NFC.String(name)) }
