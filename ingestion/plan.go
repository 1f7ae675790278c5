package ingestion

import (
	"context"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/config"
)

// maxNumber limits the search for a free name.
const maxNumber = 10_000

const planName = "plan.json"

// plan is what Publish has decided. It is written before Publish acts on it, and survives a crash.
type plan struct {
	Target   string    `json:"target"`             // vault name of the bundle
	Note     string    `json:"note,omitempty"`     // name within the bundle; empty for index.md
	Original string    `json:"original,omitempty"` // a name within the bundle, or a vault name, or empty if it is not kept
	Needed   bool      `json:"needed,omitempty"`   // it stays in the bundle, which has not all of it
	Kept     string    `json:"kept,omitempty"`     // the file of the source that is the original, within the bundle; the source is then removed
	Finished time.Time `json:"finished"`
	Version  int       `json:"version"`

	Previous       string `json:"previous,omitempty"`        // bundle of the version before
	PreviousImport string `json:"previous_import,omitempty"` // its import
	Aside          string `json:"aside,omitempty"`           // where it is moved; empty if it stays
}

// before returns where the version before is now, or "" if there is none.
func (p plan) before(im *Importer) string {
	if p.Aside == "" {
		return p.Previous
	}
	if m, ok := im.manifest(p.Previous); ok && m.Import.ID == p.PreviousImport {
		return p.Previous
	}
	return p.Aside
}

// decide chooses the names. A bundle of the same source, or of the page that is completed, is the version before; any other keeps its name. Names in taken are not
// used. The note keeps the name that it had in the version before, unless a file of the source has it. In an older archive it is index.md, where that links to.
func (pub publishing) decide(ctx context.Context, taken map[string]bool, rec documentRecord, x Extracted) (plan, error) {
	im, j := pub.w.im, pub.w.job
	p := plan{Version: 1, Finished: im.Now()}
	name, kept := pub.w.places.address()
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
		m, ok := present(im, candidate)
		if !ok || m.Source.Path != j.Source && (rec.Page == "" || m.Source.Path != rec.Page) {
			continue
		}
		p.Previous, p.PreviousImport, p.Version = candidate, m.Import.ID, m.Import.Version+1
		p.Target, p.Aside, p.Note = candidate, pub.w.places.aside(candidate, m.Import.Version), m.Note
	}
	if archive, m, _ := pub.w.places.container(); p.Previous == "" && (archive == "" || m.Note != "") || rec.has(p.Note) {
		p.Note = pub.w.places.note(p.Target, rec)
	}
	if rec.Kept != "" {
		p.Kept = rec.Kept
		return p, nil
	}
	if pub.w.set.KeepOriginal == config.KeepNot && !x.whole(rec) {
		p.Original, p.Needed = pub.w.places.original(), true
		return p, nil
	}
	var err error
	p.Original, err = pub.w.places.keep(ctx)
	return p, err
}
