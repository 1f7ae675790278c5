package ingestion

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/vault"
)

const nameBytes = manifest.NameBytes

// reservedNames belong to the bundle's own files.
var reservedNames = []string{vault.FormerNote, manifest.File, "pages", vault.TextDir, "ocr", "assets", vault.ChaptersDir, manifest.AttachedDir}

// places finds the vault names of an import: of its bundle, its original, and the files in its file.
type places struct {
	im  *Importer
	job Job
	set config.Settings
}

// folder returns the source's folder below the import folder, each part made safe. It is empty for the import folder itself and for
// other sources.
func (pl places) folder() string {
	rel, ok := strings.CutPrefix(pl.job.Source, pl.set.ImportDir+"/")
	if !ok || path.Dir(rel) == "." {
		return ""
	}
	parts := strings.Split(path.Dir(rel), "/")
	for i, p := range parts {
		parts[i] = vault.SafeName(p, nameBytes)
	}
	return path.Join(parts...)
}

// below returns the name of the source's file in another folder, with the same folders in it.
func (pl places) below(dir string) string {
	return path.Join(dir, pl.folder(), vault.SafeName(pl.job.base(), nameBytes))
}

// done returns the original's name in the done folder if no other file has it.
func (pl places) done() string { return pl.below(pl.set.DoneDir) }

// failed returns the original's name in the failed folder if no other file has it.
func (pl places) failed() string { return pl.below(pl.set.FailedDir) }

// bundle returns the bundle's vault name if nothing else has it. It is in no other bundle, except in that of an archive or message
// whose files are imported by themselves: a folder of its place that is a bundle is numbered. One that is there already stays.
func (pl places) bundle() string {
	own := pl.bundleOf(pl.job.base())
	plain := path.Join(pl.set.ImportedDir, pl.folder(), own)
	if _, ok := pl.im.manifest(plain); ok || pl.folder() == "" {
		return plain
	}
	dir := pl.set.ImportedDir
	for part := range strings.SplitSeq(pl.folder(), "/") {
		at := path.Join(dir, part)
		for n := 1; n < maxNumber; n++ {
			dir = numbered(at, n)
			if m, ok := pl.im.manifest(dir); !ok || len(m.Children) > 0 {
				break
			}
		}
	}
	return path.Join(dir, own)
}

// bundleOf returns the name of the folder that a file becomes.
func (pl places) bundleOf(file string) string {
	stem := strings.TrimSuffix(file, path.Ext(file))
	if stem == "" {
		stem = file
	}
	return vault.SafeName(stem, nameBytes)
}

// original returns the original's name within its bundle. One that would be a note gets another extension: the bundle has its own.
func (pl places) original() string { return originalOf(pl.job.base()) }

func originalOf(base string) string {
	name := vault.SafeName(base, nameBytes)
	if strings.EqualFold(path.Ext(name), ".md") {
		return vault.SafeName(name, nameBytes-len(manifest.Kept)) + manifest.Kept
	}
	if slices.ContainsFunc(reservedNames, func(r string) bool { return strings.EqualFold(r, name) }) {
		name = "original " + name
	}
	return name
}

// note returns the name of the note in a bundle: the bundle's own, or the first numbered one that nothing else in it has.
func (pl places) note(bundle string, rec documentRecord) string {
	plain := manifest.NoteFor(bundle)
	name := plain
	for n := 2; rec.has(name); n++ {
		name = vault.Numbered(plain, n)
	}
	return name
}

// keep returns where the original will be: a name within the bundle, a vault name, or "" if it is removed.
func (pl places) keep(ctx context.Context) (string, error) {
	switch {
	case pl.set.KeepOriginal == config.KeepInBundle:
		return pl.original(), nil
	case pl.set.KeepOriginal == config.KeepNot:
		return "", nil
	}
	return pl.free(ctx, pl.done())
}

// aside returns a free name for a version that is replaced.
func (pl places) aside(bundle string, version int) string {
	name := fmt.Sprintf("%s (version %d)", bundle, version)
	for n := 1; n < maxNumber; n++ {
		if candidate := numbered(name, n); !pl.im.exists(candidate) {
			return candidate
		}
	}
	return name // taken: the move fails
}

// free returns the first numbered name that is free or belongs to a file with the same bytes.
func (pl places) free(ctx context.Context, name string) (string, error) {
	for n := range maxNumber {
		candidate := vault.Numbered(name, n+1)
		if !pl.im.exists(candidate) {
			return candidate, nil
		}
		have, err := pl.im.sumOf(ctx, candidate)
		if err == nil && have == pl.job.SHA256 {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("find a free name for %s: %d are taken", name, maxNumber)
}

// holds reports whether a folder is the bundle of this import.
func (pl places) holds(bundle string) bool {
	m, ok := pl.im.manifest(bundle)
	return ok && m.Import.ID == pl.job.ID && m.Source.SHA256 == pl.job.SHA256
}

// numbered returns the nth candidate for the name of a folder: "q3", "q3 (2)".
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	return name + " (" + strconv.Itoa(n) + ")"
}
