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

// Fingerprint changes with the content of a file of settings. It is empty when there is none.
func Fingerprint(path string) string {
	data, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return "unreadable"
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
