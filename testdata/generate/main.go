// Command generate makes the pictures and PDFs of testdata/vault and testdata/drop again, byte for byte the same each
// time: everything is drawn here, so that nothing in them belongs to anybody else. Run it from the project's root.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	files := map[string][]byte{}
	pictures(files)
	documents(files)
	for name, data := range files {
		path := filepath.Join("testdata", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			fail(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			fail(err)
		}
	}
	fmt.Printf("wrote %d files below testdata\n", len(files))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "generate:", err)
	os.Exit(1)
}
