package directives

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// glob lists the files that fit a glob. Dot entries and the copies that sync programs leave behind are never taken.
// Links to folders are not followed, so that a circle of links ends; links to files are.
func (f *finder) glob(ctx context.Context, glob string) ([]candidate, error) {
	if bad := faultOf(unescape(glob)); bad != nil {
		return nil, At(bad.at(f.in.Target), bad.code, bad.suggestion, "%s", bad.message)
	}
	if !doublestar.ValidatePattern(glob) {
		return nil, f.fail(CodeGlob, "quote the path if it is no glob", "%q is not a valid glob", clip(f.in.Target.Path))
	}
	for _, try := range globSpellings(glob) {
		list, err := f.walk(ctx, try)
		if err != nil || len(list) > 0 {
			return list, err
		}
	}
	return nil, nil
}

// globSpellings applies the extension rules to a glob. An extension that is itself a glob is taken as it is.
func globSpellings(glob string) []string {
	base := path.Base(glob)
	if i := strings.LastIndexAny(glob, "/"); i >= 0 && strings.Contains(glob[i:], "}") && !strings.Contains(glob[i:], "{") {
		base = glob // the last slash stands inside alternatives
	}
	ext := path.Ext(base)
	switch {
	case base == "**":
		return []string{glob + "/*.md"}
	case ext == "" || strings.Contains(ext, "}") && !strings.Contains(ext, "{"):
		// `{a,b.md}` has its extensions inside; `*` has none.
		if ext == "" {
			return []string{glob + ".md"}
		}
		return []string{glob, glob + ".md"}
	case KindOf(ext) != "" || strings.ContainsAny(ext, "*?[{"):
		return []string{glob}
	}
	return []string{glob, glob + ".md"}
}

func (f *finder) walk(ctx context.Context, glob string) ([]candidate, error) {
	base, _ := doublestar.SplitPattern(glob)
	root := unescape(base)
	if !fs.ValidPath(root) {
		return nil, nil
	}
	var list []candidate
	err := fs.WalkDir(f.env.FS, root, func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return f.walkFault(name, root, d, err)
		}
		if name != "." && strings.HasPrefix(path.Base(name), ".") {
			return skip(d)
		}
		if d.IsDir() {
			if name != root && !descends(glob, name) {
				return fs.SkipDir
			}
			return nil
		}
		if !syncCopy(name) && doublestar.MatchUnvalidated(glob, name) && f.regular(name, d) {
			list = append(list, candidate{name: name})
		}
		return nil
	})
	if err != nil {
		var d Diagnostic
		if errors.As(err, &d) {
			return nil, d
		}
		return nil, fmt.Errorf("list %s: %w", f.res.Target, err)
	}
	return list, nil
}

func (f *finder) walkFault(name, root string, d fs.DirEntry, err error) error {
	if errors.Is(err, fs.ErrNotExist) || notDir(err) {
		return nil
	}
	if name == root {
		return f.fail(CodeCannotRead, "", "cannot read %s: %v", name, err)
	}
	f.warn(CodeCannotRead, "", "cannot read %s: %v", name, err)
	return skip(d)
}

func skip(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// regular says whether an entry is a file, directly or through a link. A link that cannot be followed is named in a
// warning: it is broken or leads out of the vault.
func (f *finder) regular(name string, d fs.DirEntry) bool {
	if d.Type().IsRegular() {
		return true
	}
	if d.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := fs.Stat(f.env.FS, name)
	if err != nil {
		f.warn(CodeCannotRead, "", "cannot read %s: %v", name, err)
		return false
	}
	return info.Mode().IsRegular()
}

// descends says whether files below a folder can fit a glob; it may say yes too often.
func descends(glob, dir string) bool {
	if strings.Contains(glob, "{") {
		return true
	}
	globs := strings.Split(glob, "/")
	for i, part := range strings.Split(dir, "/") {
		if i >= len(globs)-1 && globs[min(i, len(globs)-1)] != "**" {
			return false
		}
		if globs[i] == "**" {
			return true
		}
		if !doublestar.MatchUnvalidated(globs[i], part) {
			return false
		}
	}
	return true
}

func hasMeta(glob string) bool {
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return true
		}
	}
	return false
}

// syncCopy recognises temporary files and conflict copies of Syncthing, Obsidian Sync, Dropbox and Nextcloud.
func syncCopy(name string) bool {
	base := strings.ToLower(path.Base(name))
	return strings.HasPrefix(base, "~syncthing~") || strings.Contains(base, ".sync-conflict-") ||
		strings.Contains(base, "conflicted copy ")
}
