package ingestion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/failure"
)

// Publish makes the bundle appear: manifest, note, one rename. Called again after it succeeded it gives the same answer,
// until File has ended the import. x is what Extract gave.
func (im *Importer) Publish(ctx context.Context, j Job, x Extracted) (Published, error) {
	records, err := im.Stager.Stage(j.settings().ImportedDir, j.stageID()+"-work")
	if err != nil {
		return Published{}, storage("open the records of "+j.Source, err)
	}
	p, decided, err := load[plan](records, planName)
	if err != nil {
		return Published{}, err
	}
	if decided && im.holds(p.Target, j) {
		return p.published(), nil
	}
	if target := im.published(j); !decided && target != "" {
		return plan{Target: target}.published(), nil // the records are gone: somebody tidied up
	}
	w, err := im.stage(j)
	if err != nil {
		return Published{}, err
	}
	if err := w.unchanged(ctx, p); err != nil {
		return Published{}, err
	}
	rec, pages, err := w.recalled(x.Digest)
	if err != nil {
		return Published{}, err
	}
	taken := map[string]bool{}
	for range 10 {
		if !decided {
			if p, err = w.decide(ctx, taken); err != nil {
				return Published{}, err
			}
			if err := save(ctx, w.records, planName, p); err != nil {
				return Published{}, err
			}
		}
		free, err := w.appear(ctx, p, rec, pages)
		if err != nil {
			return Published{}, err
		}
		if free {
			return p.published(), nil
		}
		decided, taken[p.Target] = false, true // somebody was faster, or another spelling of the name is there
	}
	return Published{}, &Error{Code: failure.Vault, Message: "others keep taking the name " + p.Target, Transient: true}
}

func (p plan) published() Published {
	out := Published{Bundle: p.Target, Note: path.Join(p.Target, noteName), Previous: p.Previous}
	if p.Aside != "" {
		out.Previous = p.Aside
	}
	return out
}

// holds says whether a folder is the bundle of this job.
func (im *Importer) holds(bundle string, j Job) bool {
	m, ok := im.manifest(bundle)
	return ok && m.Import.ID == j.ID && m.Source.SHA256 == j.SHA256
}

// published finds the bundle of this job by its name alone; empty when it has not appeared.
func (im *Importer) published(j Job) string {
	name, kept := (&work{im: im, job: j, set: j.settings()}).address()
	for n := 1; n <= maxNumber; n++ {
		candidate := numbered(name, n)
		if kept[candidate] {
			continue
		}
		if !im.exists(candidate) {
			return ""
		}
		if im.holds(candidate, j) {
			return candidate
		}
	}
	return ""
}

// unchanged makes sure that the pages are those of the bytes that were announced.
func (w *work) unchanged(ctx context.Context, p plan) error {
	name, err := w.original(ctx, p)
	if err != nil {
		return err
	}
	if name != "" {
		return nil
	}
	if err := w.forget(); err != nil {
		return err
	}
	return permanent(failure.Cancelled, "", "%s was changed or removed while it was imported", w.job.Source)
}

// recalled reads the records back, and makes sure that they are those that Extract spoke of.
func (w *work) recalled(want string) (documentRecord, []Page, error) {
	rec, _, err := w.document()
	if err != nil {
		return rec, nil, err
	}
	pages, err := w.pages(rec.Document.Pages)
	if err != nil {
		return rec, nil, err
	}
	have, err := recordDigest(rec, pages)
	if err == nil && have != want {
		err = permanent(failure.Vault, "import the file again", "the records of %s were changed after its pages were made", w.job.Source)
	}
	return rec, pages, err
}

// appear writes manifest and note and renames. It says whether the name was free.
func (w *work) appear(ctx context.Context, p plan, rec documentRecord, pages []Page) (free bool, err error) {
	m := w.manifest(p, rec, pages)
	note, err := w.laidOut(&m, p, rec)
	if err != nil {
		return false, err
	}
	data, err := m.encode()
	if err != nil {
		return false, err
	}
	if err := put(ctx, w.bundle, manifestName, data); err != nil {
		return false, err
	}
	if err := put(ctx, w.bundle, noteName, note); err != nil {
		return false, err
	}
	if err := w.moveAside(ctx, p); err != nil {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := w.bundle.Publish(p.Target); err != nil {
		if errors.Is(err, fs.ErrExist) || w.im.exists(p.Target) && !w.im.holds(p.Target, w.job) {
			return false, nil
		}
		return false, storage("publish "+p.Target, err)
	}
	return true, nil
}

// moveAside makes room for a new version.
func (w *work) moveAside(ctx context.Context, p plan) error {
	if p.Aside == "" || p.before(w.im) == p.Aside {
		return nil
	}
	return storage(fmt.Sprintf("move %s to %s", p.Previous, p.Aside), w.im.MoveFolder(ctx, p.Previous, p.Aside))
}

// laidOut composes index.md by the person's own layout. One that cannot be used is a warning: the note then has the
// built-in layout.
func (w *work) laidOut(m *Manifest, p plan, rec documentRecord) ([]byte, error) {
	if w.set.Template == "" {
		return w.note(m, p, rec, nil)
	}
	own, bad := readLayout(w.im.FS, w.set.Template)
	if bad == nil {
		note, err := w.note(m, p, rec, &own)
		if !errors.Is(err, errLaidOut) {
			return note, err
		}
		bad = err
	}
	warning := fmt.Sprintf("the template %s was not used: %v", w.set.Template, bad)
	m.Import.Warnings = append(m.Import.Warnings, warning)
	w.im.tell(w.job, Event{Kind: EventWarning, Message: warning})
	return w.note(m, p, rec, nil)
}

// note composes index.md: properties, what a person wrote in the version before, the generated block.
func (w *work) note(m *Manifest, p plan, rec documentRecord, own *layout) ([]byte, error) {
	n := &note{m: m, rec: rec, set: w.set, original: p.Original, bundle: w.bundle.FS(), records: w.records.FS(), layout: own}
	block, err := n.block(handlerFor(w.job.Route.Kind))
	if err != nil {
		return nil, err
	}
	old, base, err := w.older(p)
	if err != nil {
		return nil, err
	}
	front, err := n.properties(old.properties, base)
	if errors.Is(err, errNoMerge) {
		old.above = unreadable(old.front) + old.above
		front, err = n.properties(nil, nil)
	}
	if err != nil {
		return nil, err
	}
	text := front + old.above + block + old.below
	if old.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return []byte(text), nil
}

// older takes the note of the version before apart, and gives the properties that it was given.
func (w *work) older(p plan) (parts, map[string]*yaml.Node, error) {
	before := p.before(w.im)
	if before == "" {
		return parts{}, nil, nil
	}
	data, err := fs.ReadFile(w.im.FS, path.Join(before, noteName))
	if errors.Is(err, fs.ErrNotExist) {
		return parts{}, nil, nil // a person has removed it: nothing is to be kept
	}
	if err != nil {
		return parts{}, nil, storage("read the note of the version before", err)
	}
	m, _ := w.im.manifest(before)
	return splitNote(string(data)), baseProperties(m), nil
}

// forget discards the hidden folders.
func (w *work) forget() error {
	if err := w.bundle.Discard(); err != nil {
		return storage("discard the bundle of "+w.job.Source, err)
	}
	return storage("discard the records of "+w.job.Source, w.records.Discard())
}

// Forget discards what an import that was cancelled has left in its hidden folders. Another attempt begins anew.
func (im *Importer) Forget(j Job) error {
	w, err := im.stage(j)
	if err != nil {
		return err
	}
	return w.forget()
}
