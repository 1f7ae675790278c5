// Package schemas holds the published JSON Schemas (draft 2020-12) of the files that this project writes. It owns no
// state and reads nothing.
package schemas

import "embed"

//go:embed *.schema.json
var files embed.FS

// suffix ends the name of a schema's file.
const suffix = ".schema.json"

// Get returns a schema by its short name, such as "manifest".
func Get(name string) ([]byte, bool) {
	data, err := files.ReadFile(name + suffix)
	return data, err == nil
}

// Names lists the short names, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // embedded
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()[:len(e.Name())-len(suffix)]
	}
	return names
}
