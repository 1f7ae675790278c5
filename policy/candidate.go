package policy

import "fmt"

// ImageMode is the `images=` parameter of an input.
type ImageMode string

// The modes. The empty mode is Auto.
const (
	Auto     ImageMode = "auto"     // attach what fits; a model without vision gets text
	Ignore   ImageMode = "ignore"   // attach nothing
	Required ImageMode = "required" // a model without vision is an error
)

// Candidate is a reference to a picture, in the order of the prompt. Size is in bytes, Width and Height in pixels as
// displayed; zero means not known.
type Candidate struct {
	ID        string // chunk id
	Name      string // vault name, or the URL of a remote one; empty when nothing was found
	SHA256    string
	MediaType string
	Width     int
	Height    int
	Size      int64
	Mode      ImageMode // of the input it stands in; empty means the mode given to Decide
	Missing   bool      // the target was not found
	Remote    bool      // a URL; one that was fetched under the remote policy has a SHA256
	Problem   string    // why it cannot be a picture: "not an image", "corrupt: …"
}

// Fate is what becomes of a reference. The words are those of the receipt.
type Fate string

// The fates.
const (
	Sent         Fate = "sent"         // attached
	Resized      Fate = "resized"      // attached after scaling or encoding again
	Omitted      Fate = "omitted"      // left out: a comment, or dropped by when_exceeded
	Converted    Fate = "converted"    // its text stands in its place
	Deduplicated Fate = "deduplicated" // the same picture is there already
	Deferred     Fate = "deferred"     // over budget, can be asked for
	Reference    Fate = "reference"    // stays a reference
	Missing      Fate = "missing"      // not found
	Refused      Fate = "refused"      // not a picture, corrupt, too many pixels
)

// Attached tells whether the picture's bytes are in the prompt.
func (f Fate) Attached() bool { return f == Sent || f == Resized }

// Decision is the fate of one candidate.
type Decision struct {
	ID     string
	Fate   Fate
	Reason string // in words; empty for a plain Sent
	Same   int    // for Deduplicated: which candidate holds the picture, counted from 1
	Width  int    // as it is sent; for attached ones
	Height int
	Bytes  int64  // estimated size as it is sent, before base64
	Tokens int    // estimated
	Bound  string // the key of the budget that held it back
}

// CapabilityError says that a model lacks what the workflow requires.
type CapabilityError struct {
	Need Capability
	ID   string // the first chunk that needs it
}

// Error implements error.
func (e *CapabilityError) Error() string {
	return fmt.Sprintf("images=required, but the model has no %s (first image: %s)", e.Need, e.ID)
}

// Hint says what to do.
func (e *CapabilityError) Hint() string {
	return "choose a model with vision (@model), set capabilities: {vision: true} for the alias if it has it, or use images=auto"
}

// ExceededError says that a budget with when_exceeded=fail does not hold all images.
type ExceededError struct {
	Key    string // of the budget
	From   string // who bound it
	ID     string // the first chunk that does not fit
	Reason string
}

// Error implements error.
func (e *ExceededError) Error() string {
	return fmt.Sprintf("image %s does not fit the budget: %s (%s from %s, when_exceeded=fail)", e.ID, e.Reason, e.Key, e.From)
}

// Hint says what to do.
func (e *ExceededError) Hint() string {
	return "raise " + e.Key + ", select fewer files, or set when_exceeded: defer"
}
