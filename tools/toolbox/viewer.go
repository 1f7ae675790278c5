package toolbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/tools"
)

// viewer shows files as @input would.
type viewer struct{ t *turn }

var _ tools.Viewer = viewer{}

// Look implements tools.Viewer.
func (v viewer) Look(ctx context.Context, name string) (tools.File, error) {
	p, err := v.t.box.prompt.Peek(name)
	if err != nil {
		return tools.File{}, err
	}
	f := tools.File{
		MediaType: p.MediaType, Size: p.Size, Text: p.Text, Pages: p.Pages, Pictures: p.Pictures && v.sees(),
		Untrusted: v.t.box.sources.Trust(ctx).Untrusted(policy.Read{Kind: policy.ReadFile, Name: name}),
	}
	switch p.Kind {
	case prompt.PeekImage:
		f.Kind = tools.KindImage
	case prompt.PeekOpaque:
		f.Kind = tools.KindOpaque
		if _, takes, err := v.recording(name); err != nil {
			return f, err
		} else if takes {
			f.Kind = tools.KindSound
		}
	case prompt.PeekDocument:
		return v.document(ctx, name, f)
	default:
		f.Kind = tools.KindText
	}
	if p.Cut {
		return f, fmt.Errorf("it is a text of %s, which is too long to read", content.FormatSize(p.Size))
	}
	return f, nil
}

// lost keeps what the file embeds and the model does not get. What only has no room can be read with further calls, and a text that was
// asked for has no pictures.
func (v viewer) lost(view tools.View, r prompt.Receipt) {
	for _, o := range step.Omissions(r.Left()) {
		switch o.Why.Cause() {
		case omission.Budget:
			continue
		case omission.Vision, omission.NoText:
			if view.TextOnly && v.sees() {
				continue
			}
		}
		o.ID = "" // of a chunk of the result, and not of the prompt
		v.t.omissions = append(v.t.omissions, o)
	}
}

func (v viewer) sees() bool { return v.t.model.Capabilities.Has(policy.Vision) }

// document adds the pages of a PDF, or the text of an office file.
func (v viewer) document(ctx context.Context, name string, f tools.File) (tools.File, error) {
	if v.t.box.prompt.Documents == nil {
		return f, errors.New("documents cannot be read here")
	}
	d, err := v.t.box.prompt.Documents.Describe(ctx, name)
	if err != nil {
		return f, err
	}
	f.Kind, f.MediaType, f.Pages = tools.KindDocument, d.MediaType, len(d.Pages)
	if d.Markdown != "" || len(d.Pages) == 0 {
		f.Kind, f.Text = tools.KindText, strings.ToValidUTF8(d.Markdown, "\uFFFD")
	}
	return f, nil
}

// Show implements tools.Viewer: it returns the blocks that @input would.
func (v viewer) Show(ctx context.Context, name string, view tools.View) ([]content.Block, error) {
	if recording, takes, err := v.recording(name); takes || err != nil {
		return v.shown(name, recording), err
	}
	input := directives.Input{Target: directives.Target{Scheme: directives.SchemeFile, Path: name, Literal: true}}
	part := directives.Range{First: view.First, Last: view.Last}
	switch {
	case view.Pages:
		input.Pages = []directives.Range{part}
	case view.First > 0:
		input.Lines = &part
	}
	spec, err := v.spec(view)
	if err != nil {
		return nil, err
	}
	spec.Inputs = []prompt.Input{{Directive: input, Names: []string{name}}}
	built, err := v.t.box.prompt.Build(ctx, spec)
	if err != nil {
		return nil, err
	}
	v.t.origins = policy.AddOrigins(v.t.origins, built.Origins...)
	v.t.pages.shown = built.Receipt.Chunks
	maps.Copy(v.t.named, built.Named)
	v.lost(view, built.Receipt)
	v.t.framed = built.Nonce == v.t.nonce
	return tidied(built), nil
}

// spec returns the specification of a prompt with just the file, and as many media as a result may have.
func (v viewer) spec(view tools.View) (prompt.Spec, error) {
	budget, _, err := v.t.box.budgets.Of(v.t.s)
	if err != nil {
		return prompt.Spec{}, err
	}
	bounds := budget.Bound(v.t.model.RequestLimits())
	bounds.MaxImages, bounds.MaxPages = view.Media, view.Media
	if view.First < view.Last && !view.Pages {
		bounds.MaxImages = max(view.Media, manyImages) // if too many, the tool asks for fewer lines
	}
	caps := v.t.model.Capabilities
	if view.TextOnly {
		caps = caps.Without(policy.Vision).Without(policy.PDF)
	}
	if !caps.Has(policy.Vision) && !caps.Has(policy.PDF) {
		bounds.MaxPages = manyPages // as text, which the tool limits by length
	}
	bounds.MaxPromptTokens = 0
	if room, bounded := v.t.media.Room(); bounded {
		bounds.MaxTotalBytes = room
	}
	if bounds.WhenExceeded != policy.Ladder {
		bounds.WhenExceeded = policy.DropNewest
	}
	bounds.MaxFallbackTokens, bounds.MinPageDPI = manyTokens, manyDPI
	caps = caps.Without(policy.Tools) // a result names no chunks: there are none to ask for
	return prompt.Spec{
		Workflow: v.t.s.Plan.Name, Step: v.t.s.Step.Name, Nonce: v.t.nonce, Model: v.t.model.Alias, Caps: caps, Bounds: bounds, StrictLinks: v.t.box.strictLinks,
		MayRead: v.t.s.Plan.Meta.Permissions.MayRead, MayLink: v.t.s.Plan.Meta.Permissions.MayLink,
	}, nil
}

// Limits beyond any result: the tool asks for less if a result does not fit.
const (
	manyImages = 1000
	manyPages  = 1000
	manyTokens = 1_000_000
	manyDPI    = 10_000 // no picture is made smaller than the prompt's are
)

// tidied returns the blocks of a prompt without blank text.
func tidied(p *prompt.Prompt) []content.Block {
	blank := func(b content.Block) bool { t, ok := b.(content.Text); return ok && strings.TrimSpace(t.Value) == "" }
	return slices.DeleteFunc(slices.Clone(p.Blocks), blank)
}
