// Package statusnote keeps a note of the vault current that shows the vault's status.
package statusnote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	notes "github.com/vaultflow/vaultflow/note"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

const (
	// Begins and Ends are the marks between which the status note is ours. Obsidian does not show them.
	Begins = "%% vaultflow: everything up to the next mark is replaced when something changes %%"
	Ends   = "%% vaultflow: end %%"
	// former is how the first mark of older notes starts.
	former = "%% vaultflow: what stands up to the next mark "
	// noteLimit is the largest note that is kept current, in bytes.
	noteLimit = 1 << 20
	// noteEvery is how often the note is looked at when nothing is heard: slots pass, and days begin.
	noteEvery = time.Minute
)

// noteProperties are the properties of the status note, in their order. Null removes one.
type noteProperties struct {
	NextRun      *string           `json:"next_run"`
	NextWorkflow *string           `json:"next_workflow"`
	LastRun      *string           `json:"last_run"`
	LastWorkflow *string           `json:"last_workflow"`
	LastState    *engine.SlotState `json:"last_state"`
	RunsToday    int               `json:"runs_today"`
	FailedToday  int               `json:"failed_today"`
	CostToday    float64           `json:"cost_today_usd"`
	CostMonth    float64           `json:"cost_month_usd"`
	BudgetMonth  *float64          `json:"budget_month_usd"`
	TokensMonth  int64             `json:"tokens_month"`
	Waiting      int               `json:"files_waiting"`
	Approvals    int               `json:"approvals"`
	Failures     int               `json:"failures"`
	Paused       []string          `json:"paused"`
	Invalid      int               `json:"invalid_workflows"`
	Updated      string            `json:"updated,omitempty"` // only when something else has changed
}

// noteTime is how Obsidian writes a date with a time.
const noteTime = "2006-01-02T15:04:05"

func propertiesOf(o engine.Overview, zone *time.Location) noteProperties {
	p := noteProperties{
		RunsToday: o.Day.Runs, FailedToday: o.Day.Failed, CostToday: rounded(o.Day.Spending.Cost.USD), CostMonth: rounded(o.Month.Spending.Cost.USD),
		TokensMonth: o.Month.Spending.Cost.Tokens, Waiting: len(o.Waiting), Approvals: len(o.Approvals), Failures: len(o.Failures),
		Paused: []string{}, Invalid: o.Workflows.Invalid,
	}
	for _, h := range o.Held {
		p.Waiting += len(h.Files)
	}
	if limit := o.Month.Limit.USD; limit > 0 {
		p.BudgetMonth = &limit
	}
	for _, paused := range o.Paused {
		p.Paused = append(p.Paused, paused.Workflow)
	}
	if len(o.Next) > 0 {
		at := o.Next[0].Slot.In(zone).Format(noteTime)
		p.NextRun, p.NextWorkflow = &at, &o.Next[0].Workflow
	}
	if len(o.Last) > 0 {
		last, at := &o.Last[0], o.Last[0].Slot.In(zone).Format(noteTime)
		p.LastRun, p.LastWorkflow, p.LastState = &at, &last.Workflow, &last.State
	}
	return p
}

// rounded is an amount of dollars without digits that nobody needs.
func rounded(usd float64) float64 { return float64(int64(usd*1e4+0.5)) / 1e4 }

// Note keeps the status note current.
type Note struct {
	Settings  *settings.Settings
	Vault     *disk.Vault
	Files     vault.Files // writes the status note
	Subscribe func(buffer int) (<-chan engine.Event, func())
	Overview  func(context.Context) (engine.Overview, error)
	Zone      *time.Location
	Log       *slog.Logger
}

// Run updates the status note until ctx ends: after each change of a run or an import, and every minute. If it cannot be written,
// that is logged once, and tried again.
func (n *Note) Run(ctx context.Context) error {
	name := n.Settings.Engine.StatusNote
	if name == "" {
		return nil
	}
	events, stop := n.Subscribe(64)
	defer stop()
	beat := time.NewTicker(noteEvery)
	defer beat.Stop()
	soon := time.NewTimer(0)
	defer soon.Stop()
	told := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, open := <-events:
			if !open {
				return nil
			}
			if changesNote(e) {
				soon.Reset(n.Settings.Watch.Debounce.Std()) // an import of a folder is many changes
			}
			continue
		case <-beat.C:
		case <-soon.C:
		}
		said := ""
		if err := n.write(ctx, name, time.Now()); err != nil && ctx.Err() == nil {
			if said = err.Error(); said != told {
				n.Log.Warn("status note not written", "name", name, "err", err)
			}
		}
		told = said
	}
}

// changesNote reports whether an event may change the status note.
func changesNote(e engine.Event) bool {
	return e.Kind == engine.EventRun && (e.Status.Finished() || e.Status == engine.AwaitingApproval) || e.Kind == engine.EventImport || e.Kind == engine.EventLost
}

// write brings the note up to date. Nothing is written when it is.
func (n *Note) write(ctx context.Context, name string, now time.Time) error {
	o, err := n.Overview(ctx)
	if err != nil {
		return err
	}
	before, digest, err := n.Vault.Read(name, noteLimit)
	if errors.Is(err, fs.ErrNotExist) {
		before, digest, err = nil, "", nil
	}
	if err != nil {
		return err
	}
	properties := propertiesOf(o, n.Zone)
	section := writeNote(o, n.Zone, n.Settings.Vault.WorkflowsDir)
	note, err := renewNote(before, properties, section)
	if err != nil || bytes.Equal(note, before) {
		return err
	}
	properties.Updated = now.In(n.Zone).Format(noteTime)
	if note, err = renewNote(before, properties, section); err != nil {
		return err
	}
	return n.Files.Write(ctx, name, note, digest)
}

// unserved begins the line of a note whose vault is not served.
const unserved = "Not served, and tried again: "

// Unserved writes at the head of the section why the vault is not served. The rest stays as it was. A vault without a status note gets none.
func Unserved(ctx context.Context, v *disk.Vault, files vault.Files, name string, why error) error {
	before, digest, err := v.Read(name, noteLimit)
	if err != nil {
		return err
	}
	note := saysUnserved(before, why)
	if bytes.Equal(note, before) {
		return nil
	}
	return files.Write(ctx, name, note, digest)
}

func saysUnserved(note []byte, why error) []byte {
	head, rest, ours := bytes.Cut(note, []byte(Begins+"\n"))
	if !ours {
		return note
	}
	if bytes.HasPrefix(rest, []byte(unserved)) {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	return slices.Concat(head, []byte(Begins+"\n"+unserved+plainText(why.Error())+". What follows is from before.\n"), rest)
}

// renewNote puts properties and section into a note. All else in it is a person's, and stays. A note without our marks gets
// the section at its end; so does one with only one of them, because nobody knows what of it is ours.
func renewNote(text []byte, p noteProperties, section string) ([]byte, error) {
	properties, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if text, err = notes.SetProperties(text, string(properties), nil); err != nil {
		return nil, fmt.Errorf("its properties: %w", err)
	}
	ours := []byte(Begins + "\n" + section + Ends)
	for _, mark := range []string{Begins, former} {
		begin := bytes.Index(text, []byte(mark))
		if begin < 0 {
			continue
		}
		if n := bytes.Index(text[begin:], []byte(Ends)); n >= 0 {
			return append(append(bytes.Clone(text[:begin]), ours...), text[begin+n+len(Ends):]...), nil
		}
	}
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	return append(append(text, ours...), '\n'), nil
}
