package web

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/web/session"
)

// accountPage lists who can get in: browsers that are signed in, and tokens.
type accountPage struct {
	Sessions []sessionRow
	Tokens   []tokenRow
	Scopes   []scopeRow // that a new token can have
	Made     string     // secret of a token that was just made
	MadeName string
	Problem  string
}

type sessionRow struct {
	ID, About, From, Name string
	This                  bool
	Since, Seen           stamp
}

type tokenRow struct {
	Name, Scopes string
	Made, Until  stamp
	Expired      bool
}

type scopeRow struct {
	Name, Does string
	On         bool
}

var scopeWords = map[session.Scope]string{
	session.Read: "see runs, imports and approvals", session.Run: "start, cancel, retry and undo runs", session.Approve: "approve or reject changes",
	session.Import: "upload files", session.Trust: "change trust, sessions and tokens",
}

// accounts are the handlers of the page of sessions and tokens.
type accounts struct{ site *site }

// show answers with the page.
func (a accounts) show(w http.ResponseWriter, r *http.Request) {
	a.page(w, r, http.StatusOK, accountPage{})
}

func (a accounts) page(w http.ResponseWriter, r *http.Request, status int, p accountPage) {
	tokens, err := a.site.cfg.Access.Tokens.List()
	if err != nil {
		a.site.failWith(w, r, err)
		return
	}
	id, now := session.From(r.Context()), a.site.cfg.Now()
	for _, one := range a.site.browsers().Sessions() {
		p.Sessions = append(p.Sessions, sessionRow{
			ID: one.ID, About: browserName(one.About), From: one.From, Name: one.Name, This: one.ID == id.Session,
			Since: when(one.Created, now, a.site.cfg.Zone), Seen: when(one.Seen, now, a.site.cfg.Zone),
		})
	}
	for _, t := range tokens {
		p.Tokens = append(p.Tokens, tokenRow{
			Name: t.Name, Scopes: strings.Join(strings.Split(t.Scopes.String(), ","), ", "), Made: when(t.Created, now, a.site.cfg.Zone),
			Until: when(t.Expires, now, a.site.cfg.Zone), Expired: t.Expired(now),
		})
	}
	for _, scope := range id.Scopes {
		p.Scopes = append(p.Scopes, scopeRow{string(scope), scopeWords[scope], scope == session.Read})
	}
	a.site.render(w, r, status, "account", "Access", p)
}

// browserName names the browser of a user agent in two words, so that users recognise their own. It proves nothing.
func browserName(agent string) string {
	name := "a program"
	for _, b := range []string{"Firefox", "Edg", "OPR", "Chrome", "Safari", "curl"} {
		if strings.Contains(agent, b+"/") {
			name = map[string]string{"Edg": "Edge", "OPR": "Opera"}[b]
			if name == "" {
				name = b
			}
			break
		}
	}
	for _, os := range [][2]string{{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"}} {
		if strings.Contains(agent, os[0]) {
			return name + " on " + os[1]
		}
	}
	return name
}

// endOne signs one browser out, and endAll all of them.
func (a accounts) endOne(w http.ResponseWriter, r *http.Request) {
	a.ended(w, r, a.site.browsers().End(r.PathValue("id")))
}

func (a accounts) endAll(w http.ResponseWriter, r *http.Request) {
	a.ended(w, r, a.site.browsers().EndAll())
}

func (a accounts) ended(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		a.site.failWith(w, r, err)
		return
	}
	a.site.redirect(w, r, "/account") // which asks for a sign-in when this session has ended, too
}

// maxTokenDays is the longest life of a token that the page offers.
const maxTokenDays = 3650

// create creates a token and shows it once. It cannot have a scope that its creator lacks.
func (a accounts) create(w http.ResponseWriter, r *http.Request) {
	refuse := func(err error) {
		a.page(w, r, http.StatusBadRequest, accountPage{Problem: err.Error()})
	}
	if err := r.ParseForm(); err != nil {
		a.site.fail(w, r, http.StatusBadRequest, "the form cannot be read", "")
		return
	}
	scopes, err := session.ParseScopes(r.PostForm["scope"])
	if err != nil {
		refuse(err)
		return
	}
	for _, scope := range scopes {
		if !session.From(r.Context()).Scopes.Has(scope) {
			refuse(errors.New("you do not have the scope " + string(scope) + " yourself"))
			return
		}
	}
	days := 0
	if text := strings.TrimSpace(r.PostForm.Get("days")); text != "" {
		if days, err = strconv.Atoi(text); err != nil || days < 1 || days > maxTokenDays {
			refuse(errors.New("days must be a number from 1 to " + strconv.Itoa(maxTokenDays) + ", or empty"))
			return
		}
	}
	secret, made, err := a.site.cfg.Access.Tokens.Create(strings.TrimSpace(r.PostForm.Get("name")), scopes, time.Duration(days)*24*time.Hour)
	if err != nil {
		refuse(err)
		return
	}
	a.page(w, r, http.StatusOK, accountPage{Made: secret, MadeName: made.Name})
}

// revoke ends a token.
func (a accounts) revoke(w http.ResponseWriter, r *http.Request) {
	err := a.site.cfg.Access.Tokens.Revoke(r.PathValue("name"))
	if errors.Is(err, session.ErrNoToken) {
		err = nil // somebody else was faster
	}
	a.ended(w, r, err)
}

// licences shows what the program contains.
func (a accounts) licences(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, a.site.cfg.Notice) // a browser that is gone needs no page
}
