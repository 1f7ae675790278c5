package ingestion

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// nameBytes is the longest name of a bundle. Obsidian's sync and Windows both stumble over paths above 255.
const nameBytes = 120

// reservedNames are taken by the bundle's own files.
var reservedNames = []string{noteName, manifestName, "pages", "text", "ocr", "assets"}

// folder is where below the import folder a source lies, each part made safe; empty for the import folder itself and for
// sources from elsewhere.
func (im *Importer) folder(j Job, importDir string) string {
	rel, ok := strings.CutPrefix(j.Source, importDir+"/")
	if !ok || path.Dir(rel) == "." {
		return ""
	}
	parts := strings.Split(path.Dir(rel), "/")
	for i, p := range parts {
		parts[i] = im.SafeName(p, nameBytes)
	}
	return path.Join(parts...)
}

// bundleName is the vault name that a source's bundle has when nothing else has it.
func (im *Importer) bundleName(j Job) string {
	set := j.settings()
	return path.Join(set.ImportedDir, im.folder(j, set.ImportDir), im.bundleBase(j.base()))
}

// bundleBase is the name of the folder that a file of a name becomes.
func (im *Importer) bundleBase(file string) string {
	stem := strings.TrimSuffix(file, path.Ext(file))
	if stem == "" {
		stem = file
	}
	return im.SafeName(stem, nameBytes)
}

// originalName is the original's name within its bundle.
func (im *Importer) originalName(j Job) string {
	name := im.SafeName(j.base(), nameBytes)
	if slices.ContainsFunc(reservedNames, func(r string) bool { return strings.EqualFold(r, name) }) {
		name = "original " + name
	}
	return name
}

// numbered gives the nth candidate for the name of a folder: "q3", "q3 (2)".
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	return name + " (" + strconv.Itoa(n) + ")"
}

// numberedFile gives the nth candidate for the name of a file: "q3.pdf", "q3 (2).pdf".
func numberedFile(name string, n int) string {
	ext := path.Ext(name)
	return numbered(strings.TrimSuffix(name, ext), n) + ext
}
