package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/vaultflow/vaultflow/engine"
)

// shownPages is how many page pictures an import's page shows.
const shownPages = 2000

// importPages show imports.
type importPages struct{ site *site }

// importRow is an import in a list.
type importRow struct {
	ID, Source, URL string
	Pill            pill
	Reason          string
	Bundle, Note    string
	Page, Pages     int
	Working         bool
	Error, Hint     string
	Size, Kind      string
	At              stamp
	Took            string
	Picture         *picture
}

func importURL(id string) string {
	parts := strings.Split(id, "/") // the id of an arriving file holds its name
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return "/imports/" + strings.Join(parts, "/")
}

func (s importPages) importRow(r engine.ImportRecord) importRow {
	row := importRow{
		ID: r.ID, Source: r.Source, URL: importURL(r.ID), Pill: statePill(r.State), Reason: r.Why(s.site.cfg.Zone), Bundle: r.Bundle, Note: r.Note,
		Page: r.Page, Pages: r.Pages, Working: r.State == engine.ImportWorking, Error: r.Error, Hint: r.Hint,
		Size: size(r.Size), Kind: strings.ReplaceAll(r.Kind, "_", " "), At: when(r.Created, s.site.cfg.Now(), s.site.cfg.Zone),
	}
	if r.State == engine.ImportWaiting {
		row.Error = "" // the reason says when it is tried again
	}
	if !r.Started.IsZero() && !r.Finished.IsZero() {
		row.Took = span(r.Finished.Sub(r.Started))
	}
	if r.State.Finished() {
		if list, _ := s.site.bundles.pictures(r.Bundle, 1); len(list) > 0 && list[0].URL != "" {
			row.Picture = &list[0]
		}
	}
	return row
}

func (s importPages) importParts(ctx context.Context) ([]part, error) {
	list, err := s.site.cfg.Imports.Imports(ctx, shownImports)
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, r := range list {
		p, err := s.site.pages.part("imports", r.ID, "card with-thumb", "import", s.importRow(r))
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// imported is the page of one import.
func (s importPages) imported(r *http.Request) (view, error) {
	record, err := s.site.cfg.Imports.Import(r.Context(), r.PathValue("id"))
	if err != nil {
		return view{}, err
	}
	return s.importView(record), nil
}

func (s importPages) importView(record engine.ImportRecord) view {
	return view{
		page: "import", title: base(record.Source), live: "view=import&id=" + url.QueryEscape(record.ID),
		load: func(ctx context.Context, _ map[string]bool) ([]group, error) { return s.loadImport(ctx, record.ID) },
	}
}

// importHead is the top of an import's page.
type importHead struct {
	importRow
	FailedPages []int
	Warnings    []string
	MediaType   string
	Filed       string
	DuplicateOf string
	SHA256      string
	CanCancel   bool
	CanRetry    bool
	Shown       int
	Total       int
}

func (s importPages) loadImport(ctx context.Context, id string) ([]group, error) {
	r, err := s.site.cfg.Imports.Import(ctx, id)
	if err != nil {
		return nil, err
	}
	list, total := s.site.bundles.pictures(r.Bundle, shownPages)
	head, err := s.site.pages.part("head", r.ID, "", "import-head", s.importHead(r, len(list), total))
	if err != nil {
		return nil, err
	}
	groups := []group{{"head", []part{head}}, {Name: "pages"}, {Name: "events"}}
	for i, one := range list {
		p, err := s.site.pages.part("pages", fmt.Sprint(i), "sheet", "page", one)
		if err != nil {
			return nil, err
		}
		groups[1].Parts = append(groups[1].Parts, p)
	}
	groups[2].Parts, err = runPages(s).eventParts(ctx, id)
	return groups, err
}

func (s importPages) importHead(r engine.ImportRecord, shown, total int) importHead {
	h := importHead{
		importRow: s.importRow(r), FailedPages: r.FailedPages, Warnings: r.Warnings, MediaType: r.MediaType, Filed: r.Filed, SHA256: r.SHA256,
		CanCancel: s.site.cfg.Control != nil && !r.State.Finished() && !strings.HasPrefix(r.ID, "arrival:"),
		CanRetry:  s.site.cfg.Control != nil && (r.State == engine.ImportFailed || r.State == engine.ImportWaiting || r.State == engine.ImportCancelled || len(r.NotSeen) > 0),
		Shown:     shown, Total: total,
	}
	if r.DuplicateOf != "" {
		h.DuplicateOf = importURL(r.DuplicateOf)
	}
	return h
}
