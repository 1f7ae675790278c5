package vault_test

import (
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/vaulttest"
)

// listed counts how often the vault is listed.
type listed struct {
	vault.Lister
	times int
}

func (l *listed) List(match func(name string) bool) ([]vault.File, []string, error) {
	l.times++
	return l.Lister.List(match)
}

func TestWritten(t *testing.T) {
	fsys := bundles()
	for name, text := range map[string]string{
		"People/Ada.md": "---\r\naliases: [The Countess, Ada L.]\r\n---\r\n", "People/Grace.md": "---\nalias: Admiral, Amazing Grace\n---\n",
		"People/Alan.md": "---\naliases:\n  - Twin\n---\n", "People/Kurt.md": "---\naliases: twin\n---\n", "Twin peaks.md": "aliases: x\n", "Broken.md": "---\naliases: [\n---\n",
	} {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	v := vaulttest.New(fsys)
	plain := vault.LinksFunc(func(link, from string) vault.Location { // by whole path or base, as far as the test needs it
		for name := range fsys {
			if name == link || name == link+".md" || name == path.Join(path.Dir(from), link) || !strings.Contains(link, "/") && path.Base(name) == link+".md" {
				return vault.Location{Name: name, Found: true}
			}
		}
		return vault.Location{}
	})
	version, files := int64(0), &listed{Lister: v}
	links := vault.NewWritten(plain, files, func() int64 { return version }, v.FS())
	for link, want := range map[string]string{
		"Workbook": "Imported/Workbook/Workbook.md", "Imported/Workbook/index": "Imported/Workbook/Workbook.md", "Imported/Workbook/index.md": "Imported/Workbook/Workbook.md",
		"Imported/Old/index": "Imported/Old/index.md", "Imported/Workbook/text/page_0001": "Imported/Workbook/text/page_0001.txt", "../Workbook/index": "Imported/Workbook/Workbook.md",
		"Imported/Lost/index": "", "index/nothing": "", "Site/index": "",
		"the countess": "People/Ada.md", "Amazing Grace": "People/Grace.md", "Ada": "People/Ada.md", "nobody": "", "": "",
	} {
		if got := links.Locate(link, "Imported/X/a.md"); got.Name != want || got.Found != (want != "") {
			t.Errorf("[[%s]] leads to %+v, want %q", link, got, want)
		}
	}
	if got := links.Locate("Twin", ""); got.Found || !slices.Equal(got.Near, []string{"People/Alan.md", "People/Kurt.md"}) {
		t.Errorf("an alias of two notes leads to %+v", got)
	}
	if files.times != 1 {
		t.Errorf("the unchanged vault was listed %d times", files.times)
	}
	version++
	v.Put("People/Kurt.md", "---\naliases: Incomplete\n---\n")
	if got := links.Locate("Twin", ""); got.Name != "People/Alan.md" {
		t.Errorf("after an edit the alias leads to %+v", got)
	}
}
