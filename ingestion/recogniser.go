package ingestion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/choose"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/ingestion/reading"
)

// recognition reads the text of pictures with the configured engines.
type recognition pageFiles

// Limits of a service's answer for one page.
const (
	maxReading         = 2 << 20  // bytes of text
	maxReadingPictures = 64       // pictures
	maxReadingBytes    = 64 << 20 // bytes of all pictures together
	maxReadingRecord   = 128 << 20
)

// Recogniser reads the text of a picture with a service. It repeats requests itself as often as makes sense; a retryable failure
// means that the service is not available now. Several goroutines use it.
type Recogniser interface {
	// Model names the reader: equal names read alike.
	Model() string
	Recognise(ctx context.Context, picture []byte, mediaType string) (Reading, error)
}

// Reading is what a service read. It is untrusted.
type Reading struct {
	Markdown string           `json:"markdown"`
	Pictures []imaging.Cutout `json:"pictures,omitempty"`
	CostUSD  float64          `json:"cost_usd,omitempty"` // 0 if no price is known
}

// answerRecord is a paid answer. It is durable before it is used.
type answerRecord struct {
	Page    int     `json:"page"` // that asked first
	Reading Reading `json:"reading"`
}

// byEngines asks one engine after the other until one answers. local asks the worker; picture returns the page's picture for
// services. The page records why an engine did not answer, and has an error if none did.
func (r recognition) byEngines(ctx context.Context, p *manifest.Page, local func(context.Context) (bool, error), picture func(context.Context) ([]byte, string, error)) error {
	var passing error
	for _, engine := range r.w.set.OCR.Order() {
		done, err := false, error(nil)
		if engine == config.EngineTesseract {
			done, err = local(ctx)
		} else {
			done, err = r.byService(ctx, p, engine, picture)
		}
		var later *laterError
		switch {
		case errors.As(err, &later):
			passing = later
		case err != nil || done:
			p.OCR.Error = ""
			return err
		}
	}
	if passing != nil {
		return &fault.Error{
			Code: failure.Provider, Message: passing.Error(), Remedy: "wait; the import resumes by itself with the missing pages",
			Transient: true, Exhausted: true,
		}
	}
	return nil
}

// laterError is a service that is not available now.
type laterError struct{ error }

// byService asks a service, unless it has read this picture before.
func (r recognition) byService(ctx context.Context, p *manifest.Page, engine string, picture func(context.Context) ([]byte, string, error)) (bool, error) {
	skip := func(format string, args ...any) {
		why := markdown.OneLine(fmt.Sprintf(format, args...), 200)
		p.OCR.Skipped = append(p.OCR.Skipped, engine+": "+why)
		p.OCR.Error = engine + ": " + why
	}
	if r.w.im.Recogniser == nil {
		skip("this service is not available here")
		return false, nil
	}
	service, err := r.w.im.Recogniser(engine, r.w.set.OCR)
	if err != nil {
		skip("%v", err)
		return false, nil
	}
	data, mediaType, err := picture(ctx)
	if bad := reading.PageErrorOf(err); bad != nil {
		skip("no picture of the page: %s", bad.Message)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	got, err := r.reading(ctx, p.N, engine, service, data, mediaType)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case reading.PageErrorOf(err) != nil:
		skip("%v", err)
		return false, nil
	case err != nil && failure.Of(err).Retryable:
		if known := (*fault.Error)(nil); errors.As(err, &known) {
			return false, err // the vault failed, not the service
		}
		skip("%v", err)
		return false, &laterError{fmt.Errorf("%s is not available now: %w", engine, err)}
	case err != nil:
		skip("%v", err)
		return false, nil
	}
	return true, r.read(ctx, p, engine+" "+markdown.OneLine(service.Model(), 60), got)
}

// reading returns a service's answer for a picture: the stored one, or a new one, which it stores at once.
func (r recognition) reading(ctx context.Context, n int, engine string, service Recogniser, picture []byte, mediaType string) (Reading, error) {
	name := "answer_" + digest([]byte(strings.Join([]string{digest(picture), engine, service.Model(), fmt.Sprint(r.w.set.OCR.KeepPictures)}, "\n")))[:32] + ".json"
	if data, err := fs.ReadFile(r.w.store.records.FS(), name); err == nil && len(data) <= maxReadingRecord {
		var kept answerRecord
		if json.Unmarshal(data, &kept) == nil && kept.Page > 0 {
			if kept.Page != n {
				kept.Reading.CostUSD = 0 // another page with the same picture has paid
			}
			return kept.Reading, nil
		}
	}
	got, err := service.Recognise(ctx, picture, mediaType)
	if err != nil {
		return Reading{}, err
	}
	if len(got.Markdown) > maxReading {
		return Reading{}, reading.Failed(failure.TooLarge, "the answer has %d MB of text", len(got.Markdown)>>20)
	}
	if !r.w.set.OCR.KeepPictures {
		got.Pictures = nil
	}
	got.Pictures = got.Pictures[:min(len(got.Pictures), maxReadingPictures)]
	total := 0
	for i, pic := range got.Pictures {
		if total += len(pic.Data); total > maxReadingBytes {
			got.Pictures = got.Pictures[:i]
			break
		}
	}
	// The money is spent, so the answer is kept even if the import is being cancelled.
	return got, save(context.WithoutCancel(ctx), r.w.store.records, name, answerRecord{n, got})
}

// imageReference is a picture in Markdown.
var imageReference = regexp.MustCompile(`!\[([^\]\n]*)\]\(([^()\s]*)\)`)

// read keeps what a service read: the pictures as assets, the text with its references rewritten.
func (r recognition) read(ctx context.Context, p *manifest.Page, engine string, got Reading) error {
	p.OCR.Engine, p.OCR.Service, p.OCR.CostUSD = engine, true, got.CostUSD
	marks, paths := map[string]string{}, map[int]string{}
	for i, pic := range got.Pictures {
		mediaType, data, ok := pageFiles(r).asset(ctx, func() ([]byte, error) { return pic.Data, nil })
		if !ok || len(pic.Data) > maxAsset {
			continue
		}
		name := fmt.Sprintf("assets/%s_%02d%s", pageName(p.N), i+1, pictureExtension(mediaType, data))
		if err := pageFiles(r).put(ctx, name, data); err != nil {
			return err
		}
		p.Assets = append(p.Assets, manifest.Asset{Path: name, MediaType: mediaType, Bytes: int64(len(data)), SHA256: digest(data)})
		marks[pic.ID], paths[i] = pictureMark(i, ""), name
	}
	text := strings.ReplaceAll(got.Markdown, markRune, "")
	text = imageReference.ReplaceAllStringFunc(text, func(reference string) string {
		return marks[imageReference.FindStringSubmatch(reference)[2]] // none for a picture that is not kept
	})
	text = strings.TrimSpace(placePictures(markdown.Sanitise(text), paths))
	p.OCR.Letters = lettersIn(text)
	if p.Text != nil && utf8.RuneCountInString(text) <= p.Text.Chars && !choose.BeatsLayer(p.OCR.Code) || text == "" {
		return nil // the text layer stays
	}
	p.Doubts, p.Edges = nil, nil // they are about the text layer
	return pageFiles(r).keepText(ctx, p, text, manifest.TextOCR)
}
