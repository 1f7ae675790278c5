package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/modelset"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/settings/state"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/step/previewed"
	"github.com/vaultflow/vaultflow/tools/toolbox"
	"github.com/vaultflow/vaultflow/undo"
)

// stores are the parts of a journal that workflow runs use. Blobs and Memory are required.
type stores struct {
	ReadOnly bool         // records no origins: a preview
	Nonce    prompt.Nonce // of prompts; nil: random ones

	Blobs     change.Blobs
	Memory    step.Memory
	Origins   origin.Store
	Record    change.Record
	Approvals step.Approvals
	Ledger    cost.Ledger
	Cache     step.Cache
	Received  step.Received
	Documents change.Documents
	MovedTo   func(ctx context.Context, name string) (string, error)
}

func storesOf(j *journal.Journal) stores {
	return stores{
		Blobs: j.Blobs, Memory: j.Memory, Origins: j.Origins, Record: j.Changes, Approvals: j.Approvals, Ledger: j.Spending,
		Cache: j.Answers, Received: j.Answers, Documents: j.Imports, MovedTo: j.Changes.MovedTo,
	}
}

// KeptPictures is how many bytes of pictures stay in memory for the next turn of a conversation. A collector lets twice as
// much gather, and a prompt of 100 pictures may take 64 MiB.
const KeptPictures = 16 << 20

// flow carries out the runs of workflows.
type flow struct {
	steps *step.Steps
	tools *toolbox.Box
	undo  *undo.Undo
}

func newFlow(d *step.Deps, history undo.History, c toolbox.Config) flow {
	box := toolbox.New(d, c)
	return flow{step.New(d, box), box, &undo.Undo{History: history, Changes: d.Changes}}
}

// activities returns the activities of all parts.
func (f flow) activities() engine.Activities {
	all := f.steps.Activities()
	maps.Copy(all, f.tools.Activities())
	maps.Copy(all, f.undo.Activities())
	return all
}

// deps makes what the activities of workflow runs share. Without a fetcher pictures of the web are looked at only.
func (a *Workspace) deps(kept stores, models step.Models, fetcher media.Fetcher) (*step.Deps, error) {
	limits, whenExceeded := a.Settings.BudgetOverlay()
	budget, err := policy.DefaultBudget().Merge(policy.Overlay{From: "settings", Limits: limits, WhenExceeded: whenExceeded})
	if err != nil {
		return nil, control.Invalid.Wrap(fmt.Errorf("policy.budget: %w", err))
	}
	s, book := a.Settings, a.book(kept.Origins, kept.ReadOnly)
	c := step.Config{
		FS: modelFS(a.Vault, a.Settings), Vault: a.Vault, Links: a.Links, Blobs: kept.Blobs, Memory: kept.Memory, Record: kept.Record, Models: models,
		Origin: book, Approvals: kept.Approvals, Ledger: kept.Ledger, Cache: kept.Cache, Received: kept.Received, Documents: kept.Documents, MovedTo: kept.MovedTo,
		Previews: previewed.Store{Dir: a.StateDir},
		Budget:   budget, DefaultModel: s.Models.Default, Gate: a.gate(), VaultName: filepath.Base(a.Dir),
		MaxFiles: s.Engine.MaxSelectedFiles, MaxText: 64 << 20, StrictLinks: s.Policy.Links == "strict",
		Born: a.Vault.Born, NoRewrites: !s.LLM.OverflowFallback, Zone: a.Zone.String(),
	}
	worker := a.Workers.Media()
	documents := media.NewDocuments(c.FS, worker, s.Vault.ImportedDir)
	c.Media = media.Source{
		FS: c.FS, Blobs: c.Blobs, Worker: worker, Documents: documents, ImportedDir: s.Vault.ImportedDir, Cache: media.NewCache(KeptPictures), Digests: a.digests,
	}
	known := step.Origins{Book: book}
	c.Prompt = prompt.Builder{
		FS: c.FS, Links: a.Vault, Probe: c.Media.Probe, Documents: documents, Fallbacks: media.PageText(a.Vault, c.MaxText),
		ImportedDir: s.Vault.ImportedDir, Known: known.Known, Named: known.Named, Nonce: kept.Nonce,
	}
	if in := s.Policy.RemoteImages; in.Enabled && in.MaxPerStep > 0 {
		pictures := &media.Remote{Policy: a.outside.pictures(), Fetcher: fetcher, Foreign: media.Foreign{
			Worker: worker, Blobs: c.Blobs, Limits: imaging.Limits{MaxSide: budget.MaxImagePixels, MaxDecodePixels: budget.MaxDecodePixels},
		}}
		c.Prompt.Remote, c.Prompt.MayFetch, c.Prompt.MaxRemote = pictures.Picture, pictures.Policy.Check, in.MaxPerStep
	}
	return step.NewDeps(c), nil
}

// Previewer returns what shows the requests of steps, and a function that closes it. A preview has no side effects: nothing is
// stored but digests of pictures and what a local server says about its model, and the journal is only read, if there is one. While
// there is no secret yet, frames have codes made without one, which no run uses.
func (a *Workspace) Previewer(ctx context.Context) (p *step.Previewer, done func(), err error) {
	kept, done := stores{Blobs: blank{}, Memory: blank{}}, func() {}
	if j, err := journal.OpenReader(ctx, a.StateDir); err == nil {
		kept, done = storesOf(j), func() { j.Close() }
	} else if errors.Is(err, journal.ErrRestoring) {
		return nil, nil, err
	}
	secret, err := state.Known(a.StateDir)
	if err != nil {
		done()
		return nil, nil, err
	}
	kept.ReadOnly, kept.Nonce = true, prompt.Keyed(secret)
	d, err := a.deps(kept, modelset.Unasked{Set: a.Models}, nil)
	if err != nil {
		done()
		return nil, nil, err
	}
	box := toolbox.New(d, toolbox.Config{AutoBuffer: a.Settings.Engine.AutoBufferTokens, Outside: a.namedOutside(), Runs: nested{}})
	return step.New(d, box).Previewer, done, nil
}

// takeBack looks at what an undo would do, and does nothing.
func (a *Workspace) takeBack(j *journal.Journal) (*undo.Undo, error) {
	d, err := a.deps(storesOf(j), a.Models, nil)
	if err != nil {
		return nil, err
	}
	return &undo.Undo{History: j.Undo, Changes: d.Changes}, nil
}
