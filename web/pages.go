package web

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strings"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/web/session"
)

//go:embed templates
var templates embed.FS

// pages holds the parsed templates: one set for each page, and the parts.
type pages struct {
	sets  map[string]*template.Template
	parts *template.Template
}

var pageNames = []string{"today", "run", "import", "login", "error", "approvals", "approval", "changes", "trust", "account", "vaults"}

// newPages parses the templates. root is the path below which the dashboard is.
func newPages(root string) (*pages, error) {
	functions := template.FuncMap{"base": base, "folder": folder, "number": number, "visible": visible.Name, "root": func() string { return root }}
	parts, err := template.New("parts").Funcs(functions).Option("missingkey=error").ParseFS(templates, "templates/parts_*.html")
	if err != nil {
		return nil, fmt.Errorf("parse the dashboard's templates: %w", err)
	}
	p := &pages{sets: map[string]*template.Template{}, parts: parts}
	for _, name := range pageNames {
		set, err := parts.Clone()
		if err == nil {
			set, err = set.ParseFS(templates, "templates/layout.html", "templates/"+name+".html")
		}
		if err != nil {
			return nil, fmt.Errorf("parse the dashboard's templates: %w", err)
		}
		p.sets[name] = set
	}
	return p, nil
}

// layout is what every page has.
type layout struct {
	Title   string
	Vault   string
	Front   string // path of the page that lists all vaults, or ""
	Version string
	Asks    bool // there may be something to approve
	Trusts  bool // there is a page of trust

	SignedIn bool
	User     string // name of who is signed in; empty for the owner
	SignOut  bool   // there is a session that can end
	Manages  bool   // sessions and tokens
	Source   string // address of this version's source

	Live string // query of the live stream; empty without one
	Body any
}

// view is a page whose parts change.
type view struct {
	page  string // template
	title string
	live  string // query for /live
	load  loader
}

// loader returns the groups of a page: those that are named, or all when none is.
type loader func(ctx context.Context, only map[string]bool) ([]group, error)

// page answers with a view: the same parts that the live stream sends later.
func (s *site) page(find func(r *http.Request) (view, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := find(r)
		if err != nil {
			s.failWith(w, r, err)
			return
		}
		groups, err := v.load(r.Context(), nil)
		if err != nil {
			s.failWith(w, r, err)
			return
		}
		body := map[string]any{"Upload": s.cfg.Dropper != nil}
		for _, g := range groups {
			body[g.Name] = g.HTML()
		}
		s.renderLive(w, r, http.StatusOK, v.page, layout{Title: v.title, Live: v.live, Body: body})
	}
}

func (s *site) render(w http.ResponseWriter, r *http.Request, status int, page, title string, body any) {
	s.renderLive(w, r, status, page, layout{Title: title, Body: body})
}

func (s *site) renderLive(w http.ResponseWriter, r *http.Request, status int, page string, l layout) {
	id := session.From(r.Context())
	l.Source, l.Manages = s.cfg.Source, id.Scopes.Has(session.Trust)
	l.Version, l.SignedIn, l.User, l.SignOut = s.cfg.Version, len(id.Scopes) > 0, id.Name, id.Session != ""
	if l.SignedIn { // a stranger learns nothing, not even the vault's name
		l.Vault, l.Asks, l.Trusts = s.cfg.Vault, s.cfg.Approvals != nil, s.cfg.Trust != nil
	}
	if s.cfg.Front != nil {
		l.Front = "/"
	}
	var b bytes.Buffer
	if err := s.pages.sets[page].ExecuteTemplate(&b, "layout", l); err != nil {
		s.cfg.Logger.Error("page not rendered", "path", r.URL.Path, "err", err)
		http.Error(w, "the page cannot be shown; see the log", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a browser that is gone needs no page
}

type errorView struct{ Message, Hint string }

// fail answers with an error: a page for browsers, JSON for programs.
func (s *site) fail(w http.ResponseWriter, r *http.Request, status int, message, hint string) {
	if !strings.HasPrefix(r.URL.Path, "/api/") && strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.render(w, r, status, "error", http.StatusText(status), errorView{message, hint})
		return
	}
	writeJSON(w, status, map[string]string{"type": "error", "message": message, "hint": hint})
}

// failWith answers with an error. Only failures that are meant for the user are shown; others may contain paths of this
// machine, and go to the log.
func (s *site) failWith(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, engine.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		s.notFound(w, r)
		return
	}
	if r.Context().Err() != nil {
		return
	}
	if f, ok := errors.AsType[*failure.Error](err); ok {
		s.fail(w, r, http.StatusConflict, f.Message, f.Hint)
		return
	}
	if hint := failure.Advice(err); hint != "" {
		s.fail(w, r, http.StatusConflict, err.Error(), hint)
		return
	}
	s.cfg.Logger.Error("request failed", "path", r.URL.Path, "err", err)
	s.fail(w, r, http.StatusInternalServerError, "something went wrong; see the log", "")
}

func (s *site) notFound(w http.ResponseWriter, r *http.Request) {
	s.fail(w, r, http.StatusNotFound, "there is nothing here", "it may have been removed, or the address is mistyped")
}

// part is a piece of a page that is updated on its own: an element with an id that is unique on the page.
type part struct {
	ID   string
	HTML template.HTML // the whole element
	hash string
}

// group is a list of parts: the children of the element whose id is Name.
type group struct {
	Name  string
	Parts []part
}

// HTML is all parts, without anything between them: an empty group is an :empty element.
func (g group) HTML() template.HTML {
	var b strings.Builder
	for _, p := range g.Parts {
		b.WriteString(string(p.HTML))
	}
	return template.HTML(b.String()) //nolint:gosec // put together from template output
}

// part renders a template into a list item. Key makes the id; whatever it holds, the id is plain.
func (p *pages) part(group, key, class, name string, data any) (part, error) {
	var inner bytes.Buffer
	if err := p.parts.ExecuteTemplate(&inner, name, data); err != nil {
		return part{}, fmt.Errorf("render %s: %w", name, err)
	}
	hash := digest(append(inner.Bytes(), class...))
	id := group + "-" + digest([]byte(key))
	var outer bytes.Buffer
	err := p.parts.ExecuteTemplate(&outer, "item", map[string]any{
		"ID": id, "Hash": hash, "Class": class, "Inner": template.HTML(inner.String()), //nolint:gosec // template output
	})
	if err != nil {
		return part{}, fmt.Errorf("render %s: %w", name, err)
	}
	return part{ID: id, HTML: template.HTML(outer.String()), hash: hash}, nil //nolint:gosec // template output
}

// redirect sends a browser to another page of this dashboard.
func (s *site) redirect(w http.ResponseWriter, r *http.Request, page string) {
	http.Redirect(w, r, s.cfg.Root+page, http.StatusSeeOther)
}
