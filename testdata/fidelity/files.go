package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// half is a half of the public files. The seen half may be looked at while rules are written; the unseen one is only measured.
type half string

const (
	seen   half = "seen"
	unseen half = "unseen"
)

// document is a file of a set.
type document struct {
	path   string
	name   string // relative to the set's folder, with slashes
	sha256 string
	half   half
	absent bool // only a pointer of Git LFS is here; digest and half are those of the file it stands for
}

// halfOf says in which half a file is: an even digest is unseen.
func halfOf(sum [sha256.Size]byte) half {
	if sum[len(sum)-1]%2 == 0 {
		return unseen
	}
	return seen
}

var pointer = regexp.MustCompile(`^version https://git-lfs\.github\.com/spec/v1\noid sha256:([0-9a-f]{64})\n`)

// digest is the digest of a file, also when only a pointer of Git LFS to it is here.
func digest(data []byte) (sum [sha256.Size]byte, absent bool) {
	m := pointer.FindSubmatch(data)
	if m == nil {
		return sha256.Sum256(data), false
	}
	n, err := hex.Decode(sum[:], m[1])
	return sum, err == nil && n == len(sum)
}

// list returns the PDF files below a folder that are in one of the halves, by name. Files with equal bytes are one.
func list(dir string, halves []half) ([]document, error) {
	var files []document
	known := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.EqualFold(filepath.Ext(path), ".pdf") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		sum, absent := digest(data)
		f := document{path: path, name: filepath.ToSlash(name), sha256: hex.EncodeToString(sum[:]), half: halfOf(sum), absent: absent}
		if !known[f.sha256] && slices.Contains(halves, f.half) {
			known[f.sha256] = true
			files = append(files, f)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the files of a set: %w", err)
	}
	return files, nil
}
