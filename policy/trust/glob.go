package trust

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// all is the glob that matches every name.
const all = "**"

// globCovers reports whether the wide glob matches every name that the narrow one matches. It may be false too often, but
// never wrongly true. It is reflexive and transitive.
func globCovers(wide, narrow string) bool {
	if wide == narrow || wide == all {
		return true
	}
	if slashInside(wide) || slashInside(narrow) {
		return false // one part of such a glob may match several parts of a name
	}
	return partsCover(strings.Split(wide, "/"), strings.Split(narrow, "/"))
}

// slashInside reports whether a glob has a slash inside braces or brackets.
func slashInside(glob string) bool {
	depth := 0
	for _, c := range glob {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth = max(depth-1, 0)
		case '/':
			if depth > 0 {
				return true
			}
		}
	}
	return false
}

func partsCover(wide, narrow []string) bool {
	failed := map[[2]int]bool{} // by the lengths of what is left, because many ** would repeat the same ends
	var covers func(w, n []string) bool
	covers = func(w, n []string) (ok bool) {
		key := [2]int{len(w), len(n)}
		if failed[key] {
			return false
		}
		defer func() { failed[key] = !ok }()
		switch {
		case len(w) == 0:
			return len(n) == 0
		case w[0] == all:
			return covers(w[1:], n) || len(n) > 0 && covers(w, n[1:])
		case len(n) == 0 || n[0] == all:
			return false
		}
		return partCovers(w[0], n[0]) && covers(w[1:], n[1:])
	}
	return covers(wide, narrow)
}

// partCovers compares globs for one part of a name.
func partCovers(wide, narrow string) bool {
	switch {
	case wide == narrow, wide == "*":
		return true
	case strings.ContainsAny(narrow, `*?[{\`):
		return false
	}
	return doublestar.MatchUnvalidated(wide, narrow)
}

// literal returns a glob that matches only one name.
func literal(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(name)
}
