package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/engine"
)

// Undo shows and undoes what runs did to files.
type Undo interface {
	// Changed returns the changes of files by a run and by the runs that its tools started, in order, each with its diff: at most
	// limit changes, and how many more there are.
	Changed(ctx context.Context, run string, limit int) (list []engine.ChangeDiff, more int, err error)
	// PreviewUndo returns what an undo would do now.
	PreviewUndo(ctx context.Context, run string) (engine.UndoPreview, error)
	// Undo starts the undo of a run. A *failure.Error is for the user.
	Undo(ctx context.Context, run string) (engine.Started, error)
}

// shownChanges is how many files a page shows.
const shownChanges = 200

// changesPage is what a run did to files, or what its undo would do.
type changesPage struct {
	Run, URL, Workflow string
	Undo               bool // of the undo
	Open               int  // changes that it would make
	Items              []changedItem
	Then               []string // other effects, in words
	More               int      // files that are not shown
}

// changedItem is a file on it.
type changedItem struct {
	What, Reason string
	By           string // page of the nested run that did it
	Lines        []diffLine
	More         int // bytes that are not shown
}

func newChangedItem(run string, c engine.Change, by, reason, diff string) changedItem {
	item := changedItem{What: visible.Name(c.String()), Reason: reason}
	if by != run {
		item.By = "/runs/" + url.PathEscape(by)
	}
	if diff == "" {
		return item
	}
	if item.More = len(diff) - shownDiff; item.More > 0 {
		diff = strings.ToValidUTF8(diff[:shownDiff], "")
	}
	item.Lines, item.More = diffLines(diff, true), max(0, item.More)
	return item
}

// undoPages are the handlers of a run's changes and of their undo.
type undoPages struct{ site *site }

// changes is the page of what a run did to files.
func (s undoPages) changes(w http.ResponseWriter, r *http.Request) {
	run, ok := s.undoRun(w, r)
	if !ok {
		return
	}
	list, more, err := s.site.cfg.Undo.Changed(r.Context(), run.ID, shownChanges)
	if err != nil {
		s.site.failWith(w, r, err)
		return
	}
	p := changesPage{Run: run.ID, URL: "/runs/" + url.PathEscape(run.ID), Workflow: run.Workflow, More: more}
	for _, c := range list {
		p.Items = append(p.Items, newChangedItem(run.ID, c.Change, c.Run, "", c.Diff))
	}
	s.site.render(w, r, http.StatusOK, "changes", "Files changed by "+run.Workflow, p)
}

// undoPreview is the page that shows what an undo would do, with the button that does it.
func (s undoPages) undoPreview(w http.ResponseWriter, r *http.Request) {
	run, ok := s.undoRun(w, r)
	if !ok {
		return
	}
	preview, err := s.site.cfg.Undo.PreviewUndo(r.Context(), run.ID)
	if err != nil {
		s.site.failWith(w, r, err)
		return
	}
	p := changesPage{
		Run: run.ID, URL: "/runs/" + url.PathEscape(run.ID), Workflow: run.Workflow, Undo: true,
		Then: engine.MemoryWords(preview.Memories), Open: len(preview.Memories),
	}
	for _, f := range preview.Files {
		reason := f.Reason
		if f.Fate == engine.FateNothing {
			reason = "it already is as it was before"
		} else if f.Fate == engine.FateOpen {
			p.Open++
		}
		if len(p.Items) == shownChanges {
			p.More++
			continue
		}
		item := newChangedItem(run.ID, f.Change, f.Run, reason, f.Diff)
		item.What = visible.Name(undoWords(f))
		p.Items = append(p.Items, item)
	}
	s.site.render(w, r, http.StatusOK, "changes", "Undo "+run.Workflow, p)
}

// undoWords describe what an undo would do to a file.
func undoWords(f engine.UndoFile) string {
	c := f.Change
	if f.Fate != engine.FateOpen {
		return "keep " + c.Name
	}
	switch c.Kind {
	case engine.ChangeCreate:
		return "bring back " + c.Name
	case engine.ChangeDelete:
		return "remove " + c.Name
	case engine.ChangeMove:
		return fmt.Sprintf("move %s back to %s", c.Name, c.To)
	}
	return "restore " + c.Name
}

// undo starts the undo of a run, and redirects to it.
func (s undoPages) undo(w http.ResponseWriter, r *http.Request) {
	run, ok := s.undoRun(w, r)
	if !ok {
		return
	}
	started, err := s.site.cfg.Undo.Undo(r.Context(), run.ID)
	if err != nil {
		s.site.failWith(w, r, err)
		return
	}
	s.site.redirect(w, r, "/runs/"+url.PathEscape(started.Run))
}

// undoRun is the run that a request is about. It has answered when ok is false.
func (s undoPages) undoRun(w http.ResponseWriter, r *http.Request) (run engine.RunRecord, ok bool) {
	if s.site.cfg.Undo == nil {
		s.site.notFound(w, r)
		return run, false
	}
	run, err := s.site.cfg.Runs.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		s.site.failWith(w, r, err)
	}
	return run, err == nil
}
