package export

import (
	"html"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// pageFolders are the ends of the names of the folders in which browsers and office programs put the files of a page that they save, in
// their languages.
var pageFolders = []string{
	"_files", "-files", ".files", "_file", "-filer", "_filer", "_dateien", "-dateien", "_fichiers", "_archivos", "_arquivos", "_ficheiros", "_bestanden", "_pliki", "_soubory", "_tiedostot", "_elemei", "_fajlovi", "_dosyalar",
	"_bylos", "_datoteke", "_failid", "_fails", "_fitxers", "_fitxategiak",
}

// noteFolders are the names, or ends of names, of folders in which programs put what notes show.
var noteFolders = []string{"attachments", "assets", "_resources"}

// maxRef is the longest reference in a page that is looked at, in bytes.
const maxRef = 1000

// reference is a value in a page or its style sheets that may name a file.
var reference = regexp.MustCompile("[\"'(]([^\"'()<>\n]+)[\"')]")

// choices ends each of the pictures from which a browser chooses one (srcset).
var choices = regexp.MustCompile(` [0-9.]+[xw](,|$)`)

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
	of, _, ok := PageOf(name, path.Dir(page))
	return ok && of == strings.TrimSuffix(page, path.Ext(page))
}

// PageOf returns the page that a file below dir was saved with, without its extension, and the folder of its files.
func PageOf(name, dir string) (page, folder string, ok bool) {
	rel, below := name, true
	if dir != "." {
		rel, below = strings.CutPrefix(name, dir+"/")
	}
	first, _, deeper := strings.Cut(rel, "/")
	if !below || !deeper {
		return "", "", false
	}
	for _, end := range pageFolders {
		if at := len(first) - len(end); at > 0 && strings.EqualFold(first[at:], end) {
			return path.Join(dir, first[:at]), path.Join(dir, first), true
		}
	}
	return "", "", false
}

// ForNote reports whether a folder has a name for files that a note shows.
func ForNote(folder string) bool {
	base := strings.ToLower(path.Base(folder))
	return slices.ContainsFunc(noteFolders, func(end string) bool { return strings.HasSuffix(base, end) })
}

// Named lists the files saved with a page that the page names, each once.
func Named(page string, text []byte) []string {
	var names []string
	for _, m := range reference.FindAllSubmatch(text, -1) {
		if len(m[1]) > maxRef {
			continue
		}
		values := []string{html.UnescapeString(string(m[1]))}
		if choices.MatchString(values[0]) {
			values = strings.Split(choices.ReplaceAllString(values[0], ","), ",")
		}
		for _, value := range values {
			u, err := url.Parse(strings.TrimSpace(value))
			if err != nil || u.Scheme != "" || u.Host != "" {
				continue
			}
			if name := path.Join(path.Dir(page), u.Path); OfPage(page, name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
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
