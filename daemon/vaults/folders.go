package vaults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// folder is a vault among those of this process.
type folder struct {
	name string // unique, made of letters, digits, - and _: it is a part of addresses
	dir  string // absolute, as it was named
}

// folders names the vaults. Two names of one folder are one vault.
func folders(dirs []string) ([]folder, error) {
	var list []folder
	used := map[string]bool{}
	for _, dir := range dirs {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("find the vault: %w", err)
		}
		if err := apart(dir, list); err == errSame { //nolint:errorlint // our own
			continue
		} else if err != nil {
			return nil, err
		}
		base := slug(filepath.Base(dir))
		name := base
		for n := 2; used[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		used[name] = true
		list = append(list, folder{name, dir})
	}
	return list, nil
}

func slug(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, name)
	if name = strings.Trim(name, "-"); name == "" {
		return "vault"
	}
	return name
}

// errSame is returned for another name of a vault that is there already.
var errSame = fmt.Errorf("it is another name of the same folder")

// apart returns an error if a folder is one of the others, inside one of them, or around it. It looks at the folders themselves: links and
// names in another case lead to the same one. A folder that is not there now is only compared by its path.
func apart(dir string, others []folder) error {
	for _, o := range others {
		switch {
		case same(dir, o.dir):
			return errSame
		case within(dir, o.dir):
			return fmt.Errorf("the vault %s lies in the vault %s; serve only one of them", dir, o.dir)
		case within(o.dir, dir):
			return fmt.Errorf("the vault %s lies in the vault %s; serve only one of them", o.dir, dir)
		}
	}
	return nil
}

func same(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// within reports whether a folder is inside another one.
func within(inner, outer string) bool {
	if real, err := filepath.EvalSymlinks(inner); err == nil {
		inner = real
	}
	for {
		above := filepath.Dir(inner)
		if above == inner {
			return false
		}
		if same(above, outer) {
			return true
		}
		inner = above
	}
}
