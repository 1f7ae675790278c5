package media

import (
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/vault"
)

// PageText returns a function that finds the recognised text of an imported page's picture: `…/pages/page_0003.png` has its
// text in `…/text/page_0003.txt`. The text is empty when the picture is no such page. Files above limit bytes are not read.
func PageText(files vault.Reader, limit int64) func(name string) string {
	return func(name string) string {
		dir, file := path.Split(name)
		dir = path.Clean(dir)
		if path.Base(dir) != "pages" {
			return ""
		}
		text := path.Join(path.Dir(dir), vault.TextDir, strings.TrimSuffix(file, path.Ext(file)))
		for _, ext := range []string{".txt", ".md"} { // .md in bundles of older versions
			if data, _, err := files.Read(text+ext, limit); err == nil {
				return strings.TrimSpace(string(data))
			}
		}
		return ""
	}
}
