// Package media loads what prompts show besides text: pictures, pages of documents, recordings. Nothing that came from outside
// is parsed in this process: a worker decodes it. Every picture that is sent to a service is loaded here, without its metadata.
package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
)

// maxMediaFile bounds what is read of one picture before it is made to fit: 512 MiB, the import limit.
const maxMediaFile = 512 << 20

// Blobs keeps large values by digest.
type Blobs interface {
	Put(ctx context.Context, data []byte) (digest string, err error)
	Get(ctx context.Context, digest string) ([]byte, error)
}

// Source is where the bytes of pictures, documents and recordings come from.
type Source struct {
	FS          fs.FS
	Blobs       Blobs      // of remote pictures; nil: there are none
	Worker      Worker     // nil: pictures that do not fit as they are are not sent
	Documents   *Documents // nil: no pages and no documents are sent
	ImportedDir string     // pictures below it are always decoded in the worker
	Cache       *Cache     // nil: every picture is made each time
	Digests     *Digests   // nil: every picture is read whole when its header is
}

// Loader loads pictures and documents within limits, at the moment a request is written.
func (m Source) Loader(l imaging.Limits) llm.Loader { return &loader{Source: m, limits: l} }

var _ llm.Loader = (*loader)(nil)

// Fit implements llm.Loader.
func (m *loader) Fit(l llm.PictureLimits) (llm.Loader, error) {
	fitted := *m
	fitted.limits.MaxSide = smaller(m.limits.MaxSide, l.MaxSide)
	fitted.limits.MaxPixels = smaller(m.limits.MaxPixels, l.MaxPixels)
	fitted.limits.MaxBytes = smaller(m.limits.MaxBytes, l.MaxBytes)
	fitted.limits.Reencode = m.limits.Reencode || l.Reencode
	return &fitted, nil
}

// loader reads one picture at a time: it checks the digest that the prompt was built with, turns the picture upright, scales
// and encodes it.
type loader struct {
	Source
	limits imaging.Limits
}

// Load implements llm.Loader.
func (m *loader) Load(ctx context.Context, medium content.Block) (data []byte, mediaType string, err error) {
	switch medium := medium.(type) {
	case content.Image:
		return m.picture(ctx, medium)
	case content.Document:
		return m.document(ctx, medium)
	case content.Audio:
		return m.recording(ctx, medium)
	case content.Video:
		return m.recording(ctx, content.Audio(medium))
	}
	return nil, "", fmt.Errorf("load a %s: %w", medium.Type(), errors.ErrUnsupported)
}

func (m *loader) picture(ctx context.Context, image content.Image) (data []byte, mediaType string, err error) {
	key := keyOf(image, m.limits, below(m.ImportedDir, image.Name))
	if data, mediaType, ok := m.Cache.get(key); ok {
		return data, mediaType, nil
	}
	var made imaging.Encoded
	switch image.Source {
	case "", content.SourceVault:
		made, err = m.file(ctx, image)
	case content.SourceBlob:
		made, err = m.blob(ctx, image)
	case content.SourcePage:
		made, err = m.page(ctx, image)
	default:
		err = fmt.Errorf("source %q is not available", image.Source)
	}
	if err == nil {
		made, err = m.bare(ctx, made)
	}
	if err != nil {
		return nil, "", fmt.Errorf("load %s: %w", image.Name, err)
	}
	if made.Changed { // what goes as it is takes no work the next time either
		m.Cache.put(key, made.Data, made.MediaType)
	}
	return made.Data, made.MediaType, nil
}

// file loads a picture of the vault. The worker decodes and re-encodes one from outside, and any that does not fit as it is.
func (m *loader) file(ctx context.Context, image content.Image) (imaging.Encoded, error) {
	data, err := readAll(m.FS, image.Name)
	if err != nil {
		return imaging.Encoded{}, err
	}
	if !hasDigest(data, image.SHA256) {
		m.Digests.forget(image.Name)
		return imaging.Encoded{}, ErrChanged
	}
	if below(m.ImportedDir, image.Name) {
		return m.converted(ctx, data)
	}
	return m.fitting(ctx, data)
}

// fitting keeps a picture that fits, and has the worker convert any other.
func (m *loader) fitting(ctx context.Context, data []byte) (imaging.Encoded, error) {
	made, err := imaging.AsIs(bytes.NewReader(data), int64(len(data)), m.limits)
	if errors.Is(err, imaging.ErrUnfit) {
		return m.converted(ctx, data)
	}
	return made, err
}

func (m *loader) converted(ctx context.Context, data []byte) (imaging.Encoded, error) {
	made, err := Convert(ctx, m.Worker, data, m.limits)
	made.Changed = true
	return made, err
}

// blob loads a remote picture. The worker decoded it when it was fetched.
func (m *loader) blob(ctx context.Context, image content.Image) (imaging.Encoded, error) {
	if m.Blobs == nil {
		return imaging.Encoded{}, errors.New("there is no place for fetched pictures")
	}
	data, err := m.Blobs.Get(ctx, image.SHA256)
	if err != nil {
		return imaging.Encoded{}, err
	}
	return m.fitting(ctx, data)
}

// page renders a page of a document, or a part of it.
func (m *loader) page(ctx context.Context, image content.Image) (made imaging.Encoded, err error) {
	if m.Documents == nil || m.Documents.worker == nil {
		return made, ErrNoWorker
	}
	err = m.Documents.sessions.with(ctx, image.Name, image.SHA256, func(s Session, _ extract.Document) error {
		r, err := m.pageRequest(ctx, s, image)
		if err != nil {
			return err
		}
		page, err := s.Page(ctx, r)
		if err == nil && page.Image == nil {
			err = errors.New("the worker returned no picture")
		}
		if err == nil {
			made = imaging.Encoded{Data: page.Image.Bytes, MediaType: page.Image.MediaType, Changed: true}
		}
		return err
	})
	return made, inWords(err)
}

// maxCropDPI is the resolution of a small part of a page: no scan has much more to show.
const maxCropDPI = 300

// pageRequest asks for a page at the size that the limits allow. A part of a page is drawn with up to twice the page's
// resolution, as long as it has no more pixels on either side than the whole page would have.
func (m *loader) pageRequest(ctx context.Context, s Session, image content.Image) (extract.PageRequest, error) {
	r := workerRequest(m.limits)
	r.N, r.DPI, r.MaxSide = image.Page, pageDPI, smaller(r.MaxSide, pageSide)
	if image.Rect == nil {
		return r, nil
	}
	r.Rect = image.Rect
	page, err := s.Page(ctx, extract.PageRequest{N: image.Page})
	if err != nil {
		return r, err
	}
	width, height := max(r.Rect.X1-r.Rect.X2, r.Rect.X2-r.Rect.X1, 1), max(r.Rect.Y1-r.Rect.Y2, r.Rect.Y2-r.Rect.Y1, 1)
	larger := max(1, min(page.WidthPt/width, page.HeightPt/height))
	r.DPI = min(maxCropDPI, pageResolution(page)*larger)
	return r, nil
}

// document loads a document, or only the pages of its page range.
func (m *loader) document(ctx context.Context, document content.Document) (data []byte, mediaType string, err error) {
	defer func() {
		if err != nil {
			data, mediaType, err = nil, "", fmt.Errorf("load %s: %w", document.Name, inWords(err))
		}
	}()
	if document.PageRange == "" {
		if data, err = readAll(m.FS, document.Name); err != nil {
			return nil, "", err
		}
		if !hasDigest(data, document.SHA256) {
			return nil, "", ErrChanged
		}
		return data, document.MediaType, nil
	}
	pages, err := document.PageNumbers()
	if err != nil {
		return nil, "", err
	}
	if m.Documents == nil || m.Documents.worker == nil {
		return nil, "", ErrNoWorker
	}
	err = m.Documents.sessions.with(ctx, document.Name, document.SHA256, func(s Session, _ extract.Document) error {
		cut, err := s.Cut(ctx, pages)
		data, mediaType = cut.Bytes, cut.MediaType
		return err
	})
	return data, mediaType, err
}

// hasDigest reports whether data has the digest. Without a known digest all data does.
func hasDigest(data []byte, digest string) bool { return digest == "" || digestOf(data) == digest }

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func readAll(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var data bytes.Buffer
	if info, err := f.Stat(); err == nil && info.Size() <= maxMediaFile {
		data.Grow(int(info.Size()) + bytes.MinRead) // room for the read that finds the end, or all of it would be copied
	}
	if _, err := data.ReadFrom(io.LimitReader(f, maxMediaFile+1)); err != nil {
		return nil, err
	}
	if data.Len() > maxMediaFile {
		return nil, fmt.Errorf("too large: more than %d MB", maxMediaFile>>20)
	}
	return data.Bytes(), nil
}

// below reports whether a file lies in a folder, in any spelling of its name.
func below(dir, name string) bool {
	dir = strings.Trim(dir, "/")
	return dir != "" && strings.HasPrefix(strings.ToLower(name), strings.ToLower(dir)+"/")
}

// Limits are what pictures are made to fit when they are sent.
func Limits(b policy.Bounds) imaging.Limits {
	l := imaging.Limits{MaxSide: b.MaxSide, MaxBytes: b.MaxImageBytes, MaxPixels: b.MaxPixels, MaxDecodePixels: b.MaxDecodePixels, Still: b.Still}
	for _, mediaType := range b.Accept {
		if !strings.Contains(mediaType, "/") {
			mediaType = "image/" + mediaType
		}
		l.Accept = append(l.Accept, mediaType)
	}
	return l
}
