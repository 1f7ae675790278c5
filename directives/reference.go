package directives

import (
	"maps"
	"slices"
	"strings"
)

// Kind is one kind of file, with its extensions.
type Kind struct {
	Name       string
	Extensions []string // without dot, sorted
}

// Kinds lists the kinds of files that an input can be, for the language reference.
func Kinds() []Kind {
	by := map[string][]string{}
	for extension, kind := range kinds {
		by[kind] = append(by[kind], strings.TrimPrefix(extension, "."))
	}
	var list []Kind
	for _, name := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[name])
		list = append(list, Kind{Name: name, Extensions: by[name]})
	}
	return list
}
