package ingestion

import (
	"path"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
)

// Job is a file to import, and how. It is data: the engine keeps it in its journal.
type Job struct {
	ID       string          `json:"id"`
	Source   string          `json:"source"`             // vault name at which the file arrived
	Where    string          `json:"where,omitempty"`    // vault name at which it is now, if that differs
	SHA256   string          `json:"sha256"`             // lower-case hex
	Size     int64           `json:"size"`               // bytes
	Declared string          `json:"declared,omitempty"` // media type that came with the file, if any
	Mode     string          `json:"mode,omitempty"`     // replaces Settings.PDF.Mode
	Again    bool            `json:"again,omitempty"`    // import although the same bytes were imported with the same settings
	Mend     string          `json:"mend,omitempty"`     // bundle of this import: make the pages that it lacks, and put them into it
	At       time.Time       `json:"at"`                 // when it began, in the time zone of the note
	Settings config.Settings `json:"settings"`
	Route    filetype.Route  `json:"route,omitzero"` // set after Classify
}

// at returns the vault name of the bytes.
func (j Job) at() string {
	if j.Where != "" {
		return j.Where
	}
	return j.Source
}

// settings returns the job's settings with defaults and the job's own mode.
func (j Job) settings() config.Settings {
	s := j.Settings.Applied()
	if j.Mode != "" {
		s.PDF.Mode = j.Mode
	}
	return s
}

// started returns when the import began.
func (j Job) started(rec documentRecord) time.Time {
	if j.At.IsZero() {
		return rec.Started
	}
	return j.At
}

// Hash returns the digest of the settings that shape this job's result, its own mode included.
func (j Job) Hash() string { return j.settings().Hash() }

// base is the file's own name.
func (j Job) base() string { return path.Base(j.Source) }

// State is how an import ended.
type State string

// The states of an import.
const (
	StateDone          State = "done"
	StatePartial       State = "partial"
	StateNeedsPassword State = "needs_password"
	StateFailed        State = "failed"
	StateDuplicate     State = "duplicate"
	StateCancelled     State = "cancelled"
)

// Classified is what Classify found.
type Classified struct {
	Route           filetype.Route `json:"route"`
	Gone            bool           `json:"gone,omitempty"`         // the file is not there, or has changed
	DuplicateOf     string         `json:"duplicate_of,omitempty"` // id of the import that made a bundle of the same bytes
	DuplicateBundle string         `json:"duplicate_bundle,omitempty"`
	Home            string         `json:"home,omitempty"` // bundle to which an archive's note links for the file; one elsewhere is not a duplicate
}

// Extracted is the result of Extract. Digest covers the records of all pages.
type Extracted struct {
	Digest   string   `json:"digest"`
	Pages    int      `json:"pages"`
	Done     int      `json:"done"`
	OCR      int      `json:"ocr,omitempty"`      // pages whose text was recognised
	CostUSD  float64  `json:"cost_usd,omitempty"` // of recognition services, where a price is known
	Failed   []int    `json:"failed,omitempty"`   // pages without a picture or without any content
	Partial  []int    `json:"partial,omitempty"`  // pages whose picture is there and whose text could not be recognised, and those in Lacking and Lost
	Lost     []int    `json:"lost,omitempty"`     // pages of which the file lacks the content or a part of it; no other attempt makes them whole
	NotSeen  []int    `json:"not_seen,omitempty"` // pages that a model was to read and did not: no money was left, or it was not available
	Lacking  []int    `json:"lacking,omitempty"`  // pages below the quality that was asked for, which another attempt may make better
	Damaged  bool     `json:"damaged,omitempty"`  // the file lacks something that has no page of its own, as the warnings say
	Lacks    string   `json:"lacks,omitempty"`    // why the file was not read, if another attempt may read it
	Warnings []string `json:"warnings,omitempty"`
}

// whole reports whether everything in the file was read, and nothing is doubtful: only then may the file be deleted.
func (x Extracted) whole(rec documentRecord) bool {
	return rec.Message == "" && x.Lacks == "" && len(x.Failed)+len(x.Partial)+len(x.Lost)+len(x.NotSeen)+len(x.Lacking)+len(x.Warnings) == 0
}

// Unread returns the pages whose text could not be recognised.
func (x Extracted) Unread() []int {
	return slices.DeleteFunc(slices.Clone(x.Partial), func(n int) bool { return slices.Contains(x.Lacking, n) || slices.Contains(x.Lost, n) })
}

// Published names the bundle.
type Published struct {
	Bundle   string   `json:"bundle"` // vault name of the folder
	Note     string   `json:"note"`
	Previous string   `json:"previous,omitempty"` // where the version before is now
	Warnings []string `json:"warnings,omitempty"`
}

// Ending is how an import ended, for File.
type Ending struct {
	State     State        `json:"state"` // done, partial, duplicate, failed or needs_password
	Bundle    string       `json:"bundle,omitempty"`
	Code      failure.Code `json:"code,omitempty"`
	Message   string       `json:"message,omitempty"`
	Hint      string       `json:"hint,omitempty"`
	Transient bool         `json:"transient,omitempty"` // the original of such a failure stays where it is
}

// Filed names the place of the original.
type Filed struct {
	Name    string `json:"name,omitempty"` // empty if it was removed
	Held    bool   `json:"held,omitempty"` // it is also still where it arrived, until [Importer.PutAway]
	Note    string `json:"note,omitempty"` // the note about why the import failed
	Warning string `json:"warning,omitempty"`
}

// The kinds of events.
const (
	EventRoute   = "route"
	EventPage    = "page"
	EventWarning = "warning"
)

// Event is something that happened to an import. Events are hints for people; nothing depends on their arrival.
type Event struct {
	Import  string          `json:"import"`
	Source  string          `json:"source"`
	Kind    string          `json:"kind"`
	Page    int             `json:"page,omitempty"`         // the page that was finished, from 1
	Pages   int             `json:"pages,omitempty"`        // of the document
	Done    int             `json:"done,omitempty"`         // pages that have a record, those of earlier attempts included
	Failed  int             `json:"failed,omitempty"`       // of these, the ones that failed
	Left    int             `json:"seconds_left,omitempty"` // estimate for the other pages; 0 if unknown
	OCR     bool            `json:"ocr,omitempty"`
	Message string          `json:"message,omitempty"`
	Route   *filetype.Route `json:"route,omitempty"`
}
