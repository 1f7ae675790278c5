package ingestion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/failure"
)

// recordFormat changes when records of an older program can not be gone on with. It is part of every settings hash.
const recordFormat = 1

// recordBytes bounds a record that is read; the document's own holds the outline.
const recordBytes = 16 << 20

// work is an import at work. Its two hidden folders outlive it.
type work struct {
	im      *Importer
	job     Job
	set     Settings
	bundle  Bundle // what will be published
	records Bundle // what is only for going on: page_0001.json, document.json, plan.json

	mu    sync.Mutex // guards tally
	tally tally
	pace  pace
}

// tally counts the pages that have a record.
type tally struct{ pages, done, failed, ocr int }

// stageID names the hidden folders: equal for the same bytes, settings and source, so that another attempt finds them.
func (j Job) stageID() string {
	return digest([]byte(j.SHA256 + "\n" + j.Hash() + "\n" + j.Source))[:24]
}

func (im *Importer) stage(j Job) (*work, error) {
	w := &work{im: im, job: j, set: j.settings()}
	var err error
	if w.records, err = im.Stager.Stage(w.set.ImportedDir, j.stageID()+"-work"); err != nil {
		return nil, storage("open the records of "+j.Source, err)
	}
	if w.bundle, err = im.Stager.Stage(w.set.ImportedDir, j.stageID()); err != nil {
		return nil, storage("open the bundle of "+j.Source, err)
	}
	return w, nil
}

// documentRecord is what is known of a document before its pages.
type documentRecord struct {
	Document Document          `json:"document"`
	Render   *Render           `json:"render,omitempty"`
	Tools    map[string]string `json:"tools,omitempty"`
	Started  time.Time         `json:"started"`
	ModTime  time.Time         `json:"mtime,omitzero"`
	Warnings []string          `json:"warnings,omitempty"`
	Body     string            `json:"body,omitempty"`     // path of the text in the records, of text files
	Message  string            `json:"message,omitempty"`  // a sentence for the note, of files that are only kept
	Assets   []Asset           `json:"assets,omitempty"`   // pictures taken out of the source
	Children []Child           `json:"children,omitempty"` // files of an archive
}

const documentName = "document.json"

func pageName(n int) string { return fmt.Sprintf("page_%04d", n) }

// load reads a record. The boolean says whether it is there; one that cannot be read counts as not there.
func load[T any](b Bundle, name string) (T, bool, error) {
	var v T
	data, err := fs.ReadFile(b.FS(), name)
	if errors.Is(err, fs.ErrNotExist) {
		return v, false, nil
	}
	if err != nil {
		return v, false, storage("read "+name, err)
	}
	if len(data) > recordBytes || json.Unmarshal(data, &v) != nil {
		var none T
		return none, false, nil
	}
	return v, true, nil
}

// save writes a record, durably.
func save(ctx context.Context, b Bundle, name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return put(ctx, b, name, data)
}

// put writes a file of a bundle, unless ctx is done.
func put(ctx context.Context, b Bundle, name string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return storage("write "+name, b.WriteFile(name, data))
}

func (w *work) document() (documentRecord, bool, error) {
	return load[documentRecord](w.records, documentName)
}

// begin makes the document's record with what all handlers know.
func (w *work) begin(d Document) documentRecord {
	rec := documentRecord{Document: d, Started: w.im.Now(), Tools: map[string]string{}}
	if w.im.Tool != "" {
		rec.Tools["vaultflow"] = w.im.Tool
	}
	if info, err := fs.Stat(w.im.FS, w.job.at()); err == nil {
		rec.ModTime = info.ModTime().UTC().Truncate(time.Second)
	}
	if rec.Document.Outline == nil {
		rec.Document.Outline = []OutlineItem{}
	}
	return rec
}

// page gives a page's record. It counts only while the files that it names are there in their size.
func (w *work) page(n int) (Page, bool, error) {
	p, ok, err := load[Page](w.records, pageName(n)+".json")
	if err != nil || !ok || p.N != n {
		return Page{}, false, err
	}
	if p.Image != nil && !w.holds(p.Image.Path, p.Image.Bytes) || p.Text != nil && p.Text.Path != "" && !w.holds(p.Text.Path, -1) {
		return Page{}, false, nil
	}
	return p, true, nil
}

// holds says whether the bundle has a file of that size; any size will do when it is negative.
func (w *work) holds(name string, size int64) bool {
	info, err := fs.Stat(w.bundle.FS(), name)
	return err == nil && info.Mode().IsRegular() && (size < 0 || info.Size() == size)
}

// finish writes a page's record, which is the last thing written of a page, and tells.
func (w *work) finish(ctx context.Context, p Page) error {
	if err := save(ctx, w.records, pageName(p.N)+".json", p); err != nil {
		return err
	}
	now := w.count(p)
	e := Event{Kind: EventPage, Page: p.N, Pages: now.pages, Done: now.done, Failed: now.failed, Message: p.Error}
	e.OCR = p.Text != nil && p.Text.Source == TextOCR
	e.Left = w.pace.left(now.pages - now.done)
	w.im.tell(w.job, e)
	return nil
}

func (w *work) count(p Page) tally {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tally.done++
	if p.Status == PageFailed {
		w.tally.failed++
	}
	if p.OCR != nil && p.OCR.Engine != "" {
		w.tally.ocr++
	}
	return w.tally
}

// wanted lists the pages of a document that were asked for, in order.
func (w *work) wanted(pages int) []int {
	set, err := ParsePages(w.set.Asked.Pages)
	if err != nil {
		panic(err) // Settings.check has read it
	}
	return set.of(pages)
}

// missing counts the pages that have records, and lists the others.
func (w *work) missing(pages int) ([]int, error) {
	wanted := w.wanted(pages)
	if len(wanted) == 0 && pages > 0 {
		return nil, permanent(failure.InvalidSettings, fmt.Sprintf("ask for pages from 1 to %d, or for all", pages),
			"the document has %d pages; pages %s are none of them", pages, w.set.Asked.Pages)
	}
	w.tally = tally{pages: len(wanted)}
	var todo []int
	for _, n := range wanted {
		p, ok, err := w.page(n)
		if err != nil {
			return nil, err
		}
		if !ok {
			todo = append(todo, n)
			continue
		}
		w.count(p)
	}
	return todo, nil
}

// pages reads the records of all pages that were asked for, in order.
func (w *work) pages(n int) ([]Page, error) {
	pages := make([]Page, 0, n)
	for _, i := range w.wanted(n) {
		p, ok, err := w.page(i)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, permanent(failure.Vault, "import the file again", "page %d of %s is gone from the hidden folder of this import", i, w.job.Source)
		}
		pages = append(pages, p)
	}
	return pages, nil
}
