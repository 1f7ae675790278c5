package ingestion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
)

// maxNumber bounds the search for a free name.
const maxNumber = 10_000

const planName = "plan.json"

// plan is what Publish has decided. It is written before anything of it is done, and outlives a crash.
type plan struct {
	Target   string    `json:"target"`             // vault name of the bundle
	Original string    `json:"original,omitempty"` // name within the bundle, or a vault name, or empty when it is not kept
	Finished time.Time `json:"finished"`
	Version  int       `json:"version"`

	Previous       string `json:"previous,omitempty"`        // bundle of the version before
	PreviousImport string `json:"previous_import,omitempty"` // its import
	Aside          string `json:"aside,omitempty"`           // where it is moved; empty when it stays
}

// before is where the version before is now; empty when there is none.
func (p plan) before(im *Importer) string {
	if p.Aside == "" {
		return p.Previous
	}
	if m, ok := im.manifest(p.Previous); ok && m.Import.ID == p.PreviousImport {
		return p.Previous
	}
	return p.Aside
}

// decide chooses the names. A bundle of the same source is the version before; any other that has the name keeps it.
// Names in taken are left alone.
func (w *work) decide(ctx context.Context, taken map[string]bool) (plan, error) {
	im, j := w.im, w.job
	p := plan{Version: 1, Finished: im.Now()}
	name, kept := w.address()
	for n := 1; p.Target == ""; n++ {
		if n > maxNumber {
			return plan{}, fmt.Errorf("name the bundle of %s: %d names are taken", j.Source, maxNumber)
		}
		candidate := numbered(name, n)
		if taken[candidate] || kept[candidate] {
			continue
		}
		if !im.exists(candidate) {
			p.Target = candidate
			break
		}
		m, ok := im.manifest(candidate)
		if !ok || m.Source.Path != j.Source || p.Previous != "" && m.Import.Version < p.Version {
			continue
		}
		p.Previous, p.PreviousImport, p.Version = candidate, m.Import.ID, m.Import.Version+1
		if im.MoveFolder != nil {
			p.Target, p.Aside = candidate, w.aside(candidate, m.Import.Version)
		}
	}
	var err error
	p.Original, err = w.keep(ctx)
	return p, err
}

// aside is a free name for a version that is replaced.
func (w *work) aside(bundle string, version int) string {
	name := fmt.Sprintf("%s (version %d)", bundle, version)
	for n := 1; n < maxNumber; n++ {
		if candidate := numbered(name, n); !w.im.exists(candidate) {
			return candidate
		}
	}
	return name // taken: MoveFolder will say so
}

// keep says where the original will be.
func (w *work) keep(ctx context.Context) (string, error) {
	switch {
	case w.set.KeepOriginal == KeepInBundle:
		return w.im.originalName(w.job), nil
	case w.set.KeepOriginal == KeepNot && w.im.Remove != nil:
		return "", nil
	}
	return w.im.freeFor(ctx, path.Join(w.set.DoneDir, w.im.folder(w.job, w.set.ImportDir), w.im.SafeName(w.job.base(), nameBytes)), w.job.SHA256)
}

// freeFor is the first numbered name that nothing has, or a file with the same bytes.
func (im *Importer) freeFor(ctx context.Context, name, sum string) (string, error) {
	for n := range maxNumber {
		candidate := numberedFile(name, n+1)
		if !im.exists(candidate) {
			return candidate, nil
		}
		have, err := im.sumOf(ctx, candidate)
		if err == nil && have == sum {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("find a free name for %s: %d are taken", name, maxNumber)
}

// manifest reads the manifest of a bundle; false when the folder has none that can be read.
func (im *Importer) manifest(bundle string) (Manifest, bool) {
	if bundle == "" {
		return Manifest{}, false
	}
	data, _, err := im.Files.Read(path.Join(bundle, manifestName), manifestBytes)
	if err != nil {
		return Manifest{}, false
	}
	m, err := ParseManifest(data)
	return m, err == nil
}

// twin finds a bundle of the same bytes and settings that another import made.
func (im *Importer) twin(ctx context.Context, j Job) (id, bundle string, err error) {
	w := &work{im: im, job: j, set: j.settings()}
	home := w.home() // a link leads there: a bundle elsewhere is none of this file
	same := func(bundle string) (string, bool) {
		m, ok := im.manifest(bundle)
		ok = ok && (home == "" || home == bundle)
		ok = ok && m.Source.SHA256 == j.SHA256 && m.Import.Settings == j.Hash() && m.Import.ID != j.ID
		return m.Import.ID, ok
	}
	if im.Imported != nil {
		_, bundle, err := im.Imported(ctx, j.SHA256, j.Hash())
		if err != nil {
			return "", "", fmt.Errorf("look for earlier imports of %s: %w", j.Source, err)
		}
		if id, ok := same(bundle); ok {
			return id, bundle, nil
		}
	}
	// The journal may be younger than the vault.
	name, kept := w.address()
	for n := 1; n <= maxNumber; n++ {
		candidate := numbered(name, n)
		if kept[candidate] {
			continue
		}
		if !im.exists(candidate) {
			return "", "", nil
		}
		if id, ok := same(candidate); ok {
			return id, candidate, nil
		}
	}
	return "", "", nil
}

// original is where the bytes are now: the version before may have been moved with them in it. It is empty when they
// are gone, or others are in their place.
func (w *work) original(ctx context.Context, p plan) (string, error) {
	candidates := []string{w.job.at()}
	if rel, ok := strings.CutPrefix(w.job.at(), p.Previous+"/"); ok && p.Aside != "" {
		candidates = append(candidates, path.Join(p.Aside, rel))
	}
	for _, name := range candidates {
		sum, err := w.im.sumOf(ctx, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if sum == w.job.SHA256 {
			return name, nil
		}
	}
	return "", nil
}
