package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// list returns the regular files of a folder, sorted by kind and name, without hidden ones, which imports ignore.
func list(dir string, every int) ([]source, error) {
	var files []source
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), ".") && path != dir:
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		name, err := filepath.Rel(dir, path)
		files = append(files, source{path: path, name: name, kind: kindOf(path)})
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b source) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name)) })
	kept := files[:0]
	for i, f := range files {
		if i%every == 0 {
			kept = append(kept, f)
		}
	}
	for i := range kept {
		if kept[i].sha256, err = digest(kept[i].path); err != nil {
			return nil, err
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("%s holds no file", dir)
	}
	return kept, nil
}

// kindOf is a file's extension in its shorter spelling.
func kindOf(path string) string {
	switch ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), ".")); ext {
	case "":
		return "none"
	case "jpeg":
		return "jpg"
	case "tiff":
		return "tif"
	default:
		return ext
	}
}

func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// place copies a file into the vault atomically: it is written elsewhere on the same disk and renamed.
func place(from, temp, to string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(temp)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(temp, to)
}

// find returns the file with these bytes below a folder, or "".
func find(dir, sha256 string) (string, error) {
	found := ""
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		sum, err := digest(path)
		if sum == sha256 {
			found = path
			return fs.SkipAll
		}
		return err
	})
	return found, err
}

// leftovers lists hidden and temporary files below a folder, and files left in the import folder.
func leftovers(vault, below string) ([]string, error) {
	var left []string
	err := filepath.WalkDir(filepath.Join(vault, below), func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		name := d.Name()
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".part") {
			rel, err := filepath.Rel(vault, path)
			left = append(left, rel)
			if d.IsDir() && err == nil {
				return fs.SkipDir
			}
			return err
		}
		return nil
	})
	return left, err
}
