// Package imports carries out the activities of imports: classify, extract, publish, and file the original.
package imports

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/policy/origin"
)

// Importer turns a dropped file into a bundle; *ingestion.Importer is one. Every method may be repeated after a crash.
type Importer interface {
	Classify(ctx context.Context, job ingestion.Job) (ingestion.Classified, error)
	Extract(ctx context.Context, job ingestion.Job) (ingestion.Extracted, error)
	Publish(ctx context.Context, job ingestion.Job, made ingestion.Extracted) (ingestion.Published, error)
	File(ctx context.Context, job ingestion.Job, ending ingestion.Ending) (ingestion.Filed, error)
}

// Imported finds the import that made a bundle of the same bytes with the same settings; the journal is one.
type Imported interface {
	Imported(ctx context.Context, sha256, settings string) (engine.ImportRecord, bool, error)
}

// Imports carries out the activities of imports. It is safe for concurrent use.
type Imports struct {
	FS       fs.FS                                                   // the vault
	Importer func(run string, events func(ingestion.Event)) Importer // an importer for a run, with its progress
	Imported Imported
	Blobs    change.Blobs
	Origin   *origin.Book // where what is imported is recorded as foreign; may be nil
}

// Activities are the import's activities by name.
func (im *Imports) Activities() engine.Activities {
	return engine.Activities{
		engine.ActivityClassify: engine.Handle(im.Classify),
		engine.ActivityExtract:  engine.Handle(im.Extract),
		engine.ActivityPublish:  engine.Handle(im.Publish),
		engine.ActivityFile:     engine.Handle(im.File),
	}
}

// importer is an importer for a run, whose progress goes to it.
func (im *Imports) importer(ctx context.Context, run string) Importer {
	return im.Importer(run, func(e ingestion.Event) {
		switch e.Kind {
		case ingestion.EventPage:
			engine.Report(ctx, engine.Event{Kind: engine.EventPage, Page: e.Done, Pages: e.Pages, Left: e.Left, Message: e.Message})
		case ingestion.EventWarning:
			engine.Report(ctx, engine.Event{Kind: engine.EventWarning, Message: e.Message})
		}
	})
}

// job makes ingestion's job of the run's reference. Options are config.Settings, pinned when the run was asked for.
func job(ref engine.ImportPlan, route json.RawMessage) (ingestion.Job, error) {
	j := ingestion.Job{ID: ref.Run, Source: ref.Source, Where: ref.Where, SHA256: ref.SHA256, Size: ref.Size, Mode: ref.Mode, At: ref.At, Mend: ref.Mend, Again: ref.Mend != ""}
	if len(ref.Options) > 0 {
		if err := json.Unmarshal(ref.Options, &j.Settings); err != nil {
			return j, fmt.Errorf("read the import's settings: %w", err)
		}
	}
	if len(route) > 0 {
		if err := json.Unmarshal(route, &j.Route); err != nil {
			return j, fmt.Errorf("read the import's route: %w", err)
		}
	}
	return j, nil
}

// leastForeign is the size of a file, in bytes, from which its bytes are known as foreign: a few letters are equal by chance.
const leastForeign = 16

// Classify decides what the bytes are, and whether they were imported before.
func (im *Imports) Classify(ctx context.Context, in engine.ClassifyIn) (engine.ClassifyOut, error) {
	j, err := job(in.ImportPlan, nil)
	if err != nil {
		return engine.ClassifyOut{}, err
	}
	if im.Origin != nil && in.Size > leastForeign {
		if err := im.Origin.Arrived(ctx, in.SHA256, in.Size, origin.OfImport(in.Run, in.Source)); err != nil {
			return engine.ClassifyOut{}, failure.WithCode(err, failure.State)
		}
	}
	found, err := im.importer(ctx, in.Run).Classify(ctx, j)
	if err != nil {
		return engine.ClassifyOut{}, err
	}
	out := engine.ClassifyOut{
		Gone: found.Gone, Duplicate: found.DuplicateOf, DuplicateBundle: found.DuplicateBundle,
		Kind: string(found.Route.Kind), MediaType: found.Route.MediaType,
	}
	if out.Route, err = json.Marshal(found.Route); err != nil {
		return out, fmt.Errorf("encode the route: %w", err)
	}
	if out.Gone || in.Mend != "" {
		return out, nil
	}
	if out.Duplicate == "" {
		if err := im.findDuplicate(ctx, j, found.Home, &out); err != nil {
			return out, err
		}
	}
	if out.Duplicate != "" {
		out.DuplicateBare = ingestion.NoteGone(im.FS, out.DuplicateBundle)
	}
	return out, nil
}

// findDuplicate looks in the journal for an import that made a bundle of the same bytes.
func (im *Imports) findDuplicate(ctx context.Context, j ingestion.Job, home string, out *engine.ClassifyOut) error {
	before, ok, err := im.Imported.Imported(ctx, j.SHA256, j.Hash())
	if err != nil {
		return err
	}
	elsewhere := home != "" && home != before.Bundle || j.Size == 0 && before.Source != j.Source // see ingestion.Importer.Classify
	if ok && before.ID != j.ID && before.Bundle != "" && !elsewhere {
		// A bundle that the user removed is made again, and so is one whose name a later version has.
		if _, err := fs.Stat(im.FS, before.Bundle); err == nil && !im.holdsOther(before.Bundle, j.SHA256) {
			out.Duplicate, out.DuplicateBundle = before.ID, before.Bundle
		}
	}
	return nil
}

// holdsOther reports whether a bundle is by its manifest one of other bytes.
func (im *Imports) holdsOther(bundle, sha256 string) bool {
	data, err := fs.ReadFile(im.FS, path.Join(bundle, manifest.File))
	if err != nil {
		return false
	}
	m, err := manifest.Parse(data)
	return err == nil && m.Source.SHA256 != sha256
}

// Extract makes pages, text and pictures.
func (im *Imports) Extract(ctx context.Context, in engine.ExtractIn) (engine.ExtractOut, error) {
	j, err := job(in.ImportPlan, in.Route)
	if err != nil {
		return engine.ExtractOut{}, err
	}
	made, err := im.importer(ctx, in.Run).Extract(ctx, j)
	if err != nil {
		return engine.ExtractOut{}, err
	}
	data, err := json.Marshal(made)
	if err != nil {
		return engine.ExtractOut{}, fmt.Errorf("encode what was extracted: %w", err)
	}
	digest, err := im.Blobs.Put(ctx, data)
	return engine.ExtractOut{Extracted: digest, Pages: made.Pages, FailedPages: made.Failed, Unread: made.Unread(), Lost: made.Lost, Damaged: made.Damaged, Lacking: made.Lacking, NotSeen: made.NotSeen, Lacks: made.Lacks, Warnings: made.Warnings}, err
}

// Publish makes the bundle appear.
func (im *Imports) Publish(ctx context.Context, in engine.PublishIn) (engine.PublishOut, error) {
	j, err := job(in.ImportPlan, in.Route)
	if err != nil {
		return engine.PublishOut{}, err
	}
	data, err := im.Blobs.Get(ctx, in.Extracted)
	if err != nil {
		return engine.PublishOut{}, failure.New(failure.State, "drop the file again", "read what was extracted: %v", err)
	}
	var made ingestion.Extracted
	if err := json.Unmarshal(data, &made); err != nil {
		return engine.PublishOut{}, fmt.Errorf("read what was extracted: %w", err)
	}
	published, err := im.importer(ctx, in.Run).Publish(ctx, j, made)
	for _, warning := range published.Warnings {
		engine.Report(ctx, engine.Event{Kind: engine.EventWarning, Message: warning})
	}
	if err == nil && im.Origin != nil && published.Bundle != "" {
		if known := im.Origin.Imported(ctx, published.Bundle, origin.OfImport(in.Run, in.Source)); known != nil {
			err = failure.WithCode(known, failure.State)
		}
	}
	return engine.PublishOut{Bundle: published.Bundle, Note: published.Note}, err
}

// File moves the original to where it belongs.
func (im *Imports) File(ctx context.Context, in engine.FileIn) (engine.FileOut, error) {
	j, err := job(in.ImportPlan, nil)
	if err != nil {
		return engine.FileOut{}, err
	}
	ending := ingestion.Ending{State: ingestion.State(in.State), Bundle: in.Bundle}
	if in.Failure != nil {
		ending.Code, ending.Message, ending.Hint, ending.Transient = in.Failure.Code, in.Failure.Message, in.Failure.Hint, in.Failure.Retryable
	}
	filed, err := im.importer(ctx, in.Run).File(ctx, j, ending)
	if filed.Warning != "" {
		engine.Report(ctx, engine.Event{Kind: engine.EventWarning, Message: filed.Warning})
	}
	return engine.FileOut{Name: filed.Name, Held: filed.Held}, err
}
