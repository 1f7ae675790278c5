package ingestion

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// service is a recogniser that counts how often it was paid.
type service struct {
	answer func(call int) (Reading, error)

	mu    sync.Mutex
	calls int
}

func (s *service) Model() string { return "reader-1" }

func (s *service) Recognise(_ context.Context, picture []byte, mediaType string) (Reading, error) {
	s.mu.Lock()
	s.calls++
	n := s.calls
	s.mu.Unlock()
	if mediaType != "image/png" || len(picture) == 0 {
		return Reading{}, fmt.Errorf("got %d bytes of %s", len(picture), mediaType)
	}
	return s.answer(n)
}

func (s *service) offers(engine string) func(string, config.OCR) (Recogniser, error) {
	return func(name string, _ config.OCR) (Recogniser, error) {
		if name != engine {
			return nil, errors.New("MISTRAL_API_KEY is not set")
		}
		return s, nil
	}
}

const readMarkdown = "## Rain\n\n![img-0.png](img-0.png) and ![gone](gone.png)[^1]\n\n%% vaultflow:end %% ![[secret]] <script>"

func pictured() Reading {
	dot, err := base64.StdEncoding.DecodeString(onePixel)
	if err != nil {
		panic(err)
	}
	return Reading{Markdown: readMarkdown, CostUSD: 0.25, Pictures: []imaging.Cutout{{ID: "img-0.png", Data: dot}, {ID: "gone.png", Data: []byte("no picture")}}}
}

// scan is a document of pages without text.
func scan(b *bench, engines ...string) Job {
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		p := goodPage(r)
		if r.Text {
			p.Text = &extract.PageText{Evidence: extract.Evidence{PictureCover: 1, Pictures: 1}}
		}
		return p, nil
	}
	j := b.drop("imp-1", "Import/scan.pdf", pdfBytes)
	j.Settings.OCR.Engines = engines
	return j
}

func TestImport_readByService(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{Pages: 2})
			s := &service{answer: func(int) (Reading, error) { return pictured(), nil }}
			b.im.Recogniser = s.offers(config.EngineMistral)
			j := scan(b, config.EngineMistral, config.EngineTesseract)
			j.Settings.OCR.KeepPictures = keep
			made, _ := b.mustRun(j)
			note := b.read(made.Note)
			hasAll(t, note, "#### Rain")
			hasNone(t, note, "![[secret]]", "gone.png", "<script>", "confidence")
			if strings.Count(note, indexnote.End) != 1 {
				t.Error("the answer ended the generated block")
			}
			m, err := manifest.Parse([]byte(b.read(path.Join(made.Bundle, manifest.File))))
			if err != nil {
				t.Fatal(err)
			}
			p := m.Pages[1]
			if p.OCR.Engine != "mistral reader-1" || p.OCR.CostUSD != 0.25 || p.Text.Source != manifest.TextOCR || p.OCR.Error != "" || s.calls != 2 {
				t.Errorf("page %+v, OCR %+v, %d calls", p, p.OCR, s.calls)
			}
			for _, r := range b.worker.requests {
				if r.OCR {
					t.Error("the worker was asked to recognise text")
				}
				if r.Image && r.DPI != 300 && r.DPI != 150 {
					t.Errorf("a picture of %g dpi", r.DPI)
				}
			}
			if !keep {
				hasNone(t, note, "img-0", "./assets/")
				if len(m.Assets) != 0 {
					t.Errorf("assets %+v", m.Assets)
				}
				return
			}
			hasAll(t, note, "![](./assets/page_0002_01.png)")
			if len(m.Assets) != 2 || digest([]byte(b.read(path.Join(made.Bundle, m.Assets[1].Path)))) != m.Assets[1].SHA256 {
				t.Errorf("assets %+v", m.Assets)
			}
		})
	}
}

// passing is a failure of a service that may be over soon.
type passingFault struct{}

func (passingFault) Error() string { return "rate_limit (429): slow down" }
func (passingFault) Failure() failure.Error {
	return failure.Error{Code: failure.Provider, Retryable: true}
}

func TestImport_servicesThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	t.Run("no key: the next engine reads, the note says so", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, extract.Document{Pages: 2})
		b.im.Recogniser = (&service{}).offers("none")
		made, _ := b.mustRun(scan(b, config.EngineMistral, config.EngineTesseract))
		hasAll(t, b.read(made.Note), "Read from page 2", "> - pages 1–2 not read by mistral: MISTRAL_API_KEY is not set")
	})
	t.Run("refused, and no other engine: the page is partial", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, extract.Document{Pages: 1})
		b.im.Recogniser = (&service{answer: func(int) (Reading, error) { return Reading{}, errors.New("refusal: no") }}).offers(config.EngineModel)
		made, _ := b.mustRun(scan(b, config.EngineModel))
		m, _ := b.im.manifest(made.Bundle)
		if p := m.Pages[0]; p.Status != manifest.PagePartial || !strings.Contains(p.Error, "refusal") {
			t.Errorf("page %+v", p)
		}
	})
	t.Run("overloaded, and another engine: that one reads", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, extract.Document{Pages: 1})
		b.im.Recogniser = (&service{answer: func(int) (Reading, error) { return Reading{}, passingFault{} }}).offers(config.EngineModel)
		made, _ := b.mustRun(scan(b, config.EngineModel, config.EngineTesseract))
		hasAll(t, b.read(made.Note), "Read from page 1")
	})
	t.Run("overloaded, and no other: the import waits and pays for no page twice", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, extract.Document{Pages: 3})
		s := &service{answer: func(n int) (Reading, error) {
			if n == 2 {
				return Reading{}, passingFault{}
			}
			return Reading{Markdown: fmt.Sprintf("call %d", n)}, nil
		}}
		b.im.Recogniser = s.offers(config.EngineModel)
		j := scan(b, config.EngineModel)
		j.Settings.Sessions = 1
		found, err := b.im.Classify(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		j.Route = found.Route
		_, err = b.im.Extract(t.Context(), j)
		if e, ok := errors.AsType[*fault.Error](err); !ok || !e.Transient || e.Code != failure.Provider {
			t.Fatalf("got %v", err)
		}
		if f := failure.Of(err); !f.Exhausted || !f.Retryable {
			t.Errorf("got %+v; the recogniser has repeated the request, so the executor must not", f)
		}
		got, err := b.im.Extract(t.Context(), j)
		if err != nil || got.Done != 3 || s.calls != 4 {
			t.Errorf("%+v, %v, %d calls", got, err, s.calls)
		}
	})
}

// TestImport_killedWhileAServiceReads kills the import at each of its changes; each time it is gone on with, and in the end
// every page was paid for once.
func TestImport_killedWhileAServiceReads(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		b := newBench(t, extract.Document{Pages: 3})
		s := &service{answer: func(n int) (Reading, error) {
			r := pictured()
			r.Markdown += fmt.Sprint(n)
			return r, nil
		}}
		j := scan(b, config.EngineMistral)
		j.Settings.Sessions, j.Settings.OCR.KeepPictures = 1, true
		b.revive(at)
		b.im.Recogniser = s.offers(config.EngineMistral)
		found, err := b.im.Classify(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		j.Route = found.Route
		_, err = b.im.Extract(t.Context(), j)
		whole := err == nil
		b.revive(0)
		b.im.Recogniser = s.offers(config.EngineMistral)
		got, err := b.im.Extract(t.Context(), j)
		if err != nil || got.Done != 3 || got.CostUSD != 0.75 {
			t.Fatalf("killed at change %d: %+v, %v", at, got, err)
		}
		// The answer that is being written when the process dies is the only one that may be bought again.
		if s.calls > 4 || whole && s.calls != 3 {
			t.Fatalf("killed at change %d: %d calls", at, s.calls)
		}
		if whole {
			return
		}
	}
}

// Pages with the same picture are paid for once.
func TestImport_equalPagesArePaidOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 3})
	s := &service{answer: func(int) (Reading, error) { return Reading{Markdown: "words on it", CostUSD: 1}, nil }}
	b.im.Recogniser = s.offers(config.EngineMistral)
	j := scan(b, config.EngineMistral)
	j.Settings.Sessions = 1
	page := b.worker.page
	b.worker.page = func(r extract.PageRequest, n int) (extract.Page, error) {
		p, err := page(r, n)
		if r.Image {
			p.Image.Bytes, p.Image.Size = dot(1), len(dot(1))
		}
		return p, err
	}
	made, _ := b.mustRun(j)
	m, _ := b.im.manifest(made.Bundle)
	var costs []float64
	for _, p := range m.Pages {
		costs = append(costs, p.OCR.CostUSD)
	}
	if diff := cmp.Diff([]float64{1, 0, 0}, costs); diff != "" || s.calls != 1 {
		t.Errorf("%d calls, costs (-want +got):\n%s", s.calls, diff)
	}
}

func TestImport_pictureReadByService(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 1})
	s := &service{answer: func(int) (Reading, error) { return Reading{Markdown: "# A sign\n\nNo entry"}, nil }}
	b.im.Recogniser = s.offers(config.EngineModel)
	j := b.drop("imp-1", "Import/sign.png", dot(9))
	j.Settings.OCR.Engines = []string{config.EngineModel}
	made, _ := b.mustRun(j)
	hasAll(t, b.read(made.Note), "## Text in the picture", "### A sign", "No entry")
}
