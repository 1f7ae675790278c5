package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure/omission"
)

// What a run's page shows at most.
const (
	shownEvents = 200
	shownAnswer = 200 << 10 // bytes
	maxReceipt  = 16 << 20  // bytes
	shownChunks = 1000
)

// runPages show runs.
type runPages struct{ site *site }

// run is the page of one run.
func (s runPages) run(r *http.Request) (view, error) {
	record, err := s.site.cfg.Runs.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return view{}, err
	}
	return s.runView(record), nil
}

func (s runPages) runView(record engine.RunRecord) view {
	return view{
		page: "run", title: record.Workflow, live: "view=run&id=" + url.QueryEscape(record.ID),
		load: func(ctx context.Context, only map[string]bool) ([]group, error) { return s.loadRun(ctx, record.ID) },
	}
}

// runHead is the top of a run's page.
type runHead struct {
	runRow
	retries
	Resumed    int
	Files      []string
	Warnings   []string
	Hint       string
	CanCancel  bool
	Activity   string
	AtText     stamp
	ImportLink string
	ParentLink string // of the run whose model started it
	Decisions  []string
	Changes    int // of files
	CanUndo    bool
}

// stepRow is a step on a run's page.
type stepRow struct {
	Name, Model, By string
	workRow
	Inputs              []string
	Undone              bool // the changes are those of an undo
	InputUse, OutputUse string
	Batches             []batchRow
	MoreBatches         int
	Again               string // the run, if it can be rerun from this step
}

func (s runPages) loadRun(ctx context.Context, id string) ([]group, error) {
	r, err := s.site.cfg.Runs.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	head, err := s.site.pages.part("head", r.ID, "", "run-head", s.runHead(ctx, r))
	if err != nil {
		return nil, err
	}
	groups := []group{{"head", []part{head}}, {Name: "steps"}, {Name: "events"}}
	for _, step := range r.Steps {
		row := s.stepRow(ctx, step)
		row.Again = s.again(r, step)
		p, err := s.site.pages.part("steps", fmt.Sprint(step.Index), "card", "step", row)
		if err != nil {
			return nil, err
		}
		groups[1].Parts = append(groups[1].Parts, p)
	}
	groups[2].Parts, err = s.eventParts(ctx, id)
	return groups, err
}

func (s runPages) runHead(ctx context.Context, r engine.RunRecord) runHead {
	h := runHead{
		runRow: s.runRow(r), Resumed: r.Resumed, Files: r.Trigger.Files, Warnings: r.Warnings, Activity: r.Activity,
		CanCancel: s.site.cfg.Control != nil && !r.Status.Finished(),
		retries:   s.retries(ctx, r),
		AtText:    when(r.At, s.site.cfg.Now(), s.site.cfg.Zone),
	}
	if s.site.cfg.Undo != nil {
		h.Changes = len(r.Changes)
		h.CanUndo = h.Changes > 0 && engine.CheckUndo(r) == nil
	}
	if r.Failure != nil {
		h.Hint = r.Failure.Hint
	}
	for _, p := range r.Decisions {
		h.Decisions = append(h.Decisions, fmt.Sprintf("item %d, %s: %s", p.Item, p.What(), p.Outcome(s.site.cfg.Zone)))
	}
	if r.Trigger.Import != "" {
		h.ImportLink = importURL(r.Trigger.Import)
	}
	if r.Trigger.Parent != "" {
		h.ParentLink = "/runs/" + r.Trigger.Parent
	}
	return h
}

func (s runPages) stepRow(ctx context.Context, r engine.StepRecord) stepRow {
	row := stepRow{Name: r.Step, Model: r.Model, workRow: s.workRow(r.WorkRecord), Inputs: r.Inputs}
	if r.Answered != r.Model {
		row.By = r.Answered
	}
	if n := r.Usage.InputTokens; n > 0 {
		row.InputUse, row.OutputUse = number(n), number(r.Usage.OutputTokens)
	}
	row.Undone = len(r.Changes) > 0 && r.Changes[0].Tool == "undo"
	row.Answer, row.Cut = s.answer(ctx, r.Answer)
	row.Receipt = s.receipt(ctx, r.WorkRecord)
	row.Batches, row.MoreBatches = s.batchRows(ctx, r.Batches)
	if len(r.Batches) > 0 { // each is shown with its batch
		row.Inputs, row.Left, row.Defused, row.Marked, row.Sent, row.Differences = nil, nil, nil, nil, "", nil
	}
	return row
}

// answer returns the text of an answer; cut reports whether only its beginning is shown.
func (s runPages) answer(ctx context.Context, digest string) (text string, cut bool) {
	data := s.blob(ctx, digest)
	if len(data) > shownAnswer {
		data, cut = data[:shownAnswer], true
		for len(data) > 0 && !utf8.RuneStart(data[len(data)-1]) {
			data = data[:len(data)-1]
		}
	}
	return strings.ToValidUTF8(string(data), "�"), cut
}

// blob reads what a digest names; nil when it is gone, which is no reason to show no page.
func (s runPages) blob(ctx context.Context, digest string) []byte {
	if digest == "" || s.site.cfg.Blobs == nil {
		return nil
	}
	data, err := s.site.cfg.Blobs.Get(ctx, digest)
	if err != nil {
		s.site.cfg.Logger.Debug("blob not read", "digest", digest, "err", err)
		return nil
	}
	return data
}

// receipt is what the dashboard reads of a prompt's receipt.
type receipt struct {
	Chunks []chunk `json:"chunks"`
	Totals struct {
		Chunks, References, Sent, Deferred, Tokens int
	} `json:"totals"`
	Limits []struct {
		Key   string  `json:"key"`
		Value float64 `json:"value"`
		Used  float64 `json:"used"`
		From  string  `json:"from"`
	} `json:"limits"`
	More int `json:"-"` // chunks that are not shown
}

type chunk struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Fate   string `json:"fate"`
	Reason string `json:"reason"`
	Source struct {
		Note     string `json:"note"`
		Variable string `json:"variable"`
		Lines    [2]int `json:"lines"`
	} `json:"source"`
	Text      string `json:"text"`
	Target    string `json:"target"`
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Width     int    `json:"width"`
	Height    int    `json:"height"`
	Size      int64  `json:"size"`
	Tokens    int    `json:"tokens"`

	Why   omission.Why `json:"omission"`
	Thumb string       `json:"-"` // where its picture is served; empty when none is shown
}

// thumb is where the chunk's picture is served, if it is one and still there.
func (s runPages) thumb(c chunk) string {
	if c.Kind != "image" || !rasters[c.MediaType] || !showable(c.Name) {
		return ""
	}
	if info, err := fs.Stat(s.site.cfg.FS, c.Name); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return mediaURL(c.Name)
}

// lose says of a picture or document that was to be sent why it was not.
func (c *chunk) lose(left []engine.LeftOut) {
	for _, l := range left {
		if c.Why.IsZero() && c.Name != "" && c.Name == l.File && l.Pages == "" && l.Note == c.Source.Note && l.Line == c.Source.Lines[0] {
			c.Fate, c.Reason, c.Why = "not sent", l.What, l.Why
		}
	}
}

// Class colours the fate.
func (c chunk) Class() string {
	switch c.Fate {
	case "sent":
		return "good"
	case "resized", "converted", "deduplicated", "reference":
		return "quiet"
	case "missing", "refused", "not sent":
		return "bad"
	}
	return "warn"
}

// Lines are the lines of the note that hold the chunk.
func (c chunk) Lines() string {
	first, last := c.Source.Lines[0], c.Source.Lines[1]
	switch {
	case first <= 0:
		return ""
	case first == last:
		return fmt.Sprintf("line %d", first)
	}
	return fmt.Sprintf("lines %d–%d", first, last)
}

// Bytes is the size of the picture as text.
func (c chunk) Bytes() string { return size(c.Size) }

// Excerpt is the beginning of a text.
func (c chunk) Excerpt() string {
	const most = 160
	text := strings.Join(strings.Fields(c.Text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// receipt reads the receipt of a work. What the service refused, or could not be loaded any more, was lost after the receipt was made:
// the record has it.
func (s runPages) receipt(ctx context.Context, work engine.WorkRecord) *receipt {
	digest := work.Receipt
	data := s.blob(ctx, digest)
	if len(data) == 0 || len(data) > maxReceipt {
		return nil
	}
	var r receipt
	if err := json.Unmarshal(data, &r); err != nil {
		s.site.cfg.Logger.Warn("receipt not read", "digest", digest, "err", err)
		return nil
	}
	if len(r.Chunks) > shownChunks {
		r.More = len(r.Chunks) - shownChunks
		r.Chunks = r.Chunks[:shownChunks]
	}
	for i := range r.Chunks {
		r.Chunks[i].Thumb = s.thumb(r.Chunks[i])
		r.Chunks[i].lose(work.LeftOut)
	}
	return &r
}

type eventRow struct {
	At                  string
	ISO                 string
	Kind, Step, Message string
	Class               string
}

func (s runPages) eventParts(ctx context.Context, id string) ([]part, error) {
	list, err := s.site.cfg.Runs.Events(ctx, id, 0, 1000)
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, e := range list[max(0, len(list)-shownEvents):] {
		p, err := s.site.pages.part("events", fmt.Sprint(e.Seq), "", "event", s.eventRow(e))
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// warned are the kinds of events about trouble that did not end the run.
var warned = []string{engine.EventWarning, engine.EventRetry, engine.EventOverflow, engine.EventRewrite, engine.EventUnseen, engine.EventBlocked}

func (s runPages) eventRow(e engine.Event) eventRow {
	at := e.Time.In(s.site.cfg.Zone)
	row := eventRow{At: at.Format("15:04:05"), ISO: at.Format("2006-01-02T15:04:05Z07:00"), Kind: e.Kind, Step: e.Step, Message: e.Message}
	var words []string
	if e.Batch > 0 {
		words = append(words, fmt.Sprintf("batch %d", e.Batch))
	}
	if e.Name != "" {
		words = append(words, e.Name)
	}
	if e.Pages > 0 {
		words = append(words, fmt.Sprintf("page %d of %d", e.Page, e.Pages))
	}
	if e.Status != "" {
		words = append(words, strings.ReplaceAll(string(e.Status), "_", " "))
	}
	if e.State != "" {
		words = append(words, strings.ReplaceAll(string(e.State), "_", " "))
	}
	if e.Message != "" {
		words = append(words, e.Message)
	} else if e.Failure != nil {
		words = append(words, e.Failure.Message)
	}
	row.Message = strings.Join(words, " · ")
	switch {
	case slices.Contains(warned, e.Kind):
		row.Class = "warn"
	case e.Failure != nil:
		row.Class = "bad"
	}
	return row
}

// retries are the ways to retry a run from its page.
type retries struct {
	CanRetry bool
	Lost     int    // batches that can be retried alone
	Stale    string // a warning if the workflow has changed since
}

func (s runPages) retries(ctx context.Context, r engine.RunRecord) retries {
	if s.site.cfg.Control == nil || !r.Status.Finished() {
		return retries{}
	}
	can := retries{CanRetry: r.Status.Incomplete(), Lost: r.Lost()}
	if s.site.cfg.Stale != nil && (can.CanRetry || can.Lost > 0) {
		can.Stale = s.site.cfg.Stale(ctx, r)
	}
	return can
}

// again returns the run's id if it can be rerun from a step, or ""; see engine.RetryFrom.
func (s runPages) again(r engine.RunRecord, step engine.StepRecord) string {
	failed := func(before engine.StepRecord) bool { return before.Index < step.Index && before.Status.Incomplete() }
	if s.site.cfg.Control == nil || r.Kind != engine.KindWorkflow || !r.Status.Finished() || slices.ContainsFunc(r.Steps, failed) {
		return ""
	}
	return r.ID
}
