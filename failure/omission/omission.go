// Package omission has the causes for which a model gets less than was written, each with what the user can do about it.
package omission

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// Cause is a kind of reason. The list is closed: receipts and records of runs hold these values.
type Cause string

// The causes.
const (
	Missing     Cause = "missing"
	Section     Cause = "no_section"
	Page        Cause = "no_page"
	Unset       Cause = "unset"
	Empty       Cause = "empty"
	Damaged     Cause = "damaged"
	Kind        Cause = "kind"
	Drawing     Cause = "drawing"
	TooLarge    Cause = "too_large"
	Nested      Cause = "nested"
	Embeds      Cause = "embeds"
	Denied      Cause = "denied"
	Encrypted   Cause = "encrypted"
	Worker      Cause = "worker"
	Unreadable  Cause = "unreadable"
	Address     Cause = "address"
	Fetch       Cause = "fetch"
	RemoteLimit Cause = "remote_limit"
	Budget      Cause = "budget"
	Vision      Cause = "no_vision"
	NoText      Cause = "no_text"
	Service     Cause = "service"
	Unsent      Cause = "unsent"
)

// Row is what is said about a cause.
type Row struct {
	Cause  Cause
	Words  string // the reason, where nothing more exact is known
	Remedy string
}

// Table lists the causes.
var Table = []Row{
	{Missing, "not found", "correct the name, or put the file into the vault"},
	{Section, "no such section", "correct the heading or the block after the #"},
	{Page, "there is no such page", "name a page that the document has"},
	{Unset, "the variable has no value", "set it in an earlier step or run"},
	{Empty, "the file is empty (0 bytes)", "replace it with a complete copy, or remove the reference"},
	{Damaged, "the file is damaged", "replace it with an undamaged copy"},
	{Kind, "neither text nor picture nor document", "convert it to a text, a picture or a PDF, or remove the reference"},
	{Drawing, "an Excalidraw drawing without an exported picture beside it", "export the drawing as PNG or SVG beside it"},
	{TooLarge, "the file is too large", "name a smaller file, or divide it"},
	{Nested, "nested too deep", "embed the file in the input itself, or add an @input for it"},
	{Embeds, "too many embeds", "embed fewer files, or divide the input"},
	{Denied, "it may not be read", "allow it in permissions.read of the workflow, or in the permissions of the file"},
	{Encrypted, "it needs a password", "save it without a password, or import it with its password"},
	{Worker, "the worker is missing", "`vaultflow doctor` shows how to get the worker"},
	{Unreadable, "it cannot be read", "open it in another program and save it again"},
	{Address, "such addresses are not read", "save the picture in the vault"},
	{Fetch, "it could not be fetched", "save the picture in the vault, or run again when its server answers"},
	{RemoteLimit, "too many remote pictures", "raise policy.remote_images.max_per_step, or save the pictures in the vault"},
	{Budget, "a budget is used up", "raise the budget, or select less"},
	{Vision, "the model has no vision, and the picture no text", "choose a model with vision (@model), or import the picture, so that its text is recognised"},
	{NoText, "it has no text", "import the file, so that its text is recognised, or show its pictures to a model with vision"},
	{Service, "the service refused the request", "set limits of the alias in the settings, or choose another model"},
	{Unsent, "it could not be loaded while the request was sent", "run again"},
}

// row returns the row of a cause. That of an unknown one, of a later version, has no words.
func row(c Cause) Row {
	for _, r := range Table {
		if r.Cause == c {
			return r
		}
	}
	return Row{Cause: c}
}

// Why is why the model gets less of something than was written. Only this package makes one, so each has a cause; the zero
// value means that nothing is lost.
type Why struct {
	cause  Cause
	remedy string // instead of that of the table
}

// Of returns a Why of a cause. It panics for one that the table does not have.
func Of(c Cause) Why {
	if row(c).Words == "" {
		panic("omission: no such cause: " + string(c))
	}
	return Why{cause: c}
}

// Over returns a Why for a budget that is used up, by its key. service names the service that set it; it is empty for a limit of the user.
func Over(key, service string) Why {
	if service != "" {
		return Why{Budget, "select less, or choose a model that accepts more than " + service + " does here"}
	}
	return Why{Budget, "raise " + key + ", or select less"}
}

// IsZero reports whether nothing is lost.
func (w Why) IsZero() bool { return w == Why{} }

// Cause returns the cause, "" of the zero value.
func (w Why) Cause() Cause { return w.cause }

// Words returns the reason, where nothing more exact is known.
func (w Why) Words() string { return row(w.cause).Words }

// Remedy returns what the user can do.
func (w Why) Remedy() string {
	if w.remedy != "" {
		return w.remedy
	}
	return row(w.cause).Remedy
}

// stored is the JSON form of a Why.
type stored struct {
	Cause  Cause  `json:"cause"`
	Remedy string `json:"remedy"`
}

// MarshalJSON writes the cause and the remedy.
func (w Why) MarshalJSON() ([]byte, error) { return json.Marshal(stored{w.cause, w.Remedy()}) }

// UnmarshalJSON reads what MarshalJSON wrote. The remedy stays the one that was said.
func (w *Why) UnmarshalJSON(data []byte) error {
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("read a cause: %w", err)
	}
	if *w = (Why{s.Cause, s.Remedy}); s.Cause == "" {
		*w = Why{}
	} else if s.Remedy == row(s.Cause).Remedy {
		w.remedy = ""
	}
	return nil
}

// Error is an error with its cause.
type Error struct {
	Cause Cause
	Err   error
}

// Wrap returns an error with a cause, or nil without an error.
func Wrap(c Cause, err error) error {
	if err == nil {
		return nil
	}
	return &Error{c, err}
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error without its cause.
func (e *Error) Unwrap() error { return e.Err }

// From returns why something is lost that ended with an error: by the cause that the error has, or by what file systems say.
func From(err error) Why {
	var e *Error
	switch {
	case errors.As(err, &e):
		return Of(e.Cause)
	case errors.Is(err, fs.ErrNotExist):
		return Of(Missing)
	case errors.Is(err, fs.ErrPermission):
		return Of(Denied)
	}
	return Of(Unreadable)
}
