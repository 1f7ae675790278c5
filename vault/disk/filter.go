package disk

import (
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/vaultflow/vaultflow/vault"
)

// verdict is what to do with an entry of the import folder, judged by its name alone.
type verdict int

const (
	take        verdict = iota
	ignore              // clutter, and files that a program is still writing under another name
	placeholder         // a file that iCloud has not downloaded
	conflicted          // one of two versions that a sync program kept
)

// ignoredNames are globs, compared without case, for one part of a name: what browsers, editors, office programs and
// sync programs leave around. Everything that begins with a dot is ignored besides.
var ignoredNames = []string{
	"~$*", "*.tmp", "*.part", "*.partial", "*.crdownload", "*.download", "*.opdownload", "*.filepart", "*.swp", "*.sb-*",
	"*~", "4913", "~syncthing~*", "thumbs.db", "desktop.ini", "@eadir", "__macosx", "#recycle",
	"*.!{qb,ut,bt,sync}", "*.bc!", "*.aria2", "*.aria2__temp", "*.lftp-pget-status", "*.{dtapart,fdmdownload,ytdl}", "*.part-frag*", // of downloads
	"#*#", "*.swo", "*___jb_{tmp,old}___", "*.{lck,dwl,dwl2,idlk,ldb,laccdb}", "*.synctex(busy)", "*.{db,db3,sqlite,sqlite3}-{wal,shm,journal}", // of open files
	"ehthumbs*.db", "icon\r", "$recycle.bin", "system volume information", "@tmp", "#snapshot", // of systems
}

// importNames are ignored in the import folder besides: settings of a folder, passwords beside a document, and the
// notes that say why an import failed.
var importNames = []string{"_import.yaml", "_import.yml", "*.password", "*.failed.md"}

// failedDir is the folder below the import folder to which failed originals are moved.
const failedDir = "failed"

type filter struct {
	importDir string   // folded
	user      []string // folded globs
}

func newFilter(opt Options) (*filter, error) {
	f := &filter{importDir: vault.Fold(opt.ImportDir)}
	for _, glob := range opt.Ignore {
		folded := vault.Fold(strings.TrimSuffix(glob, "/"))
		if folded == "" || !doublestar.ValidatePattern(folded) {
			return nil, fmt.Errorf("ignore pattern %q is malformed", glob)
		}
		f.user = append(f.user, folded)
	}
	return f, nil
}

// inImport reports whether a name is the import folder or below it.
func (f *filter) inImport(name string) bool { return vault.Within(vault.Fold(name), f.importDir) }

// clutter reports whether a name is of no interest to the index and to watching anywhere in the vault.
func clutter(name string) bool {
	for part := range strings.SplitSeq(vault.Fold(name), "/") {
		if strings.HasPrefix(part, ".") || matches(ignoredNames, part) {
			return true
		}
	}
	return false
}

// arrival judges a name below the import folder. The name is that of a file or a folder.
func (f *filter) arrival(name string) verdict {
	folded := vault.Fold(name)
	rel := strings.TrimPrefix(strings.TrimPrefix(folded, f.importDir), "/")
	if rel == "" {
		return take
	}
	if vault.Within(rel, failedDir) || f.userIgnores(rel) {
		return ignore
	}
	base := path.Base(rel)
	if dir := path.Dir(rel); dir != "." && clutter(dir) {
		return ignore
	}
	if strings.HasPrefix(base, ".") && strings.HasSuffix(base, ".icloud") && base != ".icloud" {
		return placeholder
	}
	if clutter(base) || matches(importNames, base) {
		return ignore
	}
	if isConflictCopy(folded) {
		return conflicted
	}
	return take
}

// userIgnores tries the patterns of the settings: one with a slash against the path below the import folder, one
// without against every part of it.
func (f *filter) userIgnores(rel string) bool {
	for _, glob := range f.user {
		if strings.Contains(glob, "/") {
			if doublestar.MatchUnvalidated(glob, rel) || doublestar.MatchUnvalidated(glob+"/**", rel) {
				return true
			}
			continue
		}
		for part := range strings.SplitSeq(rel, "/") {
			if doublestar.MatchUnvalidated(glob, part) {
				return true
			}
		}
	}
	return false
}

func matches(globs []string, part string) bool {
	for _, glob := range globs {
		if doublestar.MatchUnvalidated(glob, part) {
			return true
		}
	}
	return false
}

// isConflictCopy recognises the second version of a file that Syncthing, Obsidian Sync, Dropbox and Nextcloud keep.
func isConflictCopy(name string) bool {
	base := vault.Fold(path.Base(name))
	return strings.Contains(base, ".sync-conflict-") || (strings.Contains(base, "conflicted copy") && strings.Contains(base, "("))
}
