package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
)

// totals are the figures of an overview.
type totals struct {
	Day                            string
	Runs, Failed, Skipped, Waiting int
	Tokens, Cost, Month            string
	Next                           stamp
	NextName                       string
}

// matter is something that needs attention.
type matter struct {
	Pill   pill
	What   string
	Reason string
	URL    string // empty: there is no page of it
	When   stamp
	Run    string // that can be dismissed; or empty
}

// totalParts are the figures, and what needs attention if anything does.
func (s frontPage) totalParts(ctx context.Context) ([]part, error) {
	o, err := s.site.cfg.Overview(ctx)
	if err != nil {
		return nil, err
	}
	day, err := s.site.pages.part("totals", "day", "", "totals", s.totals(o))
	if err != nil {
		return nil, err
	}
	matters := s.matters(o)
	if len(matters) == 0 {
		return []part{day}, nil
	}
	list, err := s.site.pages.part("totals", "matters", "", "matters", matters)
	return []part{day, list}, err
}

func (s frontPage) totals(o engine.Overview) totals {
	t := totals{
		Day: o.Day.Since.In(s.site.cfg.Zone).Format("Monday, 2 January"), Runs: o.Day.Runs, Failed: o.Day.Failed, Skipped: o.Day.Skipped,
		Waiting: len(o.Waiting), Month: money(o.Month.Spending), Cost: money(o.Day.Spending),
	}
	if limit := o.Month.Limit.USD; limit > 0 && t.Month != "" {
		t.Month += " of " + dollars(limit)
	}
	if n, known := o.Day.Spending.Cost.Tokens, o.Day.Spending.Known().Tokens; n > 0 {
		t.Tokens = number(int(known)) + " tokens"
		if n > known {
			t.Tokens += ", at most " + number(int(n))
		}
	}
	if len(o.Next) > 0 {
		t.Next, t.NextName = when(o.Next[0].Slot, s.site.cfg.Now(), s.site.cfg.Zone), o.Next[0].Workflow
	}
	return t
}

// money is what calls of models have cost; empty when there were none.
func money(s cost.Spending) string {
	switch {
	case s.Calls == 0:
		return ""
	case s.Presumed.USD > 0:
		return "at most " + dollars(s.Cost.USD)
	}
	return dollars(s.Cost.USD)
}

func dollars(usd float64) string { return "$" + strconv.FormatFloat(usd, 'f', decimals(usd), 64) }

// matters lists what needs an answer, then what went wrong.
func (s frontPage) matters(o engine.Overview) []matter {
	var list []matter
	if reason := o.Reload.Text(); reason != "" {
		list = append(list, matter{pill{"warn", "!", "settings"}, "Changed settings", reason, "", stamp{}, ""})
	}
	if o.Trouble != "" {
		list = append(list, matter{pill{"warn", "!", "waiting"}, "This vault", o.Trouble, "", stamp{}, ""})
	}
	if t := o.Trust; t != nil && (t.Waiting > 0 || t.Level == "untrusted") {
		reason := t.Means
		if t.Waiting > 0 {
			reason += fmt.Sprintf("; waiting for your approval: %d", t.Waiting)
		}
		list = append(list, matter{pill{"warn", "?", "trust"}, "This vault", reason, "/trust", stamp{}, ""})
	}
	for _, r := range o.Approvals {
		list = append(list, matter{statusPill(r.Status), r.Title(), r.Reason, "/approvals#h-" + r.Run, s.stampOf(r), ""})
	}
	for _, f := range o.Waiting {
		if f.State == engine.ImportNeedsPassword || f.Reason != "" {
			list = append(list, matter{statePill(f.State), f.Name, f.Why(s.site.cfg.Zone), "", when(f.Since, s.site.cfg.Now(), s.site.cfg.Zone), ""})
		}
	}
	for _, h := range o.Held {
		page := ""
		if h.Run != "" {
			page = "/runs/" + h.Run
		}
		list = append(list, matter{pill{"quiet", "…", "waiting"}, engine.FileList(h.Files) + " for " + h.Workflow, h.Why(s.site.cfg.Zone), page, when(h.Since, s.site.cfg.Now(), s.site.cfg.Zone), ""})
	}
	for _, p := range o.Paused {
		list = append(list, matter{pill{"warn", "‖", "paused"}, p.Workflow, p.Reason, "", stamp{}, ""})
	}
	for _, r := range slices.Concat(o.Failures, o.Omissions) {
		page, run := "/runs/", r.Run
		if r.Kind == engine.KindImport {
			page, run = "/imports/", ""
		}
		if s.site.cfg.Control == nil {
			run = ""
		}
		list = append(list, matter{statusPill(r.Status), r.Title(), r.Reason, page + r.Run, s.stampOf(r), run})
	}
	if o.Unlisted > 0 {
		list = append(list, matter{pill{"warn", "!", "more"}, fmt.Sprintf("%d more failures", o.Unlisted), "`vaultflow runs --status failed` lists runs", "", stamp{}, ""})
	}
	return list
}

func (s frontPage) stampOf(r engine.RunBrief) stamp {
	return when(r.Since, s.site.cfg.Now(), s.site.cfg.Zone)
}

// status returns the overview.
func (s apiRoutes) status(w http.ResponseWriter, r *http.Request) {
	o, err := s.site.cfg.Overview(r.Context())
	if err != nil {
		s.site.failWith(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, o)
}
