package ingestion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/choose"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/ingestion/reading"
)

// vision has a model read pages again after all pages of a document were read, in their order, until the money is spent. The text of
// a page changes only if the answer has the words and numbers of the page.
type vision struct {
	w *work
	// picture returns the page's picture for the model.
	picture func(ctx context.Context, p *manifest.Page) ([]byte, string, error)
	// layer returns what renderers read on the page; nil if they read nothing of this kind of file.
	layer func(ctx context.Context, n int) (*extract.PageText, error)
}

// inPDF returns the vision of a PDF. It starts a worker when a page needs one.
func inPDF(w *work, open extract.Open) (v vision, closed func()) {
	s := w.reader(open)
	v = vision{w: w, picture: func(ctx context.Context, p *manifest.Page) ([]byte, string, error) {
		return (&pageMaker{w: w, s: s, page: *p}).photograph(ctx)
	}}
	v.layer = func(ctx context.Context, n int) (*extract.PageText, error) {
		got, err := s.Page(ctx, extract.PageRequest{N: n, Text: true, Letters: true})
		return got.Text, err
	}
	return v, s.Close
}

// pages has the model read those pages that the settings name and that have no answer yet.
func (v vision) pages(ctx context.Context, of int) error {
	set := v.w.set
	if set.OCR.Vision == "" || set.PDF.Mode == config.ModePageImages {
		return nil
	}
	pages, err := v.w.store.pages(of)
	if err != nil {
		return err
	}
	spent := 0.0
	for _, p := range pages {
		spent += cost(p)
	}
	why := ""
	for i := range pages {
		p := &pages[i]
		if !v.wants(*p) {
			continue
		}
		if why == "" && spent >= set.OCR.VisionUSD {
			why = fmt.Sprintf("the %g USD of ingestion.max_cost_usd_per_import are spent", set.OCR.VisionUSD)
		}
		if why == "" {
			before := cost(*p)
			if why, err = v.page(ctx, p); err != nil {
				return err
			}
			spent += cost(*p) - before
		}
		if why != "" {
			v.leave(p, manifest.VisionNotRead, why)
		}
		if err := v.w.store.record(ctx, *p); err != nil {
			return err
		}
	}
	return nil
}

// mostReason is how many characters of a reason are kept: a cause with what to do about it.
const mostReason = 300

// advised is the message of an error with what to do about it.
func advised(err error) string {
	if f := failure.Of(err); f != nil && f.Hint != "" {
		return err.Error() + "; " + f.Hint
	}
	return err.Error()
}

// cost returns what services took for a page.
func cost(p manifest.Page) (usd float64) {
	if p.OCR != nil {
		usd += p.OCR.CostUSD
	}
	if p.Vision != nil {
		usd += p.Vision.CostUSD
	}
	return usd
}

// wants reports whether the model is to read a page. It has no second opinion about a page that a service has read.
func (v vision) wants(p manifest.Page) bool {
	switch {
	case p.Status == manifest.PageFailed, p.Vision != nil && p.Vision.Outcome != manifest.VisionNotRead, p.OCR != nil && p.OCR.Service:
		return false
	case v.w.set.OCR.Vision == config.VisionAll:
		return p.Text != nil && p.Text.Source != manifest.TextNone || len(p.Doubts) > 0
	}
	return slices.ContainsFunc(p.Doubts, func(d doubt.Doubt) bool { return d.Code != doubt.Vision })
}

// leave keeps the text of a page, and records why the model's answer did not replace it.
func (v vision) leave(p *manifest.Page, outcome, why string) {
	if p.Vision == nil {
		p.Vision = &manifest.PageVision{}
	}
	p.Vision.Outcome, p.Vision.Reason = outcome, markdown.OneLine(why, mostReason)
	p.Doubts = slices.DeleteFunc(p.Doubts, func(d doubt.Doubt) bool { return d.Code == doubt.Vision }) // of an earlier attempt
	words := "the answer of a model was not used: "
	if outcome == manifest.VisionNotRead {
		words = "not read by a model: "
	}
	p.Doubts = doubt.Add(p.Doubts, doubt.Vision, words+why)
}

// page has the model read a page. why is not empty if it cannot read any page now.
func (v vision) page(ctx context.Context, p *manifest.Page) (why string, err error) {
	if v.w.im.Recogniser == nil {
		return "no model is available here", nil
	}
	service, err := v.w.im.Recogniser(config.EngineVision, v.w.set.OCR)
	if err != nil {
		return advised(err), nil //nolint:nilerr // the page keeps its text, and the record has the reason
	}
	seen, besides, err := v.seen(ctx, *p)
	if err != nil || lettersIn(seen.Kept) < fewLetters {
		return "", err // any answer would be refused: nothing confirms it
	}
	data, mediaType, err := v.picture(ctx, p)
	if bad := reading.PageErrorOf(err); bad != nil {
		v.leave(p, manifest.VisionNotRead, "no picture of the page: "+bad.Message)
		return "", nil
	}
	if err != nil {
		return "", err
	}
	got, err := recognition{w: v.w}.reading(ctx, p.N, config.EngineModel, service, data, mediaType)
	if err != nil {
		return v.unanswered(ctx, p, err)
	}
	p.Vision = &manifest.PageVision{Model: markdown.OneLine(service.Model(), 60), CostUSD: got.CostUSD}
	text := strings.TrimSpace(markdown.Sanitise(imageReference.ReplaceAllString(strings.ReplaceAll(got.Markdown, markRune, ""), "")))
	left, bad := seen.Check(text)
	if bad != nil {
		v.leave(p, manifest.VisionRefused, bad.Error())
		return "", nil
	}
	if besides != "" {
		text += "\n\n" + besides
	}
	p.Vision.Outcome = manifest.VisionUsed
	if seen.Recognised {
		p.Vision.Reason = "its words are like those that text recognition found"
	}
	p.Doubts = slices.DeleteFunc(p.Doubts, func(d doubt.Doubt) bool { return d.Code != doubt.Lost })
	for _, d := range left {
		p.Doubts = doubt.Add(p.Doubts, d.Code, d.Words)
	}
	return "", pageFiles{w: v.w}.keepText(ctx, p, text, manifest.TextVision)
}

// unanswered records why there is no answer for a page. why is not empty if there will be none for the others either: the money is
// spent, or the service is not available now.
func (v vision) unanswered(ctx context.Context, p *manifest.Page, err error) (why string, _ error) {
	known := (*fault.Error)(nil)
	switch f := failure.Of(err); {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &known): // the vault failed, not the service
		return "", err
	case f != nil && f.Code == failure.Budget:
		return "the budget allows no further page: " + advised(err), nil
	case f != nil && f.HTTP >= 401 && f.HTTP <= 404: // its key, its bill or its name is wrong
		return "the service refuses access: " + advised(err), nil
	case f != nil && f.Retryable:
		return "the model is not available now: " + advised(err), nil
	}
	v.leave(p, manifest.VisionRefused, err.Error())
	return "", nil
}

// sureConfidence is the confidence in percent from which a recognised number counts as certain.
const sureConfidence = 90

// seen returns what readers found on a page, and the form values and annotations, which stay below whatever text the page gets.
func (v vision) seen(ctx context.Context, p manifest.Page) (s doubt.Seen, besides string, err error) {
	if p.Text != nil && p.Text.Path != "" {
		text, err := fs.ReadFile(v.w.store.bundle.FS(), p.Text.Path)
		if err != nil {
			return s, "", fault.Storage("read "+p.Text.Path, err)
		}
		s.Kept = strings.TrimSpace(string(text))
		s.Recognised = p.Text.Source == manifest.TextOCR || p.OCR != nil && choose.WrittenByOCR(p.OCR.Code)
	}
	if v.layer != nil {
		layer, err := v.layer(ctx, p.N)
		if err != nil && reading.PageErrorOf(err) == nil {
			return s, "", err
		}
		if layer != nil {
			besides = markdown.Sanitise(layer.Besides)
			s.Others = append(layer.Letters, layer.Plain, besides)
			s.Kept = strings.TrimSpace(strings.TrimSuffix(s.Kept, besides))
		}
	}
	if p.OCR == nil || p.OCR.Path == "" {
		return s, besides, nil
	}
	data, err := fs.ReadFile(v.w.store.bundle.FS(), p.OCR.Path)
	if err != nil {
		return s, "", fault.Storage("read "+p.OCR.Path, err)
	}
	var found ocrFile
	if json.Unmarshal(data, &found) != nil {
		return s, besides, nil // nothing is certain
	}
	var all, sure []string
	for _, w := range found.Words {
		all = append(all, w.Text)
		if w.Confidence >= sureConfidence {
			sure = append(sure, w.Text)
		}
	}
	s.Others, s.Sure = append(s.Others, strings.Join(all, " ")), strings.Join(sure, " ")
	return s, besides, nil
}
