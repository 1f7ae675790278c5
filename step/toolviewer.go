package step

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/tools"
)

// viewer shows files to the model at work, as an input would show them. It implements tools.Viewer.
type viewer struct {
	w     *Workflow
	s     scene
	model Model
	box   *toolbox
}

// Look implements tools.Viewer.
func (v viewer) Look(ctx context.Context, name string) (tools.File, error) {
	p, err := v.w.Prompt.Peek(name)
	if err != nil {
		return tools.File{}, err
	}
	f := tools.File{
		MediaType: p.MediaType, Size: p.Size, Text: p.Text, Pages: p.Pages, Pictures: p.Pictures && v.sees(),
		Untrusted: v.w.trust(ctx).Untrusted(policy.Read{Kind: policy.ReadFile, Name: name}),
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
		return f, fmt.Errorf("it is a text of %s, which is too long to be read", content.FormatSize(p.Size))
	}
	return f, nil
}

func (v viewer) sees() bool { return v.model.Capabilities.Has(policy.Vision) }

// document tells the pages of a PDF, and reads an office file as text.
func (v viewer) document(ctx context.Context, name string, f tools.File) (tools.File, error) {
	if v.w.Prompt.Documents == nil {
		return f, errors.New("documents cannot be read here")
	}
	d, err := v.w.Prompt.Documents.Describe(ctx, name)
	if err != nil {
		return f, err
	}
	f.Kind, f.MediaType, f.Pages = tools.KindDocument, d.MediaType, len(d.Pages)
	if d.Markdown != "" || len(d.Pages) == 0 {
		f.Kind, f.Text = tools.KindText, strings.ToValidUTF8(d.Markdown, "\uFFFD")
	}
	return f, nil
}

// Show implements tools.Viewer: the blocks that an @input of the file would give.
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
	built, err := v.w.Prompt.Build(ctx, spec)
	if err != nil {
		return nil, err
	}
	v.box.origins = policy.AddOrigins(v.box.origins, built.Origins...)
	return tidied(built), nil
}

// spec is a prompt that holds nothing but the file, with as many media as a result may have.
func (v viewer) spec(view tools.View) (prompt.Spec, error) {
	budget, _, err := v.w.budgetOf(v.s)
	if err != nil {
		return prompt.Spec{}, err
	}
	bounds := budget.Bound(v.model.limits())
	bounds.MaxImages, bounds.MaxPages = view.Media, view.Media
	if view.First < view.Last && !view.Pages {
		bounds.MaxImages = max(view.Media, manyImages) // too many: fewer lines are asked for
	}
	caps := v.model.Capabilities
	if view.TextOnly {
		caps = maps.Clone(caps)
		delete(caps, policy.Vision)
		delete(caps, policy.PDF)
	}
	if !caps.Has(policy.Vision) && !caps.Has(policy.PDF) {
		bounds.MaxPages = manyPages // of text, which the tool bounds by its length
	}
	bounds.MaxPromptTokens, bounds.WhenExceeded = 0, policy.DropNewest
	return prompt.Spec{
		Workflow: v.s.plan.Name, Step: v.s.step.Name, Model: v.model.Alias, Caps: caps, Bounds: bounds, StrictLinks: v.w.StrictLinks,
		MayRead: v.s.plan.Meta.Permissions.MayRead, MayLink: v.s.plan.Meta.Permissions.MayLink,
	}, nil
}

// Bounds that do not bind: the tool asks for less when there is more in a result than fits.
const (
	manyImages = 1000
	manyPages  = 1000
)

// tidied are the blocks of a prompt without blank ones at their ends.
func tidied(p *prompt.Prompt) []content.Block {
	blank := func(b content.Block) bool { t, ok := b.(content.Text); return ok && strings.TrimSpace(t.Value) == "" }
	return slices.DeleteFunc(slices.Clone(p.Blocks), blank)
}

// paths are the rules of the vault and of the workflow for the names that a model writes.
func (b *toolbox) paths() tools.Paths {
	w, plan := b.w, b.s.plan
	return tools.Paths{
		FS: w.FS,
		Read: func(name string) error {
			if !plan.Meta.Permissions.MayRead(name) {
				return fmt.Errorf("%s may not be read: it is outside the workflow's permissions.read", name)
			}
			return nil
		},
		Write: func(name string) error { return w.mayWrite(b.s, name) },
		Find: func(target string) string {
			if w.Links == nil {
				return ""
			}
			return w.Links.Locate(target, plan.File).Name
		},
		Near: func(name string) []string {
			if w.Links == nil {
				return nil
			}
			l := w.Links.Locate(name, plan.File)
			if l.Found {
				return []string{l.Name}
			}
			return l.Near
		},
		Seen:  b.seen,
		Named: b.named,
	}
}

// mayWrite asks the gate whether the tools of a step may make or change a file.
func (w *Workflow) mayWrite(s scene, name string) error {
	r := s.asking(policy.ByTool, name, "")
	r.Action, r.Place = policy.Create, policy.Look(w.FS, name)
	if r.Place.Exists {
		r.Action = policy.Change
	}
	_, err := w.gate().Decide(r).Pass()
	return err
}
