// Package control is how commands reach the process that holds a vault: orders and replies over a socket in the state
// directory that only the user can open.
package control

import (
	"encoding/base64"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// Order asks the working process for one thing: one field is set, besides Passwords, Values and From.
type Order struct {
	Run    *RunOrder    `json:"run,omitempty"`
	Import *ImportOrder `json:"import,omitempty"`
	Cancel string       `json:"cancel,omitempty"` // run
	Retry  string       `json:"retry,omitempty"`  // run

	Dismiss string `json:"dismiss,omitempty"` // run
	Unpause string `json:"unpause,omitempty"` // name of a workflow
	Own     string `json:"own,omitempty"`     // name of a file whose content becomes the user's own

	Approve *ApproveOrder    `json:"approve,omitempty"`
	From    engine.RetryFrom `json:"from,omitzero"`  // goes with Retry
	Undo    string           `json:"undo,omitempty"` // run

	// Passwords are for the documents that the order imports. The working process keeps them in memory only.
	Passwords []string `json:"passwords,omitempty"`

	// Values are the settings that the command was given by environment, flag or a file of its own, by key.
	Values map[string]Given `json:"values,omitempty"`

	Look bool `json:"look,omitempty"` // only for what every reply says
	Info bool `json:"info,omitempty"`

	// Vault is the folder that Info is about, for a serve of several vaults.
	Vault string `json:"vault,omitempty"`

	Trust bool `json:"trust,omitempty"` // the trust in the vault has changed
}

// Given is the value of a setting that only one process has.
type Given struct {
	Value string `json:"value"` // as it would be written; secrets are ***
	From  string `json:"from"`  // where it is from, for people
}

// Starts reports whether something begins with the order, which must begin with the present settings.
func (o Order) Starts() bool {
	return o.Run != nil || o.Import != nil || o.Retry != "" || o.Approve != nil || o.Undo != ""
}

// RunOrder asks for a workflow run.
type RunOrder struct {
	Workflow string            `json:"workflow"`
	Files    []string          `json:"files,omitempty"` // what the run is about, by their names in the vault
	Steps    []string          `json:"steps,omitempty"`
	Vars     map[string]string `json:"vars,omitempty"`
	Model    string            `json:"model,omitempty"`
	Fresh    bool              `json:"fresh,omitempty"`
}

// ImportHow overrides settings for one import.
type ImportHow struct {
	Mode      string   `json:"mode,omitempty"`
	Languages []string `json:"languages,omitempty"`
	Pages     string   `json:"pages,omitempty"`

	RedoOCR      bool  `json:"redo_ocr,omitempty"`
	RetainImages *bool `json:"retain_ocr_images,omitempty"`
}

// ImportOrder asks for a file to be copied into the import folder and imported.
type ImportOrder struct {
	Path OSPath `json:"path"`          // absolute
	URL  string `json:"url,omitempty"` // fetched instead of Path
	Name string `json:"name"`          // need not be text, or a name that a vault can hold
	ImportHow
	Walked bool `json:"walked,omitempty"` // found in a folder: clutter is skipped silently
}

// OSPath is a path of the operating system. It crosses the socket in base64, because JSON strings must be UTF-8.
type OSPath string

// MarshalText implements encoding.TextMarshaler.
func (p OSPath) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, []byte(p)), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *OSPath) UnmarshalText(text []byte) error {
	path, err := base64.StdEncoding.AppendDecode(nil, text)
	*p = OSPath(path)
	return err
}

// Reply is the working process's answer to an Order.
type Reply struct {
	Run     string           `json:"run,omitempty"`
	URL     string           `json:"url,omitempty"`  // of the dashboard
	Link    string           `json:"link,omitempty"` // signs one browser in
	Expires time.Time        `json:"expires,omitzero"`
	Version string           `json:"version,omitempty"`
	Process int              `json:"process,omitempty"` // its id
	Trouble string           `json:"trouble,omitempty"` // see [engine.Overview]
	Was     string           `json:"was,omitempty"`     // why a workflow was paused
	Trust   string           `json:"trust,omitempty"`   // fingerprint of the trust in force
	Reload  engine.Reload    `json:"reload,omitzero"`   // what serve does about changed settings
	Given   map[string]Given `json:"given,omitempty"`   // the values that serve was given
	Again   bool             `json:"again,omitempty"`   // nothing was done: serve starts over first, so repeat the order
	Failure *failure.Error   `json:"failure,omitempty"`
	Class   Class            `json:"class,omitempty"` // of a refusal
}

// ApproveOrder is a decision about proposed changes of a run.
type ApproveOrder struct {
	Run    string  `json:"run"`
	Items  []int   `json:"items,omitempty"` // none means all that are pending
	Reject bool    `json:"reject,omitempty"`
	Reason string  `json:"reason,omitempty"`
	Edited *[]byte `json:"edited,omitempty"` // replaces the proposed content
}

// MaxEdited is the largest content that may replace a proposed one, in bytes.
const MaxEdited = 16 << 20
