package export

import (
	"path"
	"slices"
	"strings"
)

// pageFolders are the ends of the names of the folders in which browsers and office programs put the files of a page that they save, in
// their languages.
var pageFolders = []string{
	"_files", "-files", ".files", "_file", "-filer", "_filer", "_dateien", "-dateien", "_fichiers", "_archivos", "_arquivos", "_ficheiros", "_bestanden", "_pliki", "_soubory", "_tiedostot", "_elemei", "_fajlovi", "_dosyalar",
}

// IsPage reports whether a file is a web page, by its name.
func IsPage(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".html", ".htm", ".xhtml":
		return true
	}
	return false
}

// OfPage reports whether a file belongs to a saved page: it is in the folder beside it that has the page's name.
func OfPage(page, name string) bool {
	rel := name
	if dir := path.Dir(page); dir != "." {
		below, ok := strings.CutPrefix(name, dir+"/")
		if !ok {
			return false
		}
		rel = below
	}
	folder, _, deeper := strings.Cut(rel, "/")
	stem := strings.TrimSuffix(path.Base(page), path.Ext(page))
	end, ok := strings.CutPrefix(folder, stem)
	return deeper && ok && slices.Contains(pageFolders, strings.ToLower(end))
}

// SavedPage returns the page of which all other files are those that were saved with it, or reports that there is none.
func SavedPage(names []string) (page int, ok bool) {
	for i, name := range names {
		if !IsPage(name) || ok && strings.Count(name, "/") >= strings.Count(names[page], "/") {
			continue
		}
		page, ok = i, true
	}
	files := 0
	for i, name := range names {
		switch {
		case !ok || i == page:
		case OfPage(names[page], name):
			files++
		case path.Base(name) == "index.rdf" && path.Dir(name) == path.Dir(names[page]): // of an archive of Firefox (MAFF)
		default:
			return 0, false
		}
	}
	return page, ok && files > 0
}
