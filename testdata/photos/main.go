// Command photos writes simulated photographs of pages, which measure text recognition:
//
//	go run ./testdata/photos -out DIR -n 60 -seed 1
//
// makes NNN.jpg, NNN.txt (the text, line by line) and NNN.json (how the picture was made). Half of them, those with an even
// SHA-256, are kept unseen by whoever works on recognition.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vaultflow/vaultflow/ingestion/phototest"
)

func main() {
	out := flag.String("out", "", "`folder` to write to")
	n := flag.Uint64("n", 60, "how many pictures")
	seed := flag.Uint64("seed", 1, "another seed makes other pictures")
	flag.Parse()
	if err := run(*out, *seed, *n); err != nil {
		fmt.Fprintln(os.Stderr, "photos:", err)
		os.Exit(1)
	}
}

func run(out string, seed, n uint64) error {
	if out == "" {
		return errors.New("name a folder with -out")
	}
	if err := os.MkdirAll(out, 0o750); err != nil {
		return err
	}
	for i := uint64(1); i <= n; i++ {
		photo, err := phototest.Make(seed, i)
		if err != nil {
			return err
		}
		about, err := json.MarshalIndent(photo.Record, "", "  ")
		if err != nil {
			return err
		}
		for ext, data := range map[string][]byte{".jpg": photo.JPEG, ".txt": []byte(photo.Text + "\n"), ".json": append(about, '\n')} {
			if err := os.WriteFile(filepath.Join(out, fmt.Sprintf("%03d%s", i, ext)), data, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}
