package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/vaultflow/vaultflow/web/session"
)

// VaultsPath is the path below which a front shows its vaults, each by its name.
const VaultsPath = "/vaults/"

// Listed is a vault as a front lists it.
type Listed struct {
	Name      string // unique, and a part of the path
	Dir       string
	Problem   string       // why it is not served now, or why its runs wait, or ""
	Dashboard http.Handler // of [New] with [Config.Root]; nil: it is not served now
}

// Front is the dashboard of several vaults: a list of them, the sign-in, and theirs below [VaultsPath]. Make it with [NewFront].
type Front struct {
	server *Server
	vaults func() []Listed
}

// NewFront makes a front. Of the config it needs Access only. vaults is asked for each request, and is safe for concurrent use.
func NewFront(c Config, vaults func() []Listed) (*Front, error) {
	if c.Access == nil || vaults == nil {
		return nil, errors.New("dashboard: a front needs access and vaults")
	}
	c.fill()
	f := &Front{vaults: vaults}
	var err error
	f.server, err = newServer(c, f.table)
	return f, err
}

// table lists the routes of the front's own pages.
func (f *Front) table(s *Server) []route {
	return append(s.common(), []route{
		{"GET /{$}", session.Read, f.list},
		{"GET " + VaultsPath, session.Read, f.absent},
		{"/", signedIn, s.site.notFound},
	}...)
}

// ServeHTTP implements http.Handler.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if v, ok := f.find(r.URL.Path); ok && v.Dashboard != nil {
		root := VaultsPath + v.Name
		if r.URL.Path == root {
			http.Redirect(w, r, root+"/", http.StatusSeeOther)
			return
		}
		http.StripPrefix(root, v.Dashboard).ServeHTTP(w, r) // with guards of its own
		return
	}
	f.server.ServeHTTP(w, r)
}

// Serve answers like [Server.Serve].
func (f *Front) Serve(ctx context.Context, l net.Listener) error { return f.server.serve(ctx, l, f) }

// find returns the vault that a path leads to.
func (f *Front) find(path string) (Listed, bool) {
	rest, ok := strings.CutPrefix(path, VaultsPath)
	if !ok {
		return Listed{}, false
	}
	name, _, _ := strings.Cut(rest, "/")
	for _, v := range f.vaults() {
		if v.Name == name {
			return v, true
		}
	}
	return Listed{}, false
}

// vaultRow is a vault in the list.
type vaultRow struct {
	Name, URL, Dir, Problem string
	Up                      bool
	Pill                    pill
}

func (f *Front) list(w http.ResponseWriter, r *http.Request) {
	var rows []vaultRow
	for _, v := range f.vaults() {
		row := vaultRow{Name: v.Name, URL: VaultsPath + url.PathEscape(v.Name) + "/", Dir: v.Dir, Problem: v.Problem, Up: v.Dashboard != nil}
		switch {
		case row.Up && v.Problem != "":
			row.Pill = pill{"warn", "!", "waiting"}
		case row.Up:
			row.Pill = pill{"good", "✓", "served"}
		case v.Problem != "":
			row.Pill = pill{"bad", "✕", "not served"}
		default:
			row.Pill = pill{"quiet", "○", "starting"}
		}
		rows = append(rows, row)
	}
	f.server.site.render(w, r, http.StatusOK, "vaults", "Vaults", rows)
}

// absent answers for a vault that is not served now.
func (f *Front) absent(w http.ResponseWriter, r *http.Request) {
	v, ok := f.find(r.URL.Path)
	switch {
	case !ok:
		f.server.site.notFound(w, r)
	case v.Problem == "":
		f.server.site.fail(w, r, http.StatusServiceUnavailable, "this vault is starting", "try again in a moment")
	default:
		f.server.site.fail(w, r, http.StatusServiceUnavailable, "this vault is not served now: "+v.Problem, "it is tried again by itself")
	}
}
