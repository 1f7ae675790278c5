package prompt

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// maxManifest bounds the manifest of an import, in bytes.
const maxManifest = 64 << 20

// bundle is what a prompt needs to know of an imported document: the pages of the manifest beside its note. The package
// ingestion, which writes it, documents the whole file.
type bundle struct {
	Version int `json:"version"`
	Source  struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	} `json:"source"`
	Pages []bundlePage `json:"pages"`

	dir string
}

// bundlePage is one page. Paths are those of the manifest, relative to its folder.
type bundlePage struct {
	N     int    `json:"n"`
	Label string `json:"label"`
	Image *struct {
		Path string `json:"path"`
	} `json:"image"`
	Text *struct {
		Path   string `json:"path"`
		Source string `json:"source"`
	} `json:"text"`
	Status string `json:"status"`
	Error  string `json:"error"`
}

// bundle reads the manifest of a folder. Without one the error is fs.ErrNotExist.
func (b Builder) bundle(dir string) (*bundle, error) {
	name := path.Join(dir, "manifest.json")
	if !fs.ValidPath(name) {
		return nil, fs.ErrNotExist
	}
	data, size, err := b.readUpTo(name, maxManifest)
	if err != nil {
		return nil, err
	}
	if size > maxManifest {
		return nil, fmt.Errorf("the manifest is larger than %s", formatSize(maxManifest))
	}
	m := &bundle{dir: dir}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("the manifest cannot be read: %w", err)
	}
	if m.Version != 1 {
		return nil, fmt.Errorf("the manifest has version %d, this program knows 1", m.Version)
	}
	return m, nil
}

// page is the page with that number, nil when the import has none.
func (m *bundle) page(n int) *bundlePage {
	if n >= 1 && n <= len(m.Pages) && m.Pages[n-1].N == n {
		return &m.Pages[n-1]
	}
	for i := range m.Pages {
		if m.Pages[i].N == n {
			return &m.Pages[i]
		}
	}
	return nil
}

// last is the highest number of a page.
func (m *bundle) last() int {
	n := 0
	for _, p := range m.Pages {
		n = max(n, min(p.N, 1e6))
	}
	return n
}

// picture is the vault name of the page's picture, "" when it has none. Paths that leave the folder count as none.
func (m *bundle) picture(p *bundlePage) string {
	if p == nil || p.Image == nil {
		return ""
	}
	return m.inside(p.Image.Path)
}

// text is the vault name of the page's text, "" when it has none.
func (m *bundle) text(p *bundlePage) string {
	if p == nil || p.Text == nil {
		return ""
	}
	return m.inside(p.Text.Path)
}

func (m *bundle) inside(rel string) string {
	if rel == "" || rel == "." || !fs.ValidPath(rel) {
		return ""
	}
	return path.Join(m.dir, rel)
}

// textOf is the vault name of a page's text; "" when there is none, or no import.
func (m *bundle) textOf(n int) string {
	if m == nil {
		return ""
	}
	return m.text(m.page(n))
}

// importedPages lists pages of a document by the note of its import: of each page its text, and its picture for a model that
// sees.
func (c *collector) importedPages(s shown, m *bundle) error {
	pages, ok := c.chosen(s, m.last())
	if !ok {
		return c.refuse(s, policy.Missing, pageProblem(s, m.last()))
	}
	return c.framed(s, func() error {
		c.say("[shown: pages " + content.PageRange(pages) + " of " + strconv.Itoa(m.last()) + "]")
		for _, n := range pages {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			if err := c.importedPage(s, m, n); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *collector) importedPage(s shown, m *bundle, n int) error {
	p := m.page(n)
	one := &media{page: pageWords(n, m.last(), ""), parent: s.line}
	l := Line{Kind: KindPage, Source: Source{Note: s.name, Page: n}, Target: clipped(s.line.Target)}
	if p == nil || m.text(p) == "" && m.picture(p) == "" {
		why := "the import has nothing of it"
		if p != nil && p.Error != "" {
			why = quoted(p.Error)
		}
		l.Fate, l.Reason = policy.Missing, why
		c.warn(Warning{Note: s.name, Message: fmt.Sprintf("page %d not shown: %s", n, why)})
		c.add(item{role: roleWords, words: "[" + one.page + ", not shown: " + why + "]"}, l)
		return nil
	}
	one.page = pageWords(n, m.last(), p.Label)
	told := false
	if name := m.text(p); name != "" {
		text, err := c.textFile(name)
		l.Name = name
		switch {
		case err != nil:
			c.warn(Warning{Note: s.name, Target: name, Message: fmt.Sprintf("text of page %d not shown: %s", n, reason(err))})
		case strings.TrimSpace(text) != "":
			c.pageParts(text, one, l)
			told = true
		}
	}
	picture := m.picture(p)
	if picture == "" || told && !c.sees(s) {
		return nil
	}
	shown := *one
	l.Name = picture
	c.image(&shown, picture, policy.Candidate{Mode: mode(s.input), Page: fmt.Sprintf("%s#page=%d", s.name, n)}, l)
	return nil
}
