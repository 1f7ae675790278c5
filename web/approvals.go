package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/web/session"
)

// Approvals lists proposals that need approval, and stores decisions about them.
type Approvals interface {
	// Approvals returns the open proposals of a run, or of all runs, the oldest first.
	Approvals(ctx context.Context, run string) ([]engine.Proposal, error)
	// Decide stores a decision about open proposals of a run and continues the run. The implementation sets Who and By.
	// Numbers that are not open are an error for the user.
	Decide(ctx context.Context, d engine.Decision) error
	// Keep stores a text that replaces a proposed one, and returns its digest for a decision.
	Keep(ctx context.Context, edited []byte) (digest string, err error)
	// Seen returns a token that proves that a viewer has seen a proposal up to a page, counted from 1.
	Seen(viewer string, p engine.Proposal, page int) string
	// HasSeen reports whether a token is that of Seen.
	HasSeen(token, viewer string, p engine.Proposal, page int) bool
}

const (
	shownDiff    = 200 << 10 // bytes of a change on a page that shows what was done
	approvalPage = 60 << 10  // bytes of a change on a page on which it is decided
	maxListed    = 2 << 20   // bytes of all changes on the page that lists proposals
	maxEdited    = 256 << 10 // bytes of a text that can be edited in the dashboard
)

// asks are the handlers of approvals. Approving needs the token on the last page of a change, which is made only for a viewer
// who has seen the pages before it.
type asks struct{ site *site }

// asking is a run with what it asks for.
type asking struct {
	Run, URL, Workflow string
	Action             string // where forms go
	Items              []askedItem
	Whole              int // items that can be approved together
}

// askedItem is one proposal on the page.
type askedItem struct {
	Item         int
	What, Step   string
	URL          string // of its own page
	Action       string
	Since, Until stamp
	Again        bool
	Origins      []string
	NameFrom     []string
	Lines        []diffLine
	Page, Pages  int
	Seen         string // the form's token; empty: not all of it was shown
	Next         string // address of the next page; empty on the last one
	Begin        bool   // the pages before were not shown to this viewer
	Elsewhere    bool   // it is shown on its own page alone
	Parts        bool   // it cannot be shown whole at all
	Text         string // to be edited
	CanEdit      bool
}

// diffLine is a line of a change, with the class that colours it.
type diffLine struct{ Class, Text string }

// viewer names who is shown pages: a session, or a token.
func viewer(r *http.Request) string {
	id := session.From(r.Context())
	return id.Session + "\x00" + id.Name
}

// list is the page of open proposals.
func (s asks) list(w http.ResponseWriter, r *http.Request) {
	if s.site.cfg.Approvals == nil {
		s.site.notFound(w, r)
		return
	}
	list, err := s.site.cfg.Approvals.Approvals(r.Context(), "")
	if err != nil {
		s.site.failWith(w, r, err)
		return
	}
	runs, err := s.askings(r, list)
	if err != nil {
		s.site.failWith(w, r, err)
		return
	}
	s.site.render(w, r, http.StatusOK, "approvals", "Approvals", map[string]any{"Runs": runs})
}

// askings groups proposals by run.
func (s asks) askings(r *http.Request, list []engine.Proposal) ([]*asking, error) {
	var runs []*asking
	byRun, listed := map[string]*asking{}, 0
	for _, p := range list {
		a := byRun[p.Run]
		if a == nil {
			path := url.PathEscape(p.Run)
			a = &asking{Run: p.Run, URL: "/runs/" + path, Workflow: p.Workflow, Action: "/approvals/" + path}
			byRun[p.Run], runs = a, append(runs, a)
		}
		item, err := s.item(r, p, 1, "")
		if err != nil {
			return nil, err
		}
		for _, line := range item.Lines {
			listed += len(line.Text) + 40 // with its tags
		}
		if listed > maxListed { // it has a page of its own
			item.Lines, item.Seen, item.Next, item.Elsewhere = nil, "", "", true
		}
		if item.Seen != "" {
			a.Whole++
		}
		a.Items = append(a.Items, item)
	}
	return runs, nil
}

// item is a page of a proposal. token proves that the page before was shown.
func (s asks) item(r *http.Request, p engine.Proposal, page int, token string) (askedItem, error) {
	now := s.site.cfg.Now()
	action := "/approvals/" + url.PathEscape(p.Run)
	item := askedItem{
		Item: p.Item, What: p.What(), Step: p.Step, Since: when(p.Created, now, s.site.cfg.Zone), Until: when(p.Deadline, now, s.site.cfg.Zone),
		Again: p.Again, Page: 1, Pages: 1, Action: action, URL: fmt.Sprintf("%s/%d", action, p.Item),
	}
	for _, origin := range p.Origins {
		item.Origins = append(item.Origins, visible.Name(origin))
	}
	for _, origin := range p.NameFrom {
		item.NameFrom = append(item.NameFrom, visible.Name(origin))
	}
	if p.Batch > 0 {
		item.Step = fmt.Sprintf("%s, batch %d", p.Step, p.Batch)
	}
	if s.site.cfg.Blobs == nil {
		item.Parts = true
		return item, nil
	}
	shown, err := p.Show(r.Context(), s.site.cfg.Blobs.Get)
	if err != nil {
		return item, err
	}
	pages := shown.Pages(approvalPage)
	item.Page, item.Pages, item.Parts = min(max(page, 1), len(pages)), len(pages), !shown.Whole
	item.Lines = diffLines(pages[item.Page-1], item.Page == 1)
	if p.Kind == engine.ProposalPrompt { // no diff: its lines may begin with anything
		for i := range item.Lines {
			item.Lines[i].Class = ""
		}
	}
	item.Begin = item.Page > 1 && !s.site.cfg.Approvals.HasSeen(token, viewer(r), p, item.Page-1)
	own := ""
	if !item.Begin {
		own = s.site.cfg.Approvals.Seen(viewer(r), p, item.Page)
	}
	switch {
	case item.Page < item.Pages:
		item.Next = fmt.Sprintf("%s?%s", item.URL, url.Values{"page": {strconv.Itoa(item.Page + 1)}, "seen": {own}}.Encode())
	case shown.Whole && !item.Begin:
		item.Seen = own
	}
	item.CanEdit = item.Seen != "" && p.Fits() == nil
	return item, nil
}

// one is the page of one proposal.
func (s asks) one(w http.ResponseWriter, r *http.Request) {
	p, ok := s.open(w, r)
	if !ok {
		return
	}
	page, err := strconv.Atoi(r.FormValue("page"))
	if err != nil {
		page = 1
	}
	item, err := s.item(r, p, page, r.FormValue("seen"))
	if err != nil {
		s.site.failWith(w, r, err)
		return
	}
	if item.CanEdit {
		text, err := s.site.cfg.Blobs.Get(r.Context(), p.After)
		if err != nil {
			s.site.failWith(w, r, err)
			return
		}
		item.Text = string(text)
		item.CanEdit = len(text) <= maxEdited && editable(item.Text)
	}
	s.site.render(w, r, http.StatusOK, "approval", item.What, map[string]any{"Run": p.Run, "Workflow": p.Workflow, "URL": "/runs/" + url.PathEscape(p.Run), "Item": item})
}

// editable reports whether a browser's text field returns a text as it is, but for the ends of lines.
func editable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsAny(text, "\x00\f") && !strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r")
}

// open is the proposal that a request is about. It has answered when ok is false.
func (s asks) open(w http.ResponseWriter, r *http.Request) (p engine.Proposal, ok bool) {
	if s.site.cfg.Approvals == nil {
		s.site.notFound(w, r)
		return p, false
	}
	list, err := s.site.cfg.Approvals.Approvals(r.Context(), r.PathValue("run"))
	if err != nil {
		s.site.failWith(w, r, err)
		return p, false
	}
	for _, p := range list {
		if strconv.Itoa(p.Item) == r.PathValue("item") {
			return p, true
		}
	}
	s.site.notFound(w, r)
	return p, false
}

// diffLines splits a change into lines with the classes that colour them.
func diffLines(text string, atHead bool) []diffLine {
	var lines []diffLine
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		class := ""
		switch {
		case atHead && (strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")):
			class = "file"
		case atHead && strings.HasPrefix(line, "! "):
			class = "notice"
		case strings.HasPrefix(line, "@@"):
			class, atHead = "at", false
		case strings.HasPrefix(line, "+"):
			class = "add"
		case strings.HasPrefix(line, "-"):
			class = "del"
		}
		lines = append(lines, diffLine{class, line + "\n"})
	}
	return lines
}

// decision is the body of a form or of an API request.
type decision struct {
	Items   []int             `json:"items"`
	Approve *bool             `json:"approve"`
	Reason  string            `json:"reason"`
	Seen    map[string]string `json:"seen"`    // tokens by item
	Content *string           `json:"content"` // in place of what is proposed
}

var errForm = errors.New("choose items, and approve or reject them")

// read reads a decision from a form.
func (d *decision) read(form url.Values) error {
	d.Seen = map[string]string{}
	for _, text := range form["item"] {
		n, err := strconv.Atoi(text)
		if err != nil {
			return errors.New("an item is a number")
		}
		d.Items = append(d.Items, n)
	}
	for _, text := range form["seen"] {
		item, token, _ := strings.Cut(text, ":")
		d.Seen[item] = token
	}
	said := form.Get("decision")
	yes := said == "approve" || said == "edit"
	if d.Approve = &yes; len(d.Items) == 0 || !yes && said != "reject" {
		return errForm
	}
	if said == "edit" {
		content := form.Get("content")
		d.Content = &content
	} else if !yes {
		d.Reason = form.Get("reason")
	}
	return nil
}

// decide stores the decision of a form: the items that were shown, and whether they are approved.
func (s asks) decide(w http.ResponseWriter, r *http.Request) {
	if s.site.cfg.Approvals == nil {
		s.site.notFound(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 2<<20)
	if err := r.ParseForm(); err != nil {
		s.site.fail(w, r, http.StatusBadRequest, "the form cannot be read", "")
		return
	}
	var d decision
	if err := d.read(r.PostForm); err != nil {
		s.site.fail(w, r, http.StatusBadRequest, err.Error(), "")
		return
	}
	if d.Content != nil {
		if err := s.lineEnds(r, &d); err != nil {
			s.site.failWith(w, r, err)
			return
		}
	}
	if s.take(w, r, d) {
		s.site.redirect(w, r, "/approvals")
	}
}

// lineEnds undoes what a form does to the ends of lines: it sends \r\n, whatever the text had.
func (s asks) lineEnds(r *http.Request, d *decision) error {
	p, err := s.proposal(r, d.Items[0])
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(*d.Content, "\r\n", "\n")
	if s.site.cfg.Blobs != nil {
		before, err := s.site.cfg.Blobs.Get(r.Context(), p.After)
		if err != nil {
			return err
		}
		if n := strings.Count(string(before), "\n"); n > 0 && n == strings.Count(string(before), "\r\n") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
	}
	d.Content = &text
	return nil
}

// proposal is an open proposal of the request's run.
func (s asks) proposal(r *http.Request, item int) (engine.Proposal, error) {
	run := r.PathValue("run")
	list, err := s.site.cfg.Approvals.Approvals(r.Context(), run)
	if err != nil {
		return engine.Proposal{}, err
	}
	for _, p := range list {
		if p.Item == item {
			return p, nil
		}
	}
	return engine.Proposal{}, failure.New(failure.Input, "reload the page", "item %d of run %s does not wait for approval", item, run)
}

// take stores a decision. It has answered when it returns false.
func (s asks) take(w http.ResponseWriter, r *http.Request, said decision) bool {
	d := engine.Decision{Run: r.PathValue("run"), Items: said.Items, Approve: *said.Approve, Reason: said.Reason}
	err := d.Check()
	if err == nil && d.Approve {
		err = s.checkSeen(r, said)
	}
	if err == nil && said.Content != nil {
		if d.Edited, err = s.site.cfg.Approvals.Keep(r.Context(), []byte(*said.Content)); err == nil {
			err = d.Check()
		}
	}
	if err == nil {
		err = s.site.cfg.Approvals.Decide(r.Context(), d)
	}
	if f, ok := errors.AsType[*failure.Error](err); ok && f.Code == failure.Permission {
		s.site.fail(w, r, http.StatusForbidden, f.Message, f.Hint)
	} else if err != nil {
		s.site.failWith(w, r, err)
	}
	return err == nil
}

// checkSeen refuses an approval by somebody who has not seen all of the change.
func (s asks) checkSeen(r *http.Request, said decision) error {
	for _, n := range said.Items {
		p, err := s.proposal(r, n)
		if err != nil {
			return err
		}
		whole, pages := false, 1
		if s.site.cfg.Blobs != nil {
			shown, err := p.Show(r.Context(), s.site.cfg.Blobs.Get)
			if err != nil {
				return err
			}
			whole, pages = shown.Whole, len(shown.Pages(approvalPage))
		}
		if !whole {
			return failure.New(failure.Permission, fmt.Sprintf("`vaultflow approvals %s --item %d` shows how to approve it", p.Run, n), "item %d of run %s cannot be shown in full, so it cannot be approved here", n, p.Run)
		}
		if !s.site.cfg.Approvals.HasSeen(said.Seen[strconv.Itoa(n)], viewer(r), p, pages) {
			return failure.New(failure.Permission, fmt.Sprintf("read it to its end: /approvals/%s/%d", p.Run, n), "you have not seen all of item %d of run %s as it is now", n, p.Run)
		}
	}
	return nil
}

// apiList lists open proposals.
func (s asks) apiList(w http.ResponseWriter, r *http.Request) {
	if s.site.cfg.Approvals == nil {
		s.site.notFound(w, r)
		return
	}
	list, err := s.site.cfg.Approvals.Approvals(r.Context(), r.URL.Query().Get("run"))
	if err != nil {
		s.site.failWith(w, r, err)
		return
	}
	if list == nil {
		list = []engine.Proposal{}
	}
	writeJSON(w, http.StatusOK, map[string]any{"approvals": list})
}

// apiOne returns one proposal in full, with the token that its approval needs.
func (s asks) apiOne(w http.ResponseWriter, r *http.Request) {
	p, ok := s.open(w, r)
	if !ok {
		return
	}
	if s.site.cfg.Blobs == nil {
		s.site.notFound(w, r)
		return
	}
	shown, err := p.Show(r.Context(), s.site.cfg.Blobs.Get)
	if err != nil {
		s.site.failWith(w, r, err)
		return
	}
	answer := map[string]any{"proposal": p, "text": shown.Text, "whole": shown.Whole}
	if shown.Whole {
		answer["seen"] = s.site.cfg.Approvals.Seen(viewer(r), p, len(shown.Pages(approvalPage)))
	}
	writeJSON(w, http.StatusOK, answer)
}

// apiDecide stores a decision: {"items": [1], "approve": true, "seen": {"1": "…"}}.
func (s asks) apiDecide(w http.ResponseWriter, r *http.Request) {
	if s.site.cfg.Approvals == nil {
		s.site.notFound(w, r)
		return
	}
	var said decision
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 2<<20)).Decode(&said); err != nil || len(said.Items) == 0 || said.Approve == nil {
		s.site.fail(w, r, http.StatusBadRequest, `name the items, and approve or reject them: {"items": [1], "approve": true, "seen": {"1": "…"}}`, "GET /api/v1/approvals/RUN/ITEM returns the change and what to put into seen")
		return
	}
	if s.take(w, r, said) {
		writeJSON(w, http.StatusOK, map[string]any{"type": "decision", "run": r.PathValue("run"), "items": said.Items, "approve": *said.Approve})
	}
}
