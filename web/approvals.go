package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/engine"
)

// Approvals answers what waits for a person's yes, and takes what the person says.
type Approvals interface {
	// Approvals gives the open proposals of a run, or of all runs, the oldest first.
	Approvals(ctx context.Context, run string) ([]engine.Proposal, error)
	// Decide stores a decision about open proposals of a run and lets it go on. Numbers that are not open are an error for
	// the person.
	Decide(ctx context.Context, run string, items []int, approve bool) error
}

// shownDiff is how much of a change is shown, in bytes.
const shownDiff = 200 << 10

// asking is a run with what it asks for.
type asking struct {
	Run, URL, Workflow string
	Action             string // where forms go
	Items              []askedItem
}

// askedItem is one proposal on the page.
type askedItem struct {
	Item         int
	What, Step   string
	Since, Until stamp
	Again        bool
	Origins      []string
	Lines        []diffLine
	More         int // bytes that are not shown
}

// diffLine is a line of a change, with the class that colours it.
type diffLine struct{ Class, Text string }

// approvals is the page of what waits for a person.
func (s *Server) approvals(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Approvals == nil {
		s.notFound(w, r)
		return
	}
	list, err := s.cfg.Approvals.Approvals(r.Context(), "")
	if err != nil {
		s.failWith(w, r, err)
		return
	}
	runs, err := s.askings(r.Context(), list)
	if err != nil {
		s.failWith(w, r, err)
		return
	}
	s.render(w, r, http.StatusOK, "approvals", "Approvals", map[string]any{"Runs": runs})
}

// askings groups proposals by run.
func (s *Server) askings(ctx context.Context, list []engine.Proposal) ([]*asking, error) {
	var runs []*asking
	byRun := map[string]*asking{}
	for _, p := range list {
		a := byRun[p.Run]
		if a == nil {
			path := url.PathEscape(p.Run)
			a = &asking{Run: p.Run, URL: "/runs/" + path, Workflow: p.Workflow, Action: "/approvals/" + path}
			byRun[p.Run], runs = a, append(runs, a)
		}
		item, err := s.askedItem(ctx, p)
		if err != nil {
			return nil, err
		}
		a.Items = append(a.Items, item)
	}
	return runs, nil
}

func (s *Server) askedItem(ctx context.Context, p engine.Proposal) (askedItem, error) {
	now := s.cfg.Now()
	item := askedItem{
		Item: p.Item, What: p.String(), Step: p.Step, Since: when(p.Created, now, s.cfg.Zone), Until: when(p.Deadline, now, s.cfg.Zone),
		Again: p.Again, Origins: p.Origins,
	}
	if p.Batch > 0 {
		item.Step = fmt.Sprintf("%s, batch %d", p.Step, p.Batch)
	}
	if s.cfg.Blobs == nil {
		return item, nil
	}
	text, err := p.Diff(ctx, s.cfg.Blobs.Get)
	if err != nil {
		return item, err
	}
	if len(text) > shownDiff {
		item.More = len(text) - shownDiff
		text = strings.ToValidUTF8(text[:shownDiff], "")
	}
	item.Lines = diffLines(text)
	return item, nil
}

// diffLines gives the lines of a change the classes that colour them.
func diffLines(text string) []diffLine {
	var lines []diffLine
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		class := ""
		switch {
		case i < 2 && (strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")):
			class = "file"
		case strings.HasPrefix(line, "@@"):
			class = "at"
		case strings.HasPrefix(line, "+"):
			class = "add"
		case strings.HasPrefix(line, "-"):
			class = "del"
		}
		lines = append(lines, diffLine{class, line + "\n"})
	}
	return lines
}

// decide takes the decision of a form: the items that were shown, and yes or no.
func (s *Server) decide(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Approvals == nil {
		s.notFound(w, r)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, http.StatusBadRequest, "this is no form", "")
		return
	}
	var items []int
	for _, text := range r.PostForm["item"] {
		n, err := strconv.Atoi(text)
		if err != nil {
			s.fail(w, r, http.StatusBadRequest, "an item is a number", "")
			return
		}
		items = append(items, n)
	}
	decision := r.PostForm.Get("decision")
	if len(items) == 0 || decision != "approve" && decision != "reject" {
		s.fail(w, r, http.StatusBadRequest, "say which items, and approve or reject", "")
		return
	}
	if err := s.cfg.Approvals.Decide(r.Context(), r.PathValue("run"), items, decision == "approve"); err != nil {
		s.failWith(w, r, err)
		return
	}
	http.Redirect(w, r, "/approvals", http.StatusSeeOther)
}

// apiApprovals gives what waits to programs.
func (s *Server) apiApprovals(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Approvals == nil {
		s.notFound(w, r)
		return
	}
	list, err := s.cfg.Approvals.Approvals(r.Context(), r.URL.Query().Get("run"))
	if err != nil {
		s.failWith(w, r, err)
		return
	}
	if list == nil {
		list = []engine.Proposal{}
	}
	writeJSON(w, http.StatusOK, map[string]any{"approvals": list})
}

// apiDecide takes a program's decision: {"items": [1, 2], "approve": true}.
func (s *Server) apiDecide(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Approvals == nil {
		s.notFound(w, r)
		return
	}
	var said struct {
		Items   []int `json:"items"`
		Approve *bool `json:"approve"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&said); err != nil || len(said.Items) == 0 || said.Approve == nil {
		s.fail(w, r, http.StatusBadRequest, `say which items, and yes or no: {"items": [1], "approve": true}`, "")
		return
	}
	if err := s.cfg.Approvals.Decide(r.Context(), r.PathValue("run"), said.Items, *said.Approve); err != nil {
		s.failWith(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"type": "decision", "run": r.PathValue("run"), "items": said.Items, "approve": *said.Approve})
}
