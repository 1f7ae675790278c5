package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"
	"sync"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/prompt"
)

// Pages are rendered at pageDPI, or so that their longest side has pageSide pixels when that is less.
const (
	pageDPI  = 150
	pageSide = 2000
)

// maxManifest bounds what is read of an import's manifest, in bytes.
const maxManifest = 64 << 20

// Documents reads PDF and office files for prompts. A worker reads a PDF, unless its import is in the vault; an office file is
// read here, as Markdown without its layout. Results are remembered by content, so that a preview and a run open a file once
// each. It is safe for concurrent use.
type Documents struct {
	fs       fs.FS
	worker   Worker // nil: PDF cannot be read
	imported string // folder of the bundles
	sessions *sessions
	digests  *Digests

	mu    sync.Mutex
	known map[string]prompt.Document // by name and digest; guarded by mu
	texts map[pageOf]string          // guarded by mu
}

type pageOf struct {
	name, sha256 string
	page         int
}

// maxKnown bounds each of the memories: beyond it, all of it is forgotten.
const maxKnown = 4096

// NewDocuments reads the files of a vault. importedDir is the folder of the bundles that imports became. Without a worker
// only office files and imported originals can be read.
func NewDocuments(fsys fs.FS, worker Worker, importedDir string) *Documents {
	return &Documents{
		fs: fsys, worker: worker, imported: strings.Trim(importedDir, "/"), sessions: newSessions(worker),
		digests: NewDigests(""), known: map[string]prompt.Document{}, texts: map[pageOf]string{},
	}
}

var _ prompt.Documents = (*Documents)(nil)

// Close ends the idle workers.
func (d *Documents) Close() { d.sessions.close() }

// Describe implements prompt.Documents.
func (d *Documents) Describe(ctx context.Context, name string) (prompt.Document, error) {
	digest, size, err := d.digest(name)
	if err != nil {
		return prompt.Document{}, err
	}
	key := name + "\x00" + digest
	d.mu.Lock()
	known, ok := d.known[key]
	d.mu.Unlock()
	if ok {
		return known, nil
	}
	out, err := d.read(ctx, name, digest, size)
	if err != nil {
		return prompt.Document{}, inWords(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.known) >= maxKnown {
		clear(d.known)
	}
	d.known[key] = out
	return out, nil
}

// digest hashes a file, unless size and time are those of the last look.
func (d *Documents) digest(name string) (digest string, size int64, err error) {
	f, err := d.fs.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", 0, err
	}
	if info.Size() > maxMediaFile {
		return "", 0, errTooLarge
	}
	digest, err = d.digests.of(name, info, f)
	return digest, info.Size(), err
}

func (d *Documents) read(ctx context.Context, name, digest string, size int64) (prompt.Document, error) {
	head, err := d.head(name)
	if err != nil {
		return prompt.Document{}, err
	}
	if !bytes.Contains(head, []byte("%PDF-")) {
		return d.office(name, digest, size)
	}
	out := prompt.Document{MediaType: "application/pdf", Size: size, SHA256: digest}
	if bundle, manifest, ok := d.bundle(name, digest); ok {
		out.Imported = bundle
		if out.Pages = pagesOf(bundle, manifest); out.Pages != nil {
			return out, nil
		}
	}
	if d.worker == nil {
		return out, ErrNoWorker
	}
	err = d.sessions.with(ctx, name, digest, func(s Session, doc extract.Document) error {
		for n := 1; n <= doc.Pages; n++ {
			page, err := s.Page(ctx, extract.PageRequest{N: n})
			if err != nil {
				return err
			}
			out.Pages = append(out.Pages, sized(page))
		}
		return nil
	})
	return out, err
}

// head is the beginning of a file, which marks a PDF as one.
func (d *Documents) head(name string) ([]byte, error) {
	f, err := d.fs.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 1024))
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	return head, nil
}

// sized is a page with its size in pixels.
func sized(p extract.Page) prompt.DocumentPage {
	dpi := pageResolution(p)
	pixels := func(pt float64) int { return max(1, int(math.Round(pt*dpi/72))) }
	return prompt.DocumentPage{Width: pixels(p.WidthPt), Height: pixels(p.HeightPt), Label: p.Label}
}

// pageResolution is the dpi at which a page is rendered.
func pageResolution(p extract.Page) float64 {
	return min(pageDPI, pageSide*72/max(p.WidthPt, p.HeightPt, 1))
}

// bundle finds the import of a file: the bundle that it lies in, or the one that has its name, when the manifest confirms that
// these very bytes were imported.
func (d *Documents) bundle(name, digest string) (dir string, m manifest.Manifest, ok bool) {
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	for _, dir := range []string{path.Dir(name), path.Join(d.imported, stem), path.Join(d.imported, path.Dir(name), stem)} {
		if !fs.ValidPath(dir) || d.imported == "" || !strings.HasPrefix(dir, d.imported+"/") {
			continue
		}
		f, err := d.fs.Open(path.Join(dir, "manifest.json"))
		if err != nil {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(f, maxManifest))
		_ = f.Close() // opened for reading
		if err != nil {
			continue
		}
		if m, err = manifest.Parse(data); err == nil && m.Source.SHA256 == digest {
			return dir, m, true
		}
	}
	return "", m, false
}

// pagesOf are the pages of an import, or nil unless there is a picture of each.
func pagesOf(dir string, m manifest.Manifest) []prompt.DocumentPage {
	var pages []prompt.DocumentPage
	for i, p := range m.Pages {
		if p.N != i+1 || p.Image == nil || !fs.ValidPath(p.Image.Path) {
			return nil
		}
		pages = append(pages, prompt.DocumentPage{
			Width: p.Image.Width, Height: p.Image.Height, Label: p.Label, Picture: path.Join(dir, p.Image.Path),
		})
	}
	return pages
}

// PageText implements prompt.Documents. A scan has no text of its own: importing the file has it recognised.
func (d *Documents) PageText(ctx context.Context, name string, page int) (string, error) {
	digest, _, err := d.digest(name)
	if err != nil {
		return "", err
	}
	key := pageOf{name, digest, page}
	d.mu.Lock()
	text, ok := d.texts[key]
	d.mu.Unlock()
	if ok {
		return text, nil
	}
	if d.worker == nil {
		return "", ErrNoWorker
	}
	err = d.sessions.with(ctx, name, digest, func(s Session, _ extract.Document) error {
		got, err := s.Page(ctx, extract.PageRequest{N: page, Text: true})
		if err == nil && got.Text == nil {
			err = errors.New("the worker returned no text")
		}
		if err == nil {
			text = got.Text.Markdown
		}
		return err
	})
	if err != nil {
		return "", inWords(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.texts) >= maxKnown {
		clear(d.texts)
	}
	d.texts[key] = text
	return text, nil
}
