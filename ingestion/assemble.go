package ingestion

import (
	"slices"

	tags "golang.org/x/text/language"

	"github.com/vaultflow/vaultflow/ingestion/choose"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// manifest builds the manifest from the records.
func (pub publishing) manifest(p plan, rec documentRecord, pages []manifest.Page) manifest.Manifest {
	j := pub.w.job
	m := manifest.Manifest{
		Version: manifest.Version, Note: p.Note,
		Source: manifest.Source{
			Name: pub.sourceName(p), Path: j.Source, URL: pub.w.set.Asked.URL, Size: j.Size, ModTime: rec.ModTime, SHA256: j.SHA256,
			MediaType: j.Route.MediaType, Kind: j.Route.Kind, Evidence: j.Route.Evidence, Needed: p.Needed,
		},
		Import: manifest.Import{
			ID: j.ID, Started: j.started(rec), Finished: p.Finished, Strategies: pub.strategies(pages), Tools: rec.Tools, Settings: j.Hash(),
			Warnings: append(pub.w.store.remarks(rec, pages), pageWarnings(pages)...), Version: p.Version, Tags: pub.tags(), Lacks: rec.Lacks,
		},
		Document: rec.Document, Render: rec.Render, Pages: pages, Assets: append([]manifest.Asset{}, rec.Assets...), Children: append([]manifest.Child{}, rec.Children...), Members: rec.Members,
	}
	m.Document.Title, m.Document.Author = pub.title(m.Document.Title, pages), choose.Author(m.Document.Author)
	if m.Document.Language == "" {
		m.Document.Language = pub.recognisedIn(pages)
	}
	for _, page := range pages {
		m.Assets = append(m.Assets, page.Assets...)
	}
	if j.Route.Kind == filetype.KindPDF {
		m.Import.Mode = pub.w.set.PDF.Mode
	}
	if set, err := choose.ParsePages(pub.w.set.Asked.Pages); err == nil && len(pages) < rec.Document.Pages {
		m.Import.Part = set.String()
	}
	if m.Import.Warnings == nil {
		m.Import.Warnings = []string{}
	}
	if m.Note != "" { // older bundles keep their layout too
		m.Chapters = indexnote.Chapters(m, rec.Document.Outline, pub.w.set.InlinePages)
	}
	if before, ok := pub.w.im.manifest(p.before(pub.w.im)); ok {
		m.Import.History = append(before.Import.History, manifest.History{
			Event: "version", Import: before.Import.ID, Bundle: p.published().Previous, SHA256: before.Source.SHA256, At: p.Finished,
		})
	}
	return m
}

// sourceName returns the original's name. A plan of an older program may have another one for it.
func (pub publishing) sourceName(p plan) string {
	if p.Kept != "" {
		return p.Kept
	}
	if (pub.w.set.KeepOriginal == config.KeepInBundle || p.Needed) && p.Original != "" {
		return p.Original
	}
	return pub.w.places.original()
}

// recognisedIn returns the language of scans without one: the only language that they were read in, if that worked. A short text
// does not prove what the worker found out.
func (pub publishing) recognisedIn(pages []manifest.Page) string {
	var language string
	chars := 0
	for _, p := range pages {
		switch {
		case p.Text == nil || p.Text.Source == manifest.TextNone:
		case p.Text.Source != manifest.TextOCR || p.LowConfidence(pub.w.set.OCR.MinConfidence) || len(p.OCR.Languages) != 1:
			return ""
		case language != "" && p.OCR.Languages[0] != language:
			return ""
		default:
			language, chars = p.OCR.Languages[0], chars+p.Text.Chars
		}
	}
	if slices.Equal(pub.w.set.OCR.Languages, []string{config.DefaultLanguage}) && chars < provenBy {
		return ""
	}
	base, err := tags.ParseBase(language)
	if err != nil {
		return "" // Tesseract has its own names for some languages
	}
	return base.String()
}

// provenBy is how many characters show the language of a text.
const provenBy = 200

// tags returns the note's tags.
func (pub publishing) tags() []string {
	return append([]string{"imported/" + string(pub.w.job.Route.Kind)}, pub.w.set.Tags...)
}

// strategies lists what was tried and what came of it.
func (pub publishing) strategies(pages []manifest.Page) []manifest.Strategy {
	switch pub.w.job.Route.Kind {
	case filetype.KindPDF:
		return pub.outcomes(pub.w.set.PDF.Strategies, pages)
	case filetype.KindImage:
		return pub.outcomes(pub.w.set.Image.Strategies, pages)
	}
	return []manifest.Strategy{}
}

func (pub publishing) outcomes(names []string, pages []manifest.Page) []manifest.Strategy {
	list := []manifest.Strategy{}
	for _, name := range names {
		s := manifest.Strategy{Name: name, Outcome: "not_needed"}
		for _, p := range pages {
			count(&s, p)
		}
		if s.Pages > 0 {
			s.Outcome = "used"
		}
		list = append(list, s)
	}
	return list
}

// count adds a page to a strategy's result.
func count(s *manifest.Strategy, p manifest.Page) {
	var used bool
	switch s.Name {
	case config.StrategyPDFText:
		used = p.Text != nil && (p.Text.Source == manifest.TextLayer || p.Text.Source == manifest.TextForm || p.Text.Source == manifest.TextVision && (p.OCR == nil || !p.OCR.Decided))
		s.Outcome = "nothing_found"
	case config.StrategyPDFOCR, config.StrategyImageOCR:
		used = p.Text != nil && (p.Text.Source == manifest.TextOCR || p.Text.Source == manifest.TextVision && p.OCR != nil && p.OCR.Decided)
		switch {
		case p.OCR == nil:
		case p.OCR.Error != "":
			s.Outcome, s.Reason = "failed", p.OCR.Error
		case p.OCR.Decided && s.Outcome != "failed":
			s.Outcome = "nothing_found"
		}
	case config.StrategyImageCopy:
		used = p.Image != nil
	}
	if used {
		s.Pages++
	}
}
