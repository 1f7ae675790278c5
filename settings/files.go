package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
)

// Files lists the files that [Load] reads if they exist: settings and .env files of the vault and the user.
func (in Input) Files() []string {
	var files []string
	if path, _ := in.file(); path != "" {
		files = append(files, path)
	}
	if in.User != "" {
		files = append(files, in.User)
	}
	return append(files, in.KeyFiles()...)
}

// KeyFiles lists the places of .env files, in order of preference. The environment comes before them.
func (in Input) KeyFiles() []string {
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

// Snapshot is the content of the settings files at one moment, by path.
type Snapshot map[string]Content

// Content is a file's content, or the reason why it cannot be read.
type Content struct {
	data Secret // which is never printed
	err  error
}

// Snapshot reads the files that [Load] would read.
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

// Changed returns the paths of files whose content is different in another snapshot of the same files, in order.
func (s Snapshot) Changed(now Snapshot) []string {
	var paths []string
	for _, path := range sortedKeys(s) {
		if now[path].fingerprint() != s[path].fingerprint() {
			paths = append(paths, path)
		}
	}
	return paths
}

// Same reports whether two snapshots hold the same files with the same contents.
func (s Snapshot) Same(o Snapshot) bool {
	return maps.EqualFunc(s, o, func(a, b Content) bool { return a.fingerprint() == b.fingerprint() })
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

// read reads a settings file, from the input's snapshot if it has one.
func (in Input) read(path string) ([]byte, error) {
	if was, ok := in.From[path]; ok {
		return []byte(was.data), was.err
	}
	return readBounded(path)
}
