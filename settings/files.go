package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
)

// Files are the files that [Load] looks for: settings and .env files, the vault's and the user's.
func (in Input) Files() []string {
	var files []string
	if path, _ := in.file(); path != "" {
		files = append(files, path)
	}
	if in.User != "" {
		files = append(files, in.User)
	}
	return append(files, in.dotEnvs()...)
}

// dotEnvs are the places of .env files, the first place first.
func (in Input) dotEnvs() []string {
	var files []string
	add := func(dir string) { files = append(files, filepath.Join(dir, dotEnvName)) }
	for _, file := range []string{in.File, in.User} {
		if file != "" {
			add(filepath.Dir(file))
		}
	}
	for _, dir := range []string{in.StateDir, in.Vault} {
		if dir != "" {
			add(dir)
		}
	}
	return files
}

// Snapshot is what files of settings held at one moment, by path.
type Snapshot map[string]Content

// Content is a file, or why it cannot be read.
type Content struct {
	data Secret // which is never printed
	err  error
}

// Snapshot reads the files that [Load] looks for.
func (in Input) Snapshot() Snapshot {
	s := Snapshot{}
	for _, path := range in.Files() {
		s[path] = contentOf(path)
	}
	return s
}

func contentOf(path string) Content {
	data, err := readBounded(path)
	return Content{Secret(data), err}
}

// Changed are the paths of files that hold something else now.
func (s Snapshot) Changed() []string {
	var paths []string
	for path, was := range s {
		if contentOf(path).fingerprint() != was.fingerprint() {
			paths = append(paths, path)
		}
	}
	return paths
}

func (c Content) fingerprint() string {
	if errors.Is(c.err, fs.ErrNotExist) {
		return ""
	}
	if c.err != nil {
		return "unreadable"
	}
	sum := sha256.Sum256([]byte(c.data))
	return hex.EncodeToString(sum[:])
}

// read reads a file of settings: as it was, when the input says so.
func (in Input) read(path string) ([]byte, error) {
	if was, ok := in.From[path]; ok {
		return []byte(was.data), was.err
	}
	return readBounded(path)
}
