package policy

import (
	"fmt"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/omission"
)

// ImageMode is the `images=` parameter of an input.
type ImageMode string

// The modes. The empty mode is Auto.
const (
	Auto     ImageMode = "auto"     // attach what fits; a model without vision gets text
	Ignore   ImageMode = "ignore"   // attach nothing
	Required ImageMode = "required" // a model without vision is an error
)

// What a candidate is.
const (
	Picture      = ""         // a picture, or the picture of a page
	PageText     = "text"     // the text of a page, or a part of it; no capability is needed
	PageDocument = "document" // a whole file with pages, for a model that reads such files itself
)

// Candidate is a reference to a picture, or something else that is attached as a whole, in the order of the prompt. Size is
// in bytes, Width and Height in pixels as displayed; zero means unknown.
type Candidate struct {
	ID        string // chunk id
	Kind      string // Picture, PageText or PageDocument
	Number    int    // the picture's number in the prompt; 0: its index among the candidates, from 1
	Name      string // vault name, or the URL of a remote one; empty if nothing was found
	SHA256    string
	MediaType string
	Width     int
	Height    int
	Size      int64
	Mode      ImageMode // of its input; empty means the mode passed to Decide
	Missing   bool      // the target was not found
	Remote    bool      // a URL; a fetched one has a SHA256
	Problem   string    // why it is not shown, in words: "not an image", "corrupt: …"; or why a remote one was not fetched

	// Why goes with Problem. A remote picture without it is excluded by the settings; any other problem has a cause.
	Why omission.Why

	Page     string // key of the document page it shows; a page counts once, however many candidates show it
	Pages    int    // of a PageDocument: its number of pages
	Tokens   int    // of a PageText: estimated
	Replaces bool   // of a PageText: it replaces the picture of the page, for a model without vision
	Cut      string // why the prompt was cut here, if it was; it gets no budget
	Unread   bool   // a picture that was not examined, because others fill the budget; it gets none
}

// Fate is what happens to a reference, in the words of the receipt.
type Fate string

// The fates.
const (
	Sent         Fate = "sent"         // attached
	Resized      Fate = "resized"      // attached after scaling or encoding again
	Omitted      Fate = "omitted"      // left out: a comment, or dropped by when_exceeded
	Converted    Fate = "converted"    // replaced by its text
	Deduplicated Fate = "deduplicated" // the same picture is already attached
	Deferred     Fate = "deferred"     // over budget, can be requested
	Reference    Fate = "reference"    // remains a reference
	Missing      Fate = "missing"      // not found
	Refused      Fate = "refused"      // not a picture, corrupt, too many pixels
)

// Attached reports whether the picture's bytes are in the prompt.
func (f Fate) Attached() bool { return f == Sent || f == Resized }

// Decision is the fate of one candidate.
type Decision struct {
	ID     string
	Fate   Fate
	Reason string       // in words; empty for a plain Sent
	Why    omission.Why // the model gets less than was written; zero if it does not, or if a setting or parameter excludes it
	Same   int          // for Deduplicated: the number of the candidate with the picture
	Width  int          // as sent; for attached ones
	Height int
	Bytes  int64  // estimated size as sent, before base64
	Tokens int    // estimated
	Bound  string // the budget key that excluded it
	Step   Step   // of the ladder; empty: it is shown as requested
}

// Step is a step of the ladder: what is shown of something that has no room, or that the model cannot see.
type Step string

// The steps, from the top.
const (
	StepSmaller Step = "smaller picture"
	StepText    Step = "text"
	StepLine    Step = "line"
	StepRange   Step = "range"
)

// CapabilityError reports that a model lacks what the workflow requires.
type CapabilityError struct {
	Need Capability
	ID   string // the first chunk that needs it
}

// Error implements error.
func (e *CapabilityError) Error() string {
	return fmt.Sprintf("images=required, but the model has no %s (first image: %s)", e.Need, e.ID)
}

var _ failure.Reporter = (*CapabilityError)(nil)

// Failure implements [failure.Reporter].
func (e *CapabilityError) Failure() failure.Error {
	return failure.Error{Hint: e.Hint()}
}

// Hint returns advice for the user.
func (e *CapabilityError) Hint() string {
	return "choose a model with vision (@model), set capabilities: {vision: true} for the alias if the model has it, or use images=auto"
}

// ExceededError reports that something does not fit a budget with when_exceeded=fail, or cannot be left out.
type ExceededError struct {
	Key    string // of the budget
	From   string // who bound it
	ID     string // the first chunk that does not fit, or what it is
	Reason string
	Fixed  bool // no when_exceeded would help: instructions and the step's own text are too long
	Needed bool // a picture of an input with images=required
}

// Error implements error.
func (e *ExceededError) Error() string {
	if e.Fixed {
		return fmt.Sprintf("%s does not fit the budget: %s (%s from %s)", e.ID, e.Reason, e.Key, e.From)
	}
	if e.Needed {
		return fmt.Sprintf("%s does not fit the budget: %s (%s from %s, images=required)", e.ID, e.Reason, e.Key, e.From)
	}
	return fmt.Sprintf("%s does not fit the budget: %s (%s from %s, when_exceeded=fail)", e.ID, e.Reason, e.Key, e.From)
}

var _ failure.Reporter = (*ExceededError)(nil)

// Failure implements [failure.Reporter].
func (e *ExceededError) Failure() failure.Error {
	return failure.Error{Hint: e.Hint()}
}

// Hint returns advice for the user.
func (e *ExceededError) Hint() string {
	if e.Fixed {
		return "raise " + e.Key + ", write shorter instructions, or choose a model with a larger window"
	}
	if e.Needed {
		return "raise " + e.Key + ", select fewer files or pages, or write images=auto, which shows the text of pictures that do not fit"
	}
	return "raise " + e.Key + ", select fewer files, or set when_exceeded: ladder"
}
