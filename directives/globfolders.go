package directives

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxAlternatives is how many globs the braces of one may expand to. With more, every folder is entered.
const maxAlternatives = 256

// globFolders are the folders that can contain files matching a glob: for each alternative, the globs of the folders from the
// root down. nil means every folder.
type globFolders [][]string

// foldersOf returns the folders of a valid glob.
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

// hold reports whether files below a folder can match. It may be true too often.
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

// leads reports whether a folder is on the path of one alternative.
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

// unbraced expands a glob's braces: `{a,b}/*.{md,txt}` becomes four globs. ok is false if there are too many, or if a class
// contains a brace or a slash, which is left to the matcher.
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

// braces finds the first braces of a glob and their alternatives, which may contain braces again. plain is false if it cannot
// read the glob.
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
