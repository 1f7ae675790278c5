package ocr

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// FindTessdata returns the folder with language data: the named one, else the one where systems keep them.
func FindTessdata(named string) string {
	if named != "" {
		if found, _ := filepath.Glob(filepath.Join(named, "*.traineddata")); len(found) == 0 {
			if sub := filepath.Join(named, "tessdata"); len(Languages(sub)) > 0 {
				return sub
			}
		}
		return named
	}
	for _, pattern := range []string{
		"/usr/share/tesseract-ocr/*/tessdata", "/usr/share/tessdata", "/usr/share/tesseract/tessdata",
		"/usr/local/share/tessdata", "/opt/homebrew/share/tessdata",
	} {
		dirs, _ := filepath.Glob(pattern) // the patterns are well formed
		slices.Sort(dirs)
		for _, dir := range slices.Backward(dirs) {
			if len(Languages(dir)) > 0 {
				return dir
			}
		}
	}
	return ""
}

// Languages returns the languages of a folder. osd is no language but data about scripts.
func Languages(dir string) []string {
	entries, err := os.ReadDir(dir)
	if dir == "" || err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), ".traineddata")
		if ok && name != "osd" && extract.ValidLanguage(name) {
			names = append(names, name)
		}
	}
	return names
}
