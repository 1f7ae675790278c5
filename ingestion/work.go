package ingestion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/attempts"
	"github.com/vaultflow/vaultflow/ingestion/choose"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/reading"
	"github.com/vaultflow/vaultflow/vault"
)

// recordBytes limits a record; the document's own holds the outline.
const recordBytes = 16 << 20

// work is an import in progress. Each of its subjects has a type of its own: places, store, publishing, filing and so on.
type work struct {
	im     *Importer
	job    Job
	set    config.Settings
	places places
	store  *store
	deaths *attempts.Log
	layer  oldLayer
}

// store holds what an import has made: the future bundle, and records of finished work. Both are hidden folders that survive the
// process.
type store struct {
	im      *Importer
	job     Job
	set     config.Settings
	bundle  vault.Bundle
	records vault.Bundle // page_0001.json, document.json, plan.json

	mu    sync.Mutex // guards tally and fresh
	tally tally
	fresh map[string][]byte // records of pages that were written since the folders were opened: they need not be read back
	pace  pace
}

// tally counts the pages that have a record.
type tally struct{ pages, done, failed, ocr int }

// stageID names the hidden folders. The same bytes, settings and source have the same name, so another attempt finds them.
func (j Job) stageID() string {
	return digest([]byte(j.SHA256 + "\n" + j.Hash() + "\n" + j.Source))[:24]
}

func (im *Importer) places(j Job) places { return places{im: im, job: j, set: j.settings()} }

// begin returns the work for a job without its hidden folders, which filing alone does not need.
func (im *Importer) begin(j Job) *work {
	w := &work{im: im, job: j, set: j.settings(), places: im.places(j), deaths: im.Attempts}
	if w.deaths == nil {
		w.deaths = attempts.New(nil)
	}
	return w
}

// stage opens the hidden folders of a job. The caller closes the store.
func (im *Importer) stage(j Job) (*work, error) {
	w := im.begin(j)
	s := &store{im: im, job: j, set: w.set, fresh: map[string][]byte{}}
	var err error
	if s.records, err = im.Files.Stage(s.set.ImportedDir, j.stageID()+"-work"); err != nil {
		return nil, fault.Storage("open the records of "+j.Source, err)
	}
	if s.bundle, err = im.Files.Stage(s.set.ImportedDir, j.stageID()); err != nil {
		s.records.Close()
		return nil, fault.Storage("open the bundle of "+j.Source, err)
	}
	w.store = s
	return w, nil
}

// close closes the hidden folders, which stay.
func (s *store) close() {
	s.bundle.Close()
	s.records.Close()
}

// reader returns a reader of the job's file.
func (w *work) reader(open extract.Open) *reading.Reader {
	return &reading.Reader{Worker: w.im.Worker, Source: w.job.Source, Name: w.job.at(), Exists: w.im.exists, Open: open, SHA256: w.job.SHA256, Deaths: w.deaths}
}

// documentRecord is what is known about a document before its pages.
type documentRecord struct {
	Document manifest.Document `json:"document"`
	Render   *manifest.Render  `json:"render,omitempty"`
	Tools    map[string]string `json:"tools,omitempty"`
	Started  time.Time         `json:"started"`
	ModTime  time.Time         `json:"mtime,omitzero"`
	Warnings []string          `json:"warnings,omitempty"`
	CutOff   bool              `json:"cut_off,omitempty"`  // it has no mark of its end
	Damaged  bool              `json:"damaged,omitempty"`  // it lacks something, as the warnings say
	Body     string            `json:"body,omitempty"`     // path of the text in the records, of text files
	Message  string            `json:"message,omitempty"`  // a sentence for the note, for files that are only kept
	Lacks    string            `json:"lacks,omitempty"`    // why the file was not read, if another attempt may read it
	Assets   []manifest.Asset  `json:"assets,omitempty"`   // pictures taken out of the source
	Children []manifest.Child  `json:"children,omitempty"` // files of an archive
	Members  []manifest.Member `json:"members,omitempty"`  // files of an export, in the bundle
	Kept     string            `json:"kept,omitempty"`     // the member that counts as the original; empty if the source itself does
	Page     string            `json:"page,omitempty"`     // where the page or note would have arrived that the source is packed around
}

// has reports whether a file or folder of the source has this name in the bundle.
func (r documentRecord) has(name string) bool {
	first := func(name string) string {
		first, _, _ := strings.Cut(name, "/")
		return vault.Fold(first)
	}
	return slices.ContainsFunc(r.Children, func(c manifest.Child) bool { return first(c.Bundle) == vault.Fold(name) }) ||
		slices.ContainsFunc(r.Members, func(m manifest.Member) bool { return first(m.Path) == vault.Fold(name) })
}

const documentName = "document.json"

// made counts the records, which is how far the import has come.
func (s *store) made() int {
	records, err := fs.ReadDir(s.records.FS(), ".")
	if err != nil {
		return 0 // there are none yet
	}
	return len(records)
}

func pageName(n int) string { return fmt.Sprintf("page_%04d", n) }

// load reads a record, and reports whether it is there. One that cannot be read counts as missing.
func load[T any](b vault.Bundle, name string) (T, bool, error) {
	var v T
	data, err := fs.ReadFile(b.FS(), name)
	if errors.Is(err, fs.ErrNotExist) {
		return v, false, nil
	}
	if err != nil {
		return v, false, fault.Storage("read "+name, err)
	}
	if len(data) > recordBytes || json.Unmarshal(data, &v) != nil {
		var none T
		return none, false, nil
	}
	return v, true, nil
}

// save writes a record, durably.
func save(ctx context.Context, b vault.Bundle, name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return put(ctx, b, name, data)
}

// put writes a file of a bundle, unless ctx is done.
func put(ctx context.Context, b vault.Bundle, name string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return fault.Storage("write "+name, b.WriteFile(name, data))
}

func (s *store) document() (documentRecord, bool, error) {
	return load[documentRecord](s.records, documentName)
}

// begin returns the document's record with what all handlers know.
func (s *store) begin(d manifest.Document) documentRecord {
	rec := documentRecord{Document: d, Started: s.im.Now(), Tools: map[string]string{}}
	if s.im.Tool != "" {
		rec.Tools["vaultflow"] = s.im.Tool
	}
	if info, err := fs.Stat(s.im.Files.FS(), s.job.at()); err == nil {
		rec.ModTime = info.ModTime().UTC().Truncate(time.Second)
	}
	if rec.Document.Outline == nil {
		rec.Document.Outline = []extract.OutlineItem{}
	}
	return rec
}

// page returns a page's record. It counts only while the files that it names are there and have their size.
func (s *store) page(n int) (manifest.Page, bool, error) {
	name := pageName(n) + ".json"
	s.mu.Lock()
	data := s.fresh[name]
	s.mu.Unlock()
	if data != nil {
		var p manifest.Page
		err := json.Unmarshal(data, &p)
		return p, err == nil, err
	}
	p, ok, err := load[manifest.Page](s.records, name)
	if err != nil || !ok || p.N != n {
		return manifest.Page{}, false, err
	}
	if p.Image != nil && !s.holds(p.Image.Path, p.Image.Bytes) || p.Text != nil && p.Text.Path != "" && !s.holds(p.Text.Path, -1) {
		return manifest.Page{}, false, nil
	}
	return p, true, nil
}

// holds reports whether the bundle has a file of that size. A negative size matches any.
func (s *store) holds(name string, size int64) bool {
	info, err := fs.Stat(s.bundle.FS(), name)
	return err == nil && info.Mode().IsRegular() && (size < 0 || info.Size() == size)
}

// finish writes a page's record, which is the last thing written for a page, and sends an event.
func (s *store) finish(ctx context.Context, p manifest.Page) error {
	return s.finishAll(ctx, []madePage{{page: p}})
}

// finishAll writes the files of pages and then their records, and sends events.
func (s *store) finishAll(ctx context.Context, pages []madePage) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	files := map[string][]byte{}
	records := make([]manifest.Page, len(pages))
	for i, made := range pages {
		maps.Copy(files, made.files)
		records[i] = made.page
	}
	if err := s.bundle.WriteFiles(files); err != nil {
		return fault.Storage("write pages", err)
	}
	if err := s.record(ctx, records...); err != nil {
		return err
	}
	for _, made := range pages {
		s.report(made.page)
	}
	return nil
}

// record writes the records of pages whose files are written.
func (s *store) record(ctx context.Context, pages ...manifest.Page) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	records := map[string][]byte{}
	for _, p := range pages {
		data, err := json.Marshal(p)
		if err != nil {
			return fmt.Errorf("write the record of page %d: %w", p.N, err)
		}
		records[pageName(p.N)+".json"] = data
	}
	if err := s.records.WriteFiles(records); err != nil {
		return fault.Storage("write the records of pages", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.fresh, records)
	return nil
}

// report counts a page that has its record, and sends the event.
func (s *store) report(p manifest.Page) {
	now := s.count(p)
	e := Event{Kind: EventPage, Page: p.N, Pages: now.pages, Done: now.done, Failed: now.failed, Message: p.Error}
	e.OCR = p.Text != nil && p.Text.Source == manifest.TextOCR
	e.Left = s.pace.left(now.pages - now.done)
	s.im.tell(s.job, e)
}

// start reports how many pages there are before the first of them is made.
func (s *store) start() {
	s.im.tell(s.job, Event{Kind: EventPage, Pages: s.tally.pages, Done: s.tally.done, Failed: s.tally.failed})
}

func (s *store) count(p manifest.Page) tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally.done++
	if p.Status == manifest.PageFailed {
		s.tally.failed++
	}
	if p.OCR != nil && p.OCR.Engine != "" {
		s.tally.ocr++
	}
	return s.tally
}

// wanted lists the pages of a document that were asked for, in order.
func (s *store) wanted(pages int) []int {
	set, err := choose.ParsePages(s.set.Asked.Pages)
	if err != nil {
		panic(err) // config.Settings.Check has read it
	}
	return set.Of(pages)
}

// missing counts the pages that have records, and returns the others.
func (s *store) missing(pages int) ([]int, error) {
	wanted := s.wanted(pages)
	if len(wanted) == 0 && pages > 0 {
		return nil, fault.Permanent(failure.InvalidSettings, fmt.Sprintf("ask for pages from 1 to %d, or for all", pages),
			"the document has %d pages; pages %s are not among them", pages, s.set.Asked.Pages)
	}
	s.tally = tally{pages: len(wanted)}
	var todo []int
	for _, n := range wanted {
		p, ok, err := s.page(n)
		if err != nil {
			return nil, err
		}
		if !ok {
			todo = append(todo, n)
			continue
		}
		s.count(p)
	}
	return todo, nil
}

// pages reads the records of all pages that were asked for, in order.
func (s *store) pages(n int) ([]manifest.Page, error) {
	pages := make([]manifest.Page, 0, n)
	for _, i := range s.wanted(n) {
		p, ok, err := s.page(i)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fault.Permanent(failure.Vault, "import the file again", "page %d of %s is missing from the hidden folder of this import", i, s.job.Source)
		}
		pages = append(pages, p)
	}
	return pages, nil
}

// original returns the name of the bytes: the version before may have been moved with them. It is empty if they are gone, or others
// took their place.
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

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// digestReader hashes to the end, or until ctx is done.
func digestReader(ctx context.Context, r io.Reader) (string, error) {
	h := sha256.New()
	_, err := io.Copy(&untilDone{ctx, h}, r)
	return hex.EncodeToString(h.Sum(nil)), err
}

type untilDone struct {
	ctx context.Context
	hash.Hash
}

// Write implements io.Writer.
func (u *untilDone) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Hash.Write(p)
}
