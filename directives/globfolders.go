package directives

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxAlternatives is how many globs without braces one with braces may stand for; of more, every folder is entered.
const maxAlternatives = 256

// globFolders tells which folders can hold files that fit a glob: for each of its alternatives, the globs of the
// folders from the root down. nil is every folder.
type globFolders [][]string

// foldersOf reads a valid glob.
func foldersOf(glob string) globFolders {
	globs, ok := unbraced(glob)
	if !ok {
		return nil
	}
	var folders globFolders
	for _, g := range globs {
		parts := strings.Split(g, "/")
		if last := len(parts) - 1; parts[last] != "**" {
			parts = parts[:last]
		}
		folders = append(folders, parts)
	}
	return folders
}

// hold says whether files below a folder can fit; it may say yes too often.
func (g globFolders) hold(dir string) bool {
	if g == nil {
		return true
	}
	parts := strings.Split(dir, "/")
	for _, folders := range g {
		if leads(folders, parts) {
			return true
		}
	}
	return false
}

// leads says whether a folder is on the way that one alternative describes.
func leads(folders, dir []string) bool {
	for i, part := range dir {
		switch {
		case i >= len(folders):
			return false
		case folders[i] == "**":
			return true
		case !doublestar.MatchUnvalidated(folders[i], part):
			return false
		}
	}
	return true
}

// unbraced writes a glob without its braces: `{a,b}/*.{md,txt}` is four globs. ok is false when there are too many,
// or when a class holds a brace or a slash, which is left to the matcher.
func unbraced(glob string) (globs []string, ok bool) {
	todo := []string{glob}
	for len(todo) > 0 {
		one := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		before, choices, after, found, plain := braces(one)
		switch {
		case !plain || len(globs)+len(todo)+len(choices) > maxAlternatives:
			return nil, false
		case !found:
			globs = append(globs, one)
		}
		for _, c := range choices {
			todo = append(todo, before+c+after)
		}
	}
	return globs, true
}

// braces finds the first braces of a glob and what they choose between, which may hold braces again. plain is false for
// what it does not read.
func braces(glob string) (before string, choices []string, after string, found, plain bool) {
	depth, open, last := 0, 0, 0
	class := false
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '\\':
			i++
		case class:
			if c == '{' || c == '}' || c == '/' || c == ',' {
				return "", nil, "", false, false
			}
			class = c != ']'
		case c == '[':
			class = true
		case c == '{':
			if depth++; depth == 1 {
				open, last = i, i+1
			}
		case c == ',' && depth == 1:
			choices = append(choices, glob[last:i])
			last = i + 1
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return glob[:open], append(choices, glob[last:i]), glob[i+1:], true, true
			}
		}
	}
	return "", nil, "", false, depth == 0 && !class
}
