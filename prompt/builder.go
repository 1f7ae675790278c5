package prompt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// Builder holds what prompts are made from. Only FS is needed; it may be used by several goroutines when its parts may.
type Builder struct {
	FS fs.FS
	// Links resolves targets. Nil: a target is a vault name or a name beside the note.
	Links vault.Links
	// Probe reads the header of a picture, without decoding it. An error says in words why the file is no picture that
	// can be shown ("not an image"); one that is fs.ErrNotExist counts as missing. Nil: no file is a picture.
	Probe func(name string) (Picture, error)
	// Fallbacks returns the text recognised in a picture earlier, or "". Nil: none.
	Fallbacks func(name string) string
	// Documents reads PDF and office files. Nil: they are named and not shown.
	Documents Documents
	// Remote returns a picture of the web, subject to the remote policy. It fetches the picture, encodes it again and stores
	// it as a blob. Its error is shown to people; ErrNotFetched leaves the reference unchanged, without a warning. It is
	// called only for references for which the local pictures leave room. Nil: nothing is fetched.
	Remote func(ctx context.Context, url string) (RemotePicture, error)
	// MayFetch returns why the settings exclude a picture of the web, or nil. What they exclude is no omission. Nil: every address
	// is allowed.
	MayFetch func(url string) error
	// Nonce returns codes that nobody can guess. Nil: random ones.
	Nonce Nonce
	// ImportedDir is where imports land; files below it are untrusted unless the input overrides that. "" is "Imported".
	ImportedDir string
	// Known reports whether a file is foreign and what it was made from, and Named the same of a name without its content;
	// see policy.Trust. Nil: what is below ImportedDir is foreign.
	Known func(ctx context.Context, name string) (foreign bool, origins []string)
	Named func(ctx context.Context, name string) (foreign bool, origins []string)
	// MaxFile is the size above which a text file is named and not shown, in bytes. 0 is 64 MB.
	MaxFile int64
	// MaxRemote is how many pictures of the web are fetched for one prompt. 0 is 10.
	MaxRemote int
}

// Picture describes a picture by its header. Width and Height are as displayed, Size is in bytes.
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

// ErrNotFetched is the error of Builder.Remote in a preview: the policy allows the picture, and a run would fetch it.
var ErrNotFetched = errors.New("would be fetched")

// Spec is what one prompt is made of.
type Spec struct {
	Workflow string
	File     string // the workflow's note, in which inputs are named
	Step     string
	Model    string // alias, for the receipt
	// Nonce is the code of a prompt that this one adds to. It is used again if nothing here holds it. "": none.
	Nonce string

	System []string // instructions sections, in order
	Facts  []string // facts of the run, one line each: date, vault, unattended
	Prompt string   // the step's text
	Inputs []Input

	Caps        policy.Capabilities
	Bounds      policy.Bounds
	StrictLinks bool // an ambiguous link is an error
	// MayRead reports whether notes may include a file, by its vault name: permissions.read. Nil: every file.
	MayRead func(name string) bool
	// MayLink reports whether untrusted content may have pictures of a host fetched: permissions.links. Nil: none.
	MayLink    func(host string) bool
	InputPrice float64 // US dollars for a million input tokens; 0 if unknown
}

// Input is one @input with what was found for it. Routed inputs are not given to the builder.
type Input struct {
	Directive directives.Input
	Names     []string          // vault names, in order; empty: nothing was found
	Text      string            // the value, for a variable
	Unset     bool              // the variable has no value
	Origins   []string          // untrusted things that the variable, or the files, were made from
	Changes   map[string]Change // what to show of files instead of their content, by name
}

// Prompt is a message ready for a model, and its receipt.
type Prompt struct {
	System  string
	Blocks  []content.Block // of the user message
	Receipt Receipt
	Format  int

	// Nonce is the code of its frames. It should not be kept where others read it.
	Nonce string
	// Digest is the SHA-256 of system prompt and blocks with the nonce taken out, in hexadecimal: equal for prompts that
	// say the same, whatever nonce they have.
	Digest string
	// Origins are its untrusted sources, deferred ones included, in the form of policy.Trust.
	Origins []string
	// Chunks are the chunks in the prompt's order that the tool read_chunks returns: what was deferred, and pictures whose
	// text is shown.
	Chunks []Deferred
	// Paged are files some of whose pages are named in ranges, for the tool read_pages.
	Paged []string
	// Unmet are the lines because of which the step must not ask the model: nothing of an input with `required` is in the
	// prompt, or a picture that images=required demands is not.
	Unmet []Line
	// Named is where the attached media are named, by their names.
	Named map[string]diag.Position
	// FitSide is the longest side to which pictures are scaled so that more fit, in pixels; 0: they are not.
	FitSide int
}

// maxTries bounds how often a prompt is made again because something did not fit as it was thought to.
const maxTries = 12

// Build makes the prompt. Errors: the context's; a *policy.CapabilityError for images=required without vision, whether or
// not the input has images; a *policy.ExceededError with when_exceeded=fail, or when instructions and the step's own text
// alone do not fit; an *AmbiguousError under StrictLinks; a file that could not be read though it is there. Anything else
// that is wrong with a reference becomes a marker in its place, and a warning.
func (b Builder) Build(ctx context.Context, spec Spec) (*Prompt, error) {
	for _, in := range spec.Inputs {
		if mode(in) == policy.Required && !spec.Caps.Has(policy.Vision) {
			return nil, fmt.Errorf("prompt of %q: %w", spec.Step, &policy.CapabilityError{Need: policy.Vision, ID: in.Directive.Target.String()})
		}
	}
	try := newAttempt(ctx, b, spec)
	for range maxTries {
		p, err := try.build(ctx)
		if err != nil {
			return nil, fmt.Errorf("prompt of %q: %w", spec.Step, err)
		}
		if p != nil {
			return p, nil
		}
	}
	return nil, fmt.Errorf("prompt of %q: it does not come to fit its budget", spec.Step)
}

// attempt makes a prompt, and again when something did not fit as expected. What it learns about files outlives the tries.
type attempt struct {
	spec      Spec
	links     linker
	files     *files
	documents *documentReader
	pictures  *pictureReader
	web       *webPictures
	trust     policy.Trust
	next      Nonce
	paged     map[string]bool // documents that do not fit as a file: they are shown page by page
	nonce     string
	slack     int // tokens by which the estimates were too low
}

func newAttempt(ctx context.Context, b Builder, spec Spec) *attempt {
	read := b.files(spec.MayRead)
	return &attempt{
		spec: spec, files: read, trust: b.trust(ctx), next: b.Nonce, nonce: spec.Nonce, paged: map[string]bool{},
		links:     linker{links: b.Links, fs: b.FS, strict: spec.StrictLinks},
		documents: &documentReader{documents: b.Documents, files: read, described: map[string]described{}, pages: map[pageKey]pageText{}},
		pictures:  &pictureReader{probe: b.Probe, fallbacks: b.Fallbacks, caps: spec.Caps, bounds: spec.Bounds, probed: map[string]probed{}},
		web:       &webPictures{fetch: b.Remote, may: b.MayFetch, limit: b.MaxRemote, caps: spec.Caps, bounds: spec.Bounds, fetched: map[string]fetched{}},
	}
}

// files reads the builder's files that are allowed; nil: all.
func (b Builder) files(allowed func(name string) bool) *files {
	return &files{fs: b.FS, maxFile: b.MaxFile, allowed: allowed, parsed: map[string]*parsed{}, bundles: map[string]bundleRead{}}
}

// trust decides what is data from outside. An answer of Known holds for the whole Build.
func (b Builder) trust(ctx context.Context) policy.Trust {
	type answer struct {
		foreign bool
		origins []string
	}
	t := policy.Trust{ImportedDir: b.ImportedDir}
	if b.Known != nil {
		known := map[string]answer{}
		t.Known = func(name string) (bool, []string) {
			one, asked := known[name]
			if !asked {
				one.foreign, one.origins = b.Known(ctx, name)
				known[name] = one
			}
			return one.foreign, one.origins
		}
	}
	if b.Named != nil {
		t.Named = func(name string) (bool, []string) { return b.Named(ctx, name) }
	}
	return t
}

// build makes the prompt. It is nil when it has to be made again.
func (a *attempt) build(ctx context.Context) (*Prompt, error) {
	out := &outline{}
	if err := a.inputs(out).whole(ctx); err != nil {
		return nil, err
	}
	if err := a.pictures.look(ctx, out); err != nil {
		return nil, err
	}
	var err error
	if a.nonce, err = freshNonce(a.next, a.spec, a.nonce, func(word string) bool { return a.holds(out, word) }); err != nil {
		return nil, err
	}
	system := policy.TextTokens(systemText(a.spec, a.nonce, readingOn(true, true, a.spec)))
	bounds, err := fit(out, a.spec, system+a.slack)
	if err != nil {
		return nil, err
	}
	if err := a.web.get(ctx, out); err != nil {
		return nil, err
	}
	out.number()
	bounds = bounds.Smaller(out.candidates, a.spec.Caps)
	decisions, err := policy.Decide(out.candidates, a.spec.Caps, policy.Auto, bounds)
	if again := a.pageDocuments(out, decisions); again {
		return nil, nil //nolint:nilnil // the next try shows pages
	}
	if err != nil {
		return nil, err
	}
	if err := a.descend(ctx, out, decisions, bounds); err != nil {
		return nil, err
	}
	p := render(out, a.spec, decisions, a.nonce, a.pictures.fallback)
	p.Named = out.places()
	p.Unmet = out.unmet(a.spec.Caps.Has(policy.Tools))
	p.Origins, p.FitSide = a.trust.Origins(out.reads), bounds.FitSide
	if over := p.Receipt.Totals.Tokens - a.spec.Bounds.MaxPromptTokens; over > 0 && a.spec.Bounds.MaxPromptTokens > 0 {
		a.slack = 2*a.slack + over + 16 // a small step need not move the place of the cut
		return nil, nil                 //nolint:nilnil // the next try leaves more room
	}
	return p, nil
}

// inputs returns the writer of the prompt's inputs.
func (a *attempt) inputs(out *outline) inputWriter {
	links := a.links
	links.out = out
	file := &fileWriter{out: out, files: a.files, trust: a.trust}
	file.notes = noteWriter{out: out, files: a.files, links: links, trust: a.trust, mayLink: a.spec.MayLink, show: file.show}
	file.documents = documentWriter{out: out, notes: file.notes, files: a.files, documents: a.documents, caps: a.spec.Caps, bounds: a.spec.Bounds, paged: a.paged}
	file.canvas = canvasWriter{out: out, notes: file.notes}
	return inputWriter{out: out, spec: a.spec, trust: a.trust, file: file}
}

// holds reports whether anything from outside contains the word, in small or capital letters.
func (a *attempt) holds(out *outline, word string) bool {
	within := func(word string) bool {
		contains := func(s string) bool { return strings.Contains(s, word) }
		return slices.ContainsFunc(a.spec.System, contains) || slices.ContainsFunc(a.spec.Facts, contains) || out.holds(word)
	}
	return within(word) || within(strings.ToUpper(word))
}

// pageDocuments reports whether a document does not fit as a file, and remembers to show its pages. No decisions: nothing
// fits, with when_exceeded=fail.
func (a *attempt) pageDocuments(out *outline, decisions []policy.Decision) (again bool) {
	for _, it := range out.items {
		if it.role != roleMedia || out.candidates[it.media.cand].Kind != policy.PageDocument {
			continue
		}
		if decisions == nil || decisions[it.media.cand].Bound != "" {
			a.paged[it.line.Name], again = true, true
		}
	}
	return again
}

// AmbiguousError reports a link that matches several files if the settings forbid guessing.
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

var _ failure.Reporter = (*AmbiguousError)(nil)

// Failure implements [failure.Reporter].
func (*AmbiguousError) Failure() failure.Error {
	return failure.Error{Hint: "write the link with a longer path"}
}
