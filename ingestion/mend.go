package ingestion

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/vault"
)

// mending makes what the bundle of an import lacks, its pages or its note, and puts it there. The bundle keeps its version: it becomes what it
// should have been.
type mending struct {
	w   *work
	old manifest.Manifest
}

// mendingOf returns the mending of a job that asks for one.
func mendingOf(w *work) (mending, error) {
	m, ok := present(w.im, w.job.Mend)
	if !ok || m.Import.ID != w.job.ID {
		return mending{}, fault.Permanent(failure.Cancelled, "", "the bundle %s was removed, or replaced by a later version", w.job.Mend)
	}
	return mending{w, m}, nil
}

// mend publishes the pages that a bundle lacked.
func mend(ctx context.Context, im *Importer, j Job, x Extracted) (Published, error) {
	w, err := im.stage(j)
	if err != nil {
		return Published{}, err
	}
	defer w.store.close()
	m, err := mendingOf(w)
	if err != nil {
		return Published{}, err
	}
	return m.publish(ctx, x)
}

// seed copies the pages that are as they should be into the work, so that only the others are made.
func (m mending) seed(ctx context.Context) error {
	for _, p := range m.old.Pages {
		if p.Again() {
			continue
		}
		if _, made, err := m.w.store.page(p.N); err != nil || made {
			if err != nil {
				return err
			}
			continue
		}
		if err := m.take(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// keepBetter replaces pages that came out worse than they were.
func (m mending) keepBetter(ctx context.Context) error {
	rank := map[string]int{manifest.PageFailed: 0, manifest.PagePartial: 1, manifest.PageDone: 2}
	for _, p := range m.old.Pages {
		now, made, err := m.w.store.page(p.N)
		if err != nil {
			return err
		}
		if made && rank[now.Status] < rank[p.Status] {
			if err := m.take(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// take copies a page's files from the bundle and keeps its record. A page whose files are gone is made again.
func (m mending) take(ctx context.Context, p manifest.Page) error {
	for _, name := range p.Files() {
		if !fs.ValidPath(name) {
			return nil
		}
		data, err := fs.ReadFile(m.w.im.Files.FS(), path.Join(m.w.job.Mend, name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fault.Storage("read "+name, err)
		}
		if err := put(ctx, m.w.store.bundle, name, data); err != nil {
			return err
		}
	}
	return m.w.store.record(ctx, p)
}

// publish writes what is new into the bundle: the files of pages, then the notes, then the manifest, which makes them
// count. Called again after a crash, it does the rest.
func (m mending) publish(ctx context.Context, x Extracted) (Published, error) {
	pub, bundle := publishing{m.w}, m.w.job.Mend
	out := Published{Bundle: bundle, Note: path.Join(bundle, m.old.NoteName())}
	if err := pub.unchanged(ctx, plan{}); err != nil {
		return out, err
	}
	rec, pages, err := m.w.store.recalled(x.Digest)
	if err != nil {
		return out, err
	}
	bases, err := m.bases(ctx)
	if err != nil {
		return out, err
	}
	p := plan{Target: bundle, Note: m.old.Note, Finished: m.w.im.Now(), Version: m.old.Import.Version, Previous: bundle, PreviousImport: m.w.job.ID, Kept: rec.Kept}
	if p.Original = m.w.job.at(); p.Original == path.Join(bundle, m.old.Source.Name) {
		p.Original = m.old.Source.Name
	}
	now := pub.manifest(p, rec, pages)
	now.Source, now.Import.Started = m.old.Source, m.old.Import.Started
	now.Import.History = append(slices.Clone(m.old.Import.History), manifest.History{Event: "mended", Import: m.w.job.ID, At: p.Finished})
	notes, err := m.notes(&now, p, rec, &out)
	if err != nil {
		return out, err
	}
	if err := m.copyFiles(ctx, pages, now.Assets); err != nil {
		return out, err
	}
	if now.Generated == nil {
		now.Generated = m.old.Generated
	}
	if notes[manifest.File], err = now.Encode(); err != nil {
		return out, err
	}
	for _, name := range append(slices.DeleteFunc(slices.Sorted(maps.Keys(notes)), isManifest), manifest.File) {
		if err := m.w.im.Files.Write(ctx, path.Join(bundle, name), notes[name], bases[name]); err != nil {
			return out, fault.Storage("write "+path.Join(bundle, name), err)
		}
	}
	return out, m.removeOld(ctx, pages)
}

func isManifest(name string) bool { return name == manifest.File }

// bases returns the digests of the manifest and the notes as they are, so that nobody's edit is overwritten.
func (m mending) bases(ctx context.Context) (map[string]string, error) {
	names := []string{manifest.File, m.old.NoteName()}
	for _, c := range m.old.Chapters {
		names = append(names, c.Note)
	}
	bases := map[string]string{}
	for _, name := range names {
		sum, err := m.w.im.sumOf(ctx, path.Join(m.w.job.Mend, name))
		if err != nil {
			return nil, err
		}
		bases[name] = sum
	}
	return bases, nil
}

// notes composes the notes, unless the user has changed what was generated: then they stay as they are.
func (m mending) notes(now *manifest.Manifest, p plan, rec documentRecord, out *Published) (map[string][]byte, error) {
	notes, err := publishing{m.w}.laidOut(now, p, rec)
	if err != nil || !m.edited(notes) {
		return notes, err
	}
	now.Generated, now.Chapters = nil, m.old.Chapters
	out.Warnings = append(out.Warnings, "the note keeps its text, because you changed what was generated; the new pages are in the folders pages and text of "+p.Target)
	return map[string][]byte{}, nil
}

// edited reports whether the user has changed what was generated. Notes that an earlier attempt has written are no edits.
func (m mending) edited(notes map[string][]byte) bool {
	for name, digests := range m.old.Generated {
		data, err := fs.ReadFile(m.w.im.Files.FS(), path.Join(m.w.job.Mend, name))
		if err != nil || string(data) == string(notes[name]) {
			continue
		}
		if !maps.Equal(vault.PageDigests(string(data)), digests) {
			return true
		}
	}
	return false
}

// copyFiles writes the files of pages and the pictures that differ into the bundle.
func (m mending) copyFiles(ctx context.Context, pages []manifest.Page, assets []manifest.Asset) error {
	var files []string
	for _, p := range pages {
		files = append(files, p.Files()...)
	}
	for _, a := range assets {
		files = append(files, a.Path)
	}
	for _, name := range files {
		data, err := fs.ReadFile(m.w.store.bundle.FS(), name)
		if err != nil {
			return fault.Storage("read "+name, err)
		}
		to := path.Join(m.w.job.Mend, name)
		sum, err := m.w.im.sumOf(ctx, to)
		if err != nil {
			return err
		}
		if sum == digest(data) {
			continue
		}
		if err := m.w.im.Files.Write(ctx, to, data, sum); err != nil {
			return fault.Storage("write "+to, err)
		}
	}
	return nil
}

// removeOld removes the files of pages that were replaced under another name.
func (m mending) removeOld(ctx context.Context, pages []manifest.Page) error {
	used := map[string]bool{}
	for _, p := range pages {
		for _, name := range p.Files() {
			used[name] = true
		}
	}
	for _, p := range m.old.Pages {
		for _, name := range p.Files() {
			sum, err := m.w.im.sumOf(ctx, path.Join(m.w.job.Mend, name))
			if err != nil {
				return err
			}
			if used[name] || sum == "" {
				continue
			}
			if err := m.w.im.Files.Remove(ctx, path.Join(m.w.job.Mend, name), sum); err != nil {
				return fault.Storage("remove "+name, err)
			}
		}
	}
	return nil
}
