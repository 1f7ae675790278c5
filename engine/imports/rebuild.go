package imports

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/policy/origin"
)

// Recalls keeps imports that a journal has lost; the journal is one. An import that is kept starts no workflow.
type Recalls interface {
	Get(ctx context.Context, id string) (engine.ImportRecord, error)
	Recall(ctx context.Context, r engine.ImportRecord) error
}

// Rebuild records the imports whose bundles are in the vault, wherever they were filed, and what is foreign by them: lists and the guard
// against untrusted content know them again. It returns how many it added. It can be stopped and repeated. Their runs, and
// what was asked for, stay unknown. A folder that cannot be read is passed over.
func Rebuild(ctx context.Context, vault fs.FS, recalls Recalls, book *origin.Book) (added int, err error) {
	err = fs.WalkDir(vault, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case d == nil:
			return err
		case d.IsDir() && (err != nil || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir(), d.Name() != manifest.File:
			return nil
		}
		data, err := fs.ReadFile(vault, name)
		if err != nil {
			return nil // gone meanwhile
		}
		m, err := manifest.Parse(data)
		if err != nil || m.Import.ID == "" || m.Source.SHA256 == "" {
			return nil // no bundle of ours
		}
		r := recalled(path.Dir(name), m)
		if _, err := recalls.Get(ctx, r.ID); !errors.Is(err, engine.ErrNotFound) {
			return err
		}
		if err := remember(ctx, recalls, book, r); err != nil {
			return err
		}
		added++
		return nil
	})
	if err != nil {
		err = fmt.Errorf("read the manifests of imports: %w", err)
	}
	return added, err
}

// remember records what is foreign first: an import that is recorded is not looked at again.
func remember(ctx context.Context, recalls Recalls, book *origin.Book, r engine.ImportRecord) error {
	from := origin.OfImport(r.ID, r.Source)
	if r.Size > leastForeign {
		if err := book.Arrived(ctx, r.SHA256, r.Size, from); err != nil {
			return err
		}
	}
	if err := book.Imported(ctx, r.Bundle, from); err != nil {
		return err
	}
	return recalls.Recall(ctx, r)
}

// recalled is the record of an import, as far as its manifest has it.
func recalled(bundle string, m manifest.Manifest) engine.ImportRecord {
	r := engine.ImportRecord{
		ID: m.Import.ID, Source: m.Source.Path, State: engine.ImportDone, Bundle: bundle, Note: path.Join(bundle, m.NoteName()),
		Pages: len(m.Pages), Page: len(m.Pages), SHA256: m.Source.SHA256, Size: m.Source.Size, Kind: string(m.Source.Kind), MediaType: m.Source.MediaType,
		Created: m.Import.Started, Started: m.Import.Started, Finished: m.Import.Finished, Warnings: m.Import.Warnings,
	}
	for _, p := range m.Pages {
		if p.Status != manifest.PageDone {
			r.FailedPages = append(r.FailedPages, p.N)
		}
	}
	if len(r.FailedPages) > 0 || m.Import.Lacks != "" {
		r.State, r.Reason, r.Final = engine.ImportPartial, m.Import.Lacks, true // there is no run to retry
	}
	return r
}
