package web

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"
	"time"
)

// maxManifest is the largest manifest that is read, in bytes; a page takes about 500.
const maxManifest = 16 << 20

// manifest is what the dashboard reads of a bundle's manifest.json.
type manifest struct {
	Document struct {
		Title string `json:"title"`
	} `json:"document"`
	Pages []manifestPage `json:"pages"`
}

type manifestPage struct {
	N     int    `json:"n"`
	Label string `json:"label"`
	Image *struct {
		Path   string `json:"path"`
		Width  int    `json:"width"`
		Height int    `json:"height"`
	} `json:"image"`
	Text *struct {
		Chars  int    `json:"chars"`
		Source string `json:"source"`
	} `json:"text"`
	OCR *struct {
		Confidence float64 `json:"confidence"`
	} `json:"ocr"`
	Doubts []struct {
		Words string `json:"words"`
	} `json:"doubts"`
	Status string `json:"status"`
	Error  string `json:"error"`
}

// bundles reads manifests and remembers those that have not changed.
type bundles struct {
	fsys fs.FS

	mu   sync.Mutex
	read map[string]remembered
}

type remembered struct {
	modified time.Time
	size     int64
	manifest manifest
}

// maxRemembered bounds the manifests in memory; above, all are forgotten.
const maxRemembered = 100

// manifest returns the manifest of a bundle.
func (b *bundles) manifest(bundle string) (manifest, error) {
	name := path.Join(bundle, "manifest.json")
	if !showable(name) {
		return manifest{}, fmt.Errorf("read manifest %q: %w", name, fs.ErrInvalid)
	}
	f, err := b.fsys.Open(name)
	if err != nil {
		return manifest{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return manifest{}, err
	}
	b.mu.Lock()
	known, ok := b.read[name]
	b.mu.Unlock()
	if ok && known.modified.Equal(info.ModTime()) && known.size == info.Size() {
		return known.manifest, nil
	}
	var m manifest
	if err := json.NewDecoder(io.LimitReader(f, maxManifest)).Decode(&m); err != nil {
		return manifest{}, fmt.Errorf("read manifest %q: %w", name, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.read == nil || len(b.read) >= maxRemembered {
		b.read = map[string]remembered{}
	}
	b.read[name] = remembered{info.ModTime(), info.Size(), m}
	return m, nil
}

// picture is a page as the dashboard shows it.
type picture struct {
	URL           string
	Width, Height int
	Label         string // "Page 3"
	Note          string // "OCR, 87 %"
	Error         string
}

// pictures returns at most limit pages of a bundle, and how many there are.
func (b *bundles) pictures(bundle string, limit int) (list []picture, total int) {
	if bundle == "" {
		return nil, 0
	}
	m, err := b.manifest(bundle)
	if err != nil {
		return nil, 0 // a bundle that was moved or changed by its owner: shown without pictures
	}
	for _, p := range m.Pages[:min(limit, len(m.Pages))] {
		one := picture{Label: fmt.Sprintf("Page %d", p.N), Error: p.Error}
		if p.Label != "" && p.Label != fmt.Sprint(p.N) {
			one.Label += " (" + p.Label + ")"
		}
		if p.Image != nil && fs.ValidPath(p.Image.Path) {
			one.URL, one.Width, one.Height = mediaURL(path.Join(bundle, p.Image.Path)), max(p.Image.Width, 0), max(p.Image.Height, 0)
		}
		one.Note = pageNote(p)
		for _, d := range p.Doubts {
			one.Note += "; " + d.Words
		}
		list = append(list, one)
	}
	return list, len(m.Pages)
}

func pageNote(p manifestPage) string {
	switch {
	case p.Error != "" || p.Text == nil:
		return ""
	case p.Text.Source == "ocr" && p.OCR != nil:
		return fmt.Sprintf("OCR, %.0f %% sure", p.OCR.Confidence)
	case p.Text.Source == "vision":
		return "read by a model"
	case p.Text.Chars == 0:
		return "no text"
	}
	return fmt.Sprintf("text, %s characters", number(p.Text.Chars))
}
