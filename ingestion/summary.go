package ingestion

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	out := Extracted{Pages: len(pages), Lacks: rec.Lacks, Damaged: rec.Damaged, Warnings: append(s.remarks(rec, pages), pageWarnings(pages)...)}
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
		if p.Lost {
			out.Lost = append(out.Lost, p.N)
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
		advice := "open the file in a viewer and save it under a new name, then drop it again"
		if len(out.Lost) == out.Pages {
			advice = "ask for the file again: this one lacks the content of its pages"
		}
		return Extracted{}, fault.Permanent(failure.Corrupt, advice,
			"none of its %d pages could be read; the first: %s", out.Pages, pages[0].Error)
	}
	out.Digest, err = recordDigest(rec, pages)
	return out, err
}

// remarks returns the warnings about the document as a whole.
func (s *store) remarks(rec documentRecord, pages []manifest.Page) []string {
	warnings := slices.Clone(rec.Warnings)
	if why := missing(rec, pages); why != "" {
		warnings = append(warnings, why)
	}
	if len(pages) < rec.Document.Pages {
		numbers := make([]int, len(pages))
		for i, p := range pages {
			numbers[i] = p.N
		}
		warnings = append(warnings, fmt.Sprintf("imported only %s of %d", content.PageList(numbers), rec.Document.Pages))
	}
	return warnings
}

// missing describes what the file lacks, or returns "". The renderers rebuild a file that is cut off from the pages that are there.
func missing(rec documentRecord, pages []manifest.Page) string {
	var whole, parts []int
	for _, p := range pages {
		switch {
		case p.Lost && p.Status == manifest.PageFailed:
			whole = append(whole, p.N)
		case p.Lost:
			parts = append(parts, p.N)
		}
	}
	var what []string
	if len(whole) > 0 {
		what = append(what, content.PageList(whole))
	}
	if len(parts) > 0 {
		what = append(what, "part of "+content.PageList(parts))
	}
	state, verb := "damaged", "are"
	if rec.CutOff {
		state = "cut off"
	}
	switch {
	case len(what) == 0 && rec.CutOff:
		return "the file has no mark of its end: it may be cut off, and pages may be missing; if so, ask for the file again"
	case len(what) == 0:
		return ""
	case len(what) == 1 && len(whole) < 2:
		verb = "is"
	}
	return fmt.Sprintf("the file is %s: %s %s missing; ask for the file again", state, strings.Join(what, " and "), verb)
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
		case p.Lost: // see missing
		case p.Status == manifest.PageFailed, p.Status == manifest.PagePartial && p.Image == nil && p.Text == nil:
			add(p, "", " could not be read: "+p.Error)
		case p.Status == manifest.PagePartial && p.Error != p.Lacks:
			add(p, "the text of ", " could not be recognised: "+p.Error)
		}
	}
	warnings := slices.Concat(skipped(pages), fontless(pages), hidden(pages))
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
			code := d.Code
			if code == doubt.Empty && p.Text != nil && p.Text.Chars > 0 {
				code = doubt.Hardly
			}
			if code != doubt.Vision && code != doubt.Lost && !slices.Contains(on[code], p.N) { // visionWarnings and missing have those
				on[code] = append(on[code], p.N)
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

// hidden warns about text that nobody can see: it may be there to mislead whoever reads the text alone.
func hidden(pages []manifest.Page) []string {
	const fewest = 10 // characters; fewer are specks
	var on []int
	for _, p := range pages {
		if p.Hidden >= fewest {
			on = append(on, p.N)
		}
	}
	if len(on) == 0 {
		return nil
	}
	return []string{"the file has text on " + content.PageList(on) + " that nobody can see there; it was left out"}
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
