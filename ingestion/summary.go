package ingestion

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/fonts"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// summary reads the records back and sums them up.
func (s *store) summary() (Extracted, error) {
	rec, ok, err := s.document()
	if err != nil {
		return Extracted{}, err
	}
	if !ok {
		return Extracted{}, fmt.Errorf("extract %s: no record of the document", s.job.Source)
	}
	pages, err := s.pages(rec.Document.Pages)
	if err != nil {
		return Extracted{}, err
	}
	out := Extracted{Pages: len(pages), Warnings: append(s.remarks(rec, pages), pageWarnings(pages)...)}
	for _, p := range pages {
		switch {
		case p.Status == manifest.PageFailed:
			out.Failed = append(out.Failed, p.N)
		case p.Status == manifest.PagePartial:
			out.Partial = append(out.Partial, p.N)
		}
		if p.Vision != nil && p.Vision.Outcome == manifest.VisionNotRead {
			out.NotSeen = append(out.NotSeen, p.N)
		}
		if p.Lacks != "" {
			out.Lacking = append(out.Lacking, p.N)
		}
		if p.OCR != nil && p.OCR.Engine != "" {
			out.OCR++
		}
		out.CostUSD += cost(p)
	}
	out.Done = out.Pages - len(out.Failed)
	if out.Pages > 0 && out.Done == 0 {
		return Extracted{}, fault.Permanent(failure.Corrupt, "open the file in a viewer and save it under a new name, then drop it again",
			"none of its %d pages could be read; the first: %s", out.Pages, pages[0].Error)
	}
	out.Digest, err = recordDigest(rec, pages)
	return out, err
}

// remarks returns the warnings about the document as a whole.
func (s *store) remarks(rec documentRecord, pages []manifest.Page) []string {
	warnings := slices.Clone(rec.Warnings)
	if len(pages) < rec.Document.Pages {
		numbers := make([]int, len(pages))
		for i, p := range pages {
			numbers[i] = p.N
		}
		warnings = append(warnings, fmt.Sprintf("imported only %s of %d", content.PageList(numbers), rec.Document.Pages))
	}
	return warnings
}

// recordDigest returns the digest of what Publish will read.
func recordDigest(rec documentRecord, pages []manifest.Page) (string, error) {
	data, err := json.Marshal(struct {
		Document documentRecord
		Pages    []manifest.Page
	}{rec, pages})
	if err != nil {
		return "", fmt.Errorf("digest of the records: %w", err)
	}
	return digest(data), nil
}

// pageWarnings lists what pages lack, one sentence for each reason.
func pageWarnings(pages []manifest.Page) []string {
	type sentence struct{ before, after string }
	var order []sentence
	on := map[sentence][]int{}
	add := func(p manifest.Page, before, after string) {
		s := sentence{before, after}
		if on[s] == nil {
			order = append(order, s)
		}
		on[s] = append(on[s], p.N)
	}
	for _, p := range pages {
		if p.Lacks != "" {
			add(p, "", ": "+p.Lacks+"; vaultflow tries again by itself")
		}
		switch {
		case p.Status == manifest.PageFailed, p.Status == manifest.PagePartial && p.Image == nil && p.Text == nil:
			add(p, "", " could not be read: "+p.Error)
		case p.Status == manifest.PagePartial && p.Error != p.Lacks && !doubt.Has(p.Doubts, doubt.Lost):
			add(p, "the text of ", " could not be recognised: "+p.Error)
		}
	}
	warnings := append(skipped(pages), fontless(pages)...)
	for _, s := range order {
		warnings = append(warnings, s.before+content.PageList(on[s])+s.after)
	}
	return append(append(warnings, doubtful(pages)...), visionWarnings(pages)...)
}

// visionWarnings lists the pages that a model was to read and whose text is not the model's.
func visionWarnings(pages []manifest.Page) (warnings []string) {
	on := map[string][]int{}
	for _, p := range pages {
		if p.Vision != nil && p.Vision.Outcome != manifest.VisionUsed {
			words := " not read by a model: "
			if p.Vision.Outcome == manifest.VisionRefused {
				words = ": the answer of the model was not used: "
			}
			on[words+p.Vision.Reason] = append(on[words+p.Vision.Reason], p.N)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(on)) {
		warnings = append(warnings, content.PageList(on[why])+why)
	}
	return warnings
}

// doubtful warns about pages whose text is doubtful, once for each kind of doubt.
func doubtful(pages []manifest.Page) (warnings []string) {
	on := map[string][]int{}
	for _, p := range pages {
		for _, d := range p.Doubts {
			if d.Code != doubt.Vision && !slices.Contains(on[d.Code], p.N) { // visionWarnings has those
				on[d.Code] = append(on[d.Code], p.N)
			}
		}
	}
	for _, code := range slices.Sorted(maps.Keys(on)) {
		warnings = append(warnings, doubt.Summary(code, content.PageList(on[code])))
	}
	return warnings
}

// fontless warns about pictures that lack text because this system has no font for it.
func fontless(pages []manifest.Page) []string {
	var on []int
	for _, p := range pages {
		if p.LacksFont() {
			on = append(on, p.N)
		}
	}
	if len(on) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the pictures of %s lack Chinese, Japanese or Korean text: neither the file nor this system has fonts for it; install some "+
		"(Debian: %s) and import the file again", content.PageList(on), fonts.Package)}
}

// skipped lists the recognition engines that did not answer, with their pages.
func skipped(pages []manifest.Page) []string {
	on := map[string][]int{}
	for _, p := range pages {
		if p.OCR != nil {
			for _, s := range p.OCR.Skipped {
				on[s] = append(on[s], p.N)
			}
		}
	}
	var list []string
	for _, s := range slices.Sorted(maps.Keys(on)) {
		list = append(list, content.PageList(on[s])+" not read by "+s)
	}
	return list
}
