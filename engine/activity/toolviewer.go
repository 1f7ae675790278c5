package activity

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

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
	p, err := v.w.Prompt.Peek(ctx, name)
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

// mayWrite says why the tools of a step must not make or change a file.
func (w *Workflow) mayWrite(s scene, name string) error {
	p, same := s.plan.Meta.Permissions, folded(name)
	in := func(dir, standard string) bool { return directives.Inside(same, folded(orName(dir, standard))) }
	switch {
	case same == folded(s.plan.File):
		return fmt.Errorf("%s is the workflow itself, which tools do not change", name)
	case settingsFile(same):
		return fmt.Errorf("%s holds settings, which tools do not change", name)
	case w.amongApprovals(name):
		return fmt.Errorf("%s is where a person approves, which tools do not change", name)
	case in(w.ImportDir, "Import"):
		return fmt.Errorf("%s is inside the import folder: choose another one", name)
	case w.imported(name):
		return fmt.Errorf("%s belongs to an imported document, which stays as it was imported; its note may be changed", name)
	case !p.MayWrite(name):
		return fmt.Errorf("%s may not be written: it is outside the workflow's permissions.write", name)
	case p.Write == nil && in(w.WorkflowsDir, "Workflows"):
		return fmt.Errorf("%s is among the workflows, which tools change only when permissions.write names them", name)
	}
	return nil
}

// imported tells whether a file is part of an import's bundle that people and tools do not write: the original, its
// manifest, pages and pictures. The note, and notes beside it, may be changed.
func (w *Workflow) imported(name string) bool {
	dir := folded(strings.Trim(w.ImportedDir, "/"))
	if dir == "" || !directives.Inside(folded(name), dir) {
		return false
	}
	if directives.KindOf(name) != "markdown" {
		return true
	}
	folder, _, _ := cutLast(name)
	_, err := fs.Stat(w.FS, folder+"/manifest.json")
	return err != nil // text/page_0003.md lies below its bundle
}

func cutLast(name string) (folder, file string, ok bool) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

// folded is a name in the form in which the vault compares names: one Unicode form, small letters, plain blanks.
func folded(name string) string {
	return strings.ToLower(strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(norm.NFC.String(name)))
}

// settingsFile tells whether a file holds settings of this program or keys: those at the vault's root.
func settingsFile(name string) bool {
	lower := strings.ToLower(name)
	return lower == "settings.yaml" || lower == "settings.yml" || lower == "secrets.yaml"
}

func orName(name, otherwise string) string {
	if name = strings.Trim(name, "/"); name != "" {
		return name
	}
	return otherwise
}
