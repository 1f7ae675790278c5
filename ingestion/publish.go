package ingestion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/note"
	"github.com/vaultflow/vaultflow/vault"
)

// publishing makes an import's bundle visible.
type publishing struct{ w *work }

// Publish makes the bundle appear: manifest, note, one rename. After success it returns the same answer again, until File has
// ended the import. x is the result of Extract.
func (im *Importer) Publish(ctx context.Context, j Job, x Extracted) (Published, error) {
	if j.Mend != "" {
		return mend(ctx, im, j, x)
	}
	records, err := im.Files.Stage(j.settings().ImportedDir, j.stageID()+"-work")
	if err != nil {
		return Published{}, fault.Storage("open the records of "+j.Source, err)
	}
	p, decided, err := load[plan](records, planName)
	records.Close()
	if err != nil {
		return Published{}, err
	}
	if decided && im.places(j).holds(p.Target) {
		return p.published(), nil
	}
	if target := im.places(j).published(); !decided && target != "" {
		m, _ := present(im, target)
		return plan{Target: target, Note: m.Note}.published(), nil // the records are gone: somebody removed them
	}
	w, err := im.stage(j)
	if err != nil {
		return Published{}, err
	}
	defer w.store.close()
	if err := (publishing{w}).unchanged(ctx, p); err != nil {
		return Published{}, err
	}
	rec, pages, err := w.store.recalled(x.Digest)
	if err != nil {
		return Published{}, err
	}
	taken := map[string]bool{}
	for range 10 {
		if !decided {
			if p, err = (publishing{w}).decide(ctx, taken, rec, x); err != nil {
				return Published{}, err
			}
			if err := save(ctx, w.store.records, planName, p); err != nil {
				return Published{}, err
			}
		}
		free, err := publishing{w}.appear(ctx, p, rec, pages)
		if err != nil {
			return Published{}, err
		}
		if free {
			return p.published(), nil
		}
		decided, taken[p.Target] = false, true // another program took the name, or another spelling of it exists
	}
	return Published{}, &fault.Error{Code: failure.Vault, Message: "other files keep taking the name " + p.Target, Transient: true}
}

func (p plan) published() Published {
	out := Published{Bundle: p.Target, Note: path.Join(p.Target, p.note()), Previous: p.Previous}
	if p.Aside != "" {
		out.Previous = p.Aside
	}
	return out
}

// note returns the name of the note within the bundle.
func (p plan) note() string { return manifest.Manifest{Note: p.Note}.NoteName() }

// unchanged checks that the bytes are still those that the pages were made of.
func (pub publishing) unchanged(ctx context.Context, p plan) error {
	name, err := pub.w.original(ctx, p)
	if err != nil {
		return err
	}
	if name != "" {
		return nil
	}
	if err := pub.w.store.forget(); err != nil {
		return err
	}
	return fault.Permanent(failure.Cancelled, "", "%s was changed or removed while it was imported", pub.w.job.Source)
}

// recalled reads the records back, and checks that they are those of Extract.
func (s *store) recalled(want string) (documentRecord, []manifest.Page, error) {
	rec, _, err := s.document()
	if err != nil {
		return rec, nil, err
	}
	pages, err := s.pages(rec.Document.Pages)
	if err != nil {
		return rec, nil, err
	}
	have, err := recordDigest(rec, pages)
	if err == nil && have != want {
		err = fault.Permanent(failure.Vault, "import the file again", "the records of %s were changed after its pages were made", s.job.Source)
	}
	return rec, pages, err
}

// appear writes manifest and note and renames. It reports whether the name was free.
func (pub publishing) appear(ctx context.Context, p plan, rec documentRecord, pages []manifest.Page) (free bool, err error) {
	m := pub.manifest(p, rec, pages)
	notes, err := pub.laidOut(&m, p, rec)
	if err != nil {
		return false, err
	}
	files := maps.Clone(notes)
	if files[manifest.File], err = m.Encode(); err != nil {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := pub.w.store.bundle.WriteFiles(files); err != nil {
		return false, fault.Storage("write manifest and notes", err)
	}
	if err := pub.moveAside(ctx, p); err != nil {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := pub.w.im.Files.Publish(pub.w.store.bundle, p.Target, p.Aside); err != nil {
		if errors.Is(err, fs.ErrExist) || pub.w.im.exists(p.Target) && !pub.w.places.holds(p.Target) {
			return false, pub.withdraw(notes)
		}
		return false, fault.Storage("publish "+p.Target, err)
	}
	return true, nil
}

// withdraw removes notes that have the name of a bundle that is not to be: the next name brings its own.
func (pub publishing) withdraw(notes map[string][]byte) error {
	for name := range notes {
		if err := pub.w.store.bundle.RemoveFile(name); err != nil {
			return fault.Storage("remove "+name, err)
		}
	}
	return nil
}

// moveAside makes room for a new version.
func (pub publishing) moveAside(ctx context.Context, p plan) error {
	if p.Aside == "" || p.before(pub.w.im) == p.Aside {
		return nil
	}
	return fault.Storage(fmt.Sprintf("move %s to %s", p.Previous, p.Aside), pub.w.im.Files.Move(ctx, p.Previous, p.Aside))
}

// laidOut composes the notes with the user's layout. If that cannot be used, it warns and uses the built-in one.
func (pub publishing) laidOut(m *manifest.Manifest, p plan, rec documentRecord) (map[string][]byte, error) {
	if pages := pub.edited(p); len(pages) > 0 {
		warning := fmt.Sprintf("what you changed between the marks (%s) is in %s", content.PageList(pages), p.Aside)
		m.Import.Warnings = append(m.Import.Warnings, warning)
		pub.w.im.tell(pub.w.job, Event{Kind: EventWarning, Message: warning})
	}
	if pub.w.set.Template == "" {
		return pub.notes(m, p, rec, nil)
	}
	own, bad := readLayout(pub.w.im.Files.FS(), pub.w.set.Template)
	if bad == nil {
		notes, err := pub.notes(m, p, rec, &own)
		if !errors.Is(err, indexnote.ErrTooLarge) {
			return notes, err
		}
		bad = err
	}
	warning := fmt.Sprintf("the template %s was not used: %v", pub.w.set.Template, bad)
	m.Import.Warnings = append(m.Import.Warnings, warning)
	pub.w.im.tell(pub.w.job, Event{Kind: EventWarning, Message: warning})
	return pub.notes(m, p, rec, nil)
}

// edited returns the pages of the version before whose generated text the user changed in the notes: this version replaces it.
func (pub publishing) edited(p plan) []int {
	before := p.before(pub.w.im)
	m, ok := present(pub.w.im, before)
	if !ok || p.Aside == "" {
		return nil
	}
	var pages []int
	for rel, digests := range m.Generated {
		data, err := fs.ReadFile(pub.w.im.Files.FS(), path.Join(before, rel))
		if err != nil || !fs.ValidPath(rel) {
			continue
		}
		for page, digest := range vault.PageDigests(string(data)) {
			if was := digests[page]; was != "" && was != digest && page > 0 {
				pages = append(pages, page)
			}
		}
	}
	slices.Sort(pages)
	return pages
}

// readLayout reads a template of the vault.
func readLayout(fsys fs.FS, name string) (indexnote.Layout, error) {
	if !fs.ValidPath(name) {
		return indexnote.Layout{}, errors.New("it is not a name in the vault")
	}
	data, err := config.ReadBounded(fsys, name, indexnote.MaxLayout)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return indexnote.Layout{}, errors.New("there is no such note")
	case err != nil:
		return indexnote.Layout{}, err
	case len(data) > indexnote.MaxLayout:
		return indexnote.Layout{}, fmt.Errorf("it is larger than %d kB", indexnote.MaxLayout>>10)
	}
	return indexnote.ParseLayout(string(data))
}

// notes composes the document's note and those of its chapters, by their names in the bundle. If the user's layout makes too much,
// it fails with indexnote.ErrTooLarge.
func (pub publishing) notes(m *manifest.Manifest, p plan, rec documentRecord, own *indexnote.Layout) (map[string][]byte, error) {
	before, err := pub.older(p)
	if err != nil {
		return nil, err
	}
	set := indexnote.Settings{InlinePages: pub.w.set.InlinePages, MinConfidence: pub.w.set.OCR.MinConfidence, Languages: pub.w.set.OCR.Languages}
	n := &indexnote.Note{Manifest: m, Message: rec.Message, Outline: rec.Document.Outline, Settings: set, Original: cmp.Or(p.Kept, p.Original), Bundle: pub.w.store.bundle.FS(), Layout: own, Types: note.ReadTypes(pub.w.im.Files.FS())}
	chapters, lost, err := pub.olderChapters(p, m.Chapters)
	if err != nil {
		return nil, err
	}
	notes := map[string][]byte{}
	compose := func(name string, text []byte, err error) error {
		if errors.Is(err, indexnote.ErrText) {
			return fault.Storage("write the note of "+pub.w.job.Source, err)
		}
		notes[name] = text
		m.Generated[name] = vault.PageDigests(string(text))
		return err
	}
	m.Generated = map[string]map[int]string{}
	for _, c := range m.Chapters {
		text, err := n.ComposeChapter(c, chapters[c.Note], lost[c.Note])
		if err := compose(c.Note, text, err); err != nil {
			return nil, err
		}
	}
	if before == nil && lost[""] != "" {
		before = &indexnote.Previous{}
	}
	if lost[""] != "" {
		before.Text += lost[""]
	}
	text, err := n.Compose(before)
	return notes, compose(m.NoteName(), text, err)
}

// olderChapters returns the chapter notes of the version before by name, and what the user wrote in those that there are no more, by
// the chapter that has their first page now; "" is the document's note.
func (pub publishing) olderChapters(p plan, now []manifest.Chapter) (notes, lost map[string]string, err error) {
	notes, lost = map[string]string{}, map[string]string{}
	before := p.before(pub.w.im)
	m, ok := pub.w.im.manifest(before)
	if !ok {
		return notes, lost, nil
	}
	for _, c := range m.Chapters {
		data, err := fs.ReadFile(pub.w.im.Files.FS(), path.Join(before, c.Note))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the user removed it
		}
		if err != nil {
			return nil, nil, fault.Storage("read a chapter of the version before", err)
		}
		if slices.ContainsFunc(now, func(n manifest.Chapter) bool { return n.Note == c.Note }) {
			notes[c.Note] = string(data)
			continue
		}
		to := ""
		for _, n := range now {
			if to == "" || n.First <= c.First {
				to = n.Note
			}
		}
		lost[to] += indexnote.Own(string(data))
	}
	return notes, lost, nil
}

// older returns the note of the version before, or nil if there is none.
func (pub publishing) older(p plan) (*indexnote.Previous, error) {
	before := p.before(pub.w.im)
	if before == "" {
		return nil, nil
	}
	m, _ := present(pub.w.im, before)
	data, err := fs.ReadFile(pub.w.im.Files.FS(), path.Join(before, m.NoteName()))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the user removed it
	}
	if err != nil {
		return nil, fault.Storage("read the note of the version before", err)
	}
	return &indexnote.Previous{Text: string(data), Manifest: m}, nil
}

// forget discards the hidden folders.
func (s *store) forget() error {
	if err := s.bundle.Discard(); err != nil {
		return fault.Storage("discard the bundle of "+s.job.Source, err)
	}
	return fault.Storage("discard the records of "+s.job.Source, s.records.Discard())
}

// Forget discards the hidden folders of a cancelled import. Another attempt starts from the beginning.
func (im *Importer) Forget(j Job) error {
	w, err := im.stage(j)
	if err != nil {
		return err
	}
	defer w.store.close()
	return w.store.forget()
}
