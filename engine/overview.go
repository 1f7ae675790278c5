package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/cost"
)

// Overview is the state of a vault: `status`, the first page of the dashboard and the status note show the same one. Its
// type in machine output is "status".
type Overview struct {
	Serving   bool           `json:"serving"`           // a serve is running
	URL       string         `json:"url,omitempty"`     // of its dashboard
	Reload    Reload         `json:"reload,omitzero"`   // what the running serve does about changed settings
	Trouble   string         `json:"trouble,omitempty"` // why its runs wait, or why a serve of several vaults cannot serve this one
	Lost      string         `json:"lost,omitempty"`    // what is not known of an earlier history
	Trust     *TrustBrief    `json:"trust,omitempty"`
	Workflows WorkflowCounts `json:"workflows"`
	Day       Period         `json:"day"`
	Month     Period         `json:"month"`
	Next      []SlotRecord   `json:"next"`           // the next one of each workflow, the nearest first
	Last      []SlotRecord   `json:"last"`           // the newest first
	Running   []RunBrief     `json:"running"`        // runs of workflows that have not ended, but for those that wait for approval
	Approvals []RunBrief     `json:"approvals"`      // runs that wait for approval
	Waiting   []FileBrief    `json:"waiting"`        // files of the import folder
	Held      []HeldBrief    `json:"held,omitempty"` // files that wait for a run of a workflow
	Paused    []PauseBrief   `json:"paused"`
	Failures  []RunBrief     `json:"failures"`            // runs that failed and that no later run about the same files made good, and imports of the last week that failed
	Omissions []RunBrief     `json:"omissions,omitempty"` // the same for runs of the last week that are done with something left out
	Unlisted  int            `json:"unlisted,omitempty"`  // failures and omissions beyond the longest list
}

// WorkflowCounts counts the workflows of a vault.
type WorkflowCounts struct {
	All     int `json:"all"`
	Enabled int `json:"enabled"` // and valid
	Invalid int `json:"invalid"`
}

// Period sums up the runs of workflows since a time, and what all calls of models have cost since.
type Period struct {
	Since    time.Time     `json:"since"`
	Runs     int           `json:"runs"`
	Failed   int           `json:"failed"` // of them, those that ended badly
	Skipped  int           `json:"skipped"`
	Spending cost.Spending `json:"spending"`
	Limit    cost.Amount   `json:"limit,omitzero"` // of what the vault may spend in this time; a zero is no bound
}

// RunBrief is a run in a few words.
type RunBrief struct {
	Run         string    `json:"run"`
	Kind        Kind      `json:"kind"`
	Subject     string    `json:"subject"` // workflow, or source of the import
	Status      Status    `json:"status"`
	Reason      string    `json:"reason,omitempty"`
	Since       time.Time `json:"since"`                 // its end, or its beginning when it has not ended
	Interrupted bool      `json:"interrupted,omitempty"` // see RunRecord

	Files []string `json:"files,omitempty"` // what it is about; of a failure those that no later run was about
}

// FileBrief is a file that waits in the import folder.
type FileBrief struct {
	Name   string      `json:"name"`
	State  ImportState `json:"state"`
	Reason string      `json:"reason,omitempty"`
	Since  time.Time   `json:"since"`
	Again  time.Time   `json:"again,omitzero"` // see ImportRecord
}

// Why is [ImportRecord.Why].
func (f FileBrief) Why(zone *time.Location) string {
	return ImportRecord{State: f.State, Reason: f.Reason, Again: f.Again}.Why(zone)
}

// HeldBrief is files that wait for a run of a workflow.
type HeldBrief struct {
	Workflow string    `json:"workflow"`
	Files    []string  `json:"files"`
	Run      string    `json:"run,omitempty"` // that is queued; empty when none was asked for yet
	Reason   string    `json:"reason"`
	Due      time.Time `json:"due,omitzero"` // zero: it depends on other things than the time
	Since    time.Time `json:"since"`
}

// MarshalJSON adds `"type":"held"`.
func (h HeldBrief) MarshalJSON() ([]byte, error) {
	type plain HeldBrief
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{"held", plain(h)})
}

// Why returns the reason with the time: "max_runs_per_day: 2 runs today; due 2026-11-24 00:00".
func (h HeldBrief) Why(zone *time.Location) string {
	if h.Due.IsZero() {
		return h.Reason
	}
	return h.Reason + h.Due.In(zone).Format("; due 2006-01-02 15:04")
}

// PauseBrief is a workflow that does not fire by itself for now.
type PauseBrief struct {
	Workflow string `json:"workflow"`
	Reason   string `json:"reason"`
}

// Brief is the run in a few words.
func (r RunRecord) Brief() RunBrief {
	b := RunBrief{Run: r.ID, Kind: r.Kind, Subject: r.Workflow, Status: r.Status, Reason: r.Reason, Since: r.Finished, Files: r.Trigger.Files}
	if b.Since.IsZero() {
		b.Since = r.Created
	}
	return b
}

// Title returns the run's workflow or import with the files that it is about: "Plan, about Inbox/a.md".
func (r RunBrief) Title() string {
	if len(r.Files) == 0 {
		return r.Subject
	}
	return r.Subject + ", about " + FileList(r.Files)
}

// FileList names the first files of a list, and how many more there are.
func FileList(files []string) string {
	const most = 3
	if n := len(files) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(files[:most], ", "), n)
	}
	return strings.Join(files, ", ")
}

// MarshalJSON adds `"type":"status"`.
func (o Overview) MarshalJSON() ([]byte, error) {
	type plain Overview
	o.Next, o.Last, o.Running, o.Approvals = orNone(o.Next), orNone(o.Last), orNone(o.Running), orNone(o.Approvals)
	o.Waiting, o.Paused, o.Failures = orNone(o.Waiting), orNone(o.Paused), orNone(o.Failures)
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{"status", plain(o)})
}
