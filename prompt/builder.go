package prompt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/policy"
)

// Builder holds what prompts are made from. Only FS is needed; it may be used by several goroutines when its parts may.
type Builder struct {
	FS fs.FS
	// Links resolves targets. Nil: a target is a vault name or a name beside the note.
	Links Links
	// Probe reads the header of a picture, without decoding it. An error says in words why the file is no picture that
	// can be shown ("not an image"); one that is fs.ErrNotExist counts as missing. Nil: no file is a picture.
	Probe func(name string) (Picture, error)
	// Fallbacks gives the text that was recognised in a picture earlier, or "". Nil: none.
	Fallbacks func(name string) string
	// Documents reads PDF and office files. Nil: they are named and not shown.
	Documents Documents
	// Remote gives a picture of the web under the remote policy: it is fetched, decoded and encoded again, and kept as a
	// blob. An error says in words why there is none; errors.Is(err, ErrNotFetched) leaves the reference as it is, without
	// a warning. It is called only for references that the local pictures leave room for. Nil: nothing is ever fetched.
	Remote func(ctx context.Context, url string) (RemotePicture, error)
	// Nonce gives letters and digits that nobody can guess. Nil: 16 random hexadecimal digits.
	Nonce func() string
	// ImportedDir is where imports land; what is below is untrusted unless the input says otherwise. "" is "Imported".
	ImportedDir string
	// MaxFile is the size above which a text file is named and not shown, in bytes. 0 is 16 MB.
	MaxFile int64
}

// Links finds the file that a link in a note means.
type Links interface {
	// Locate resolves a link's target, without fragment, as written in the note `from`.
	Locate(target, from string) Location
}

// LinksFunc is a function as Links.
type LinksFunc func(target, from string) Location

// Locate implements Links.
func (f LinksFunc) Locate(target, from string) Location { return f(target, from) }

// Location is where a link leads.
type Location struct {
	Name      string   // vault name
	Ambiguous []string // all files that match equally well, Name among them; nil when there is one
	Near      []string // names that look similar, when nothing was found
	Found     bool
}

// Picture is what the header of a picture tells. Width and Height are as displayed, Size is in bytes.
type Picture struct {
	MediaType string
	Width     int
	Height    int
	Size      int64
	SHA256    string
}

// RemotePicture is a picture of the web as it will be sent. SHA256 is that of the blob that holds it.
type RemotePicture struct {
	Picture
}

// ErrNotFetched is what Builder.Remote gives in a preview: the policy allows the picture, and a run would fetch it.
var ErrNotFetched = errors.New("would be fetched")

// Spec is what one prompt is made of.
type Spec struct {
	Workflow string
	Step     string
	Model    string // alias, for the receipt

	System []string // instructions sections, in order
	Facts  []string // facts of the run, one line each: date, vault, unattended
	Prompt string   // the step's text
	Inputs []Input

	Caps        policy.Capabilities
	Bounds      policy.Bounds
	StrictLinks bool    // an ambiguous link is an error
	InputPrice  float64 // US dollars for a million input tokens; 0 when not known
}

// Input is one @input with what was found for it. Routed inputs are not given to the builder.
type Input struct {
	Directive directives.Input
	Names     []string // vault names, in order; empty: nothing was found
	Text      string   // the value, for a variable
	Unset     bool     // the variable has no value
}

// Prompt is a message ready for a model, and its receipt.
type Prompt struct {
	System  string
	Blocks  []content.Block // of the user message
	Receipt Receipt
	Format  int

	// Digest is the SHA-256 of system prompt and blocks with the nonce taken out, in hexadecimal: equal for prompts that
	// say the same, whatever nonce they have.
	Digest string
	// Chunks are what the deferred chunks hold, in the prompt's order, for the tool read_chunks.
	Chunks []Deferred
}

// Build makes the prompt. Errors: the context's; a *policy.CapabilityError for images=required without vision; a
// *policy.ExceededError with when_exceeded=fail; an *AmbiguousError under StrictLinks; a file that could not be read
// though it is there. Anything else that is wrong with a reference becomes a marker in its place, and a warning.
func (b Builder) Build(ctx context.Context, spec Spec) (*Prompt, error) {
	c := &collector{ctx: ctx, builder: b, spec: spec}
	for _, in := range spec.Inputs {
		if mode(in) == policy.Required && !spec.Caps.Has(policy.Vision) {
			return nil, fmt.Errorf("prompt of %q: %w", spec.Step, &policy.CapabilityError{Need: policy.Vision, ID: in.Directive.Target.String()})
		}
	}
	if err := c.all(); err != nil {
		return nil, err
	}
	nonce, err := b.nonce(c)
	if err != nil {
		return nil, err
	}
	system := systemText(spec, nonce)
	if err := c.fit(system); err != nil {
		return nil, err
	}
	c.number()
	decisions, err := policy.Decide(c.candidates, spec.Caps, policy.Auto, c.spec.Bounds)
	if err != nil {
		return nil, fmt.Errorf("prompt of %q: %w", spec.Step, err)
	}
	r := &renderer{collector: c, decisions: decisions, nonce: nonce}
	r.all()
	p := &Prompt{System: system, Blocks: r.blocks, Format: Format}
	p.Receipt = c.receipt(p, decisions)
	return p, nil
}

// AmbiguousError says that a link matches several files and the settings want no guess.
type AmbiguousError struct {
	Note   string
	Line   int
	Target string
	Names  []string
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s:%d: link %q is ambiguous: %s", e.Note, e.Line, e.Target, list(e.Names))
}

// Hint says what to do.
func (e *AmbiguousError) Hint() string { return "write the link with a longer path" }
