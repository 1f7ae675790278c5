package directives

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/vault"

	"github.com/bmatcuk/doublestar/v4"
)

// glob lists the files that match a glob. It skips dot entries and the copies that sync programs leave behind. It follows
// links to files but not to folders, which could form a cycle.
func (f *finder) glob(ctx context.Context, glob string) ([]candidate, error) {
	if bad := faultOf(unescape(glob)); bad != nil {
		return nil, At(bad.at(f.in.Target), bad.code, bad.suggestion, "%s", bad.message)
	}
	if !doublestar.ValidatePattern(glob) {
		return nil, f.fail(CodeGlob, "quote the path if it is not a glob", "%q is not a valid glob", clip(f.in.Target.Path))
	}
	for _, try := range globSpellings(glob) {
		list, err := f.walk(ctx, try)
		if err != nil || len(list) > 0 {
			return list, err
		}
	}
	return nil, nil
}

// globSpellings applies the extension rules to a glob. An extension that is itself a glob remains as it is.
func globSpellings(glob string) []string {
	base := path.Base(glob)
	if i := strings.LastIndexAny(glob, "/"); i >= 0 && strings.Contains(glob[i:], "}") && !strings.Contains(glob[i:], "{") {
		base = glob // the last slash is inside alternatives
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

// maxEntries is how many files and folders one glob may visit.
const maxEntries = 1_000_000

// walk lists the files that match one spelling of a glob. It enters only folders that can contain one, and stops once there
// are more files than may be selected.
func (f *finder) walk(ctx context.Context, glob string) ([]candidate, error) {
	base, _ := doublestar.SplitPattern(glob)
	root := unescape(base)
	if !fs.ValidPath(root) {
		return nil, nil
	}
	folders := foldersOf(glob)
	all := !f.in.Selection.Pending && f.in.Selection.limit() == 0
	match := func(name string) bool { return doublestar.MatchUnvalidated(glob, name) }
	var list []candidate
	seen := 0
	err := fs.WalkDir(f.env.FS, root, func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > maxEntries {
			return f.fail(CodeTooMany, "narrow the path", "%s visits more than %d files and folders", f.res.Target, maxEntries)
		}
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
			if name != root && !folders.hold(name) {
				return fs.SkipDir
			}
			return nil
		}
		if !leftover(name) && f.bundles.Fits(match, name) && !f.represented(glob, name) && f.regular(name, d) {
			list = append(list, candidate{name: name})
		}
		if all && len(list) > f.env.MaxFiles {
			return f.tooMany()
		}
		return nil
	})
	if err != nil {
		var d diag.Diagnostic
		if errors.As(err, &d) {
			return nil, d
		}
		return nil, fmt.Errorf("list %s: %w", f.res.Target, err)
	}
	return list, nil
}

// represented reports whether a glob leaves out a file because it selects another for it: the note of the document whose chapter the
// file is, or the newer version of its bundle. A glob that says "(version" means older versions.
func (f *finder) represented(glob, name string) bool {
	if document := f.bundles.ChapterOf(name); document != "" && doublestar.MatchUnvalidated(glob, document) {
		return true
	}
	return !strings.Contains(unescape(glob), "(version") && vault.IsFormerVersion(f.env.FS, name)
}

// withoutChapters drops the notes of chapters whose document is selected too: its note represents all of them.
func (f *finder) withoutChapters(list []candidate) []candidate {
	selected := make(map[string]bool, len(list))
	for _, c := range list {
		selected[c.name] = true
	}
	return slices.DeleteFunc(list, func(c candidate) bool { return selected[f.bundles.ChapterOf(c.name)] })
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

// regular reports whether an entry is a file, directly or through a link. It warns about a link that is broken or leads out
// of the vault.
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

// leftover reports whether another program left a file behind: temporary files, locks, and the conflict copies of Syncthing,
// Obsidian Sync, Dropbox and Nextcloud.
func leftover(name string) bool {
	base := strings.ToLower(path.Base(name))
	switch base {
	case "thumbs.db", "desktop.ini":
		return true
	}
	for _, start := range []string{"~syncthing~", "~$"} {
		if strings.HasPrefix(base, start) {
			return true
		}
	}
	for _, end := range []string{"~", ".crdownload", ".part"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return strings.Contains(base, ".sync-conflict-") || strings.Contains(base, "conflicted copy ")
}
