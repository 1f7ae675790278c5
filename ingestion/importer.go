package ingestion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/attempts"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/ingestion/reading"
	"github.com/vaultflow/vaultflow/vault"
)

// Importer imports files. Files, Worker and Now are required. Several goroutines may use it, but no two on equal bytes of the same
// source at once.
type Importer struct {
	Files  vault.Files // opened files implement io.ReaderAt
	Worker reading.Worker
	Now    func() time.Time
	Tool   string // this program and its version, for manifests

	// Imported returns the bundle that an earlier import made of the same bytes with the same settings, or "". It may be nil. Its
	// answer is checked against the bundle's manifest.
	Imported func(ctx context.Context, sha256, settings string) (id, bundle string, err error)
	// Moved returns where the folder of a bundle is that a run has moved, or the name as it is. It may be nil.
	Moved func(name string) string
	// Used reports whether a run of a workflow was running at a time or later, so that it may have read what was there. It may be nil:
	// then earlier versions stay.
	Used func(ctx context.Context, since time.Time) (bool, error)
	// Writing describes who has a file of the vault open for writing, or returns "" if nobody is known to. It may be nil.
	Writing func(name string) string
	// Endless reports whether the format of a file that begins with head does not show where a file ends. With Settings.Hold, such
	// originals stay for a while where they arrived. It may be nil.
	Endless func(head []byte) bool
	// Takes reports whether a file with this name in the import folder would be imported; others stay in their archives. It may
	// be nil.
	Takes func(name string) bool
	// Recogniser returns the service behind a recognition engine, or an error that explains why there is none, such as a missing
	// key. It may be nil.
	Recogniser func(engine string, s config.OCR) (Recogniser, error)
	// Transcriber returns the service that writes down what is said in recordings, or an error that explains why there is none. It
	// may be nil.
	Transcriber func(s config.Audio) (Transcriber, error)
	// Office makes page pictures of office files and converts old formats. It may be nil; NoOffice is the reason, and what to do.
	Office   Office
	NoOffice string
	// Passwords lists what may open a job's document, in addition to the file beside it. It may be nil.
	Passwords func(Job) []string
	// Attempts counts what ends processes, across restarts. It may be nil.
	Attempts *attempts.Log
	// Events receives what happens, one call at a time. It may be nil.
	Events func(Event)

	telling sync.Mutex // around Events
}

func (im *Importer) tell(j Job, e Event) {
	if im.Events == nil {
		return
	}
	e.Import, e.Source = j.ID, j.Source
	im.telling.Lock()
	defer im.telling.Unlock()
	im.Events(e)
}

// largePDF is from how many bytes a PDF is expected to have work for two workers.
const largePDF = 256 << 10

// WorkersForName is WorkersFor a file of which only the name and the size are known.
func WorkersForName(name string, size int64) int {
	return WorkersFor(filetype.KindOf(filetype.ByName(name)), size)
}

// WorkersFor returns how many workers are worth starting before a file is opened.
func WorkersFor(kind filetype.Kind, size int64) int {
	switch {
	case kind == filetype.KindPDF && size > largePDF:
		return 2
	case kind == filetype.KindPDF, kind == filetype.KindImage:
		return 1
	}
	return 0
}

// Classify examines the file: whether it is still the announced one, what it is, and whether a bundle of the same bytes and settings
// exists, of the same name if the file is empty. It changes nothing.
func (im *Importer) Classify(ctx context.Context, j Job) (Classified, error) {
	file, size, err := im.open(j.at())
	if errors.Is(err, fs.ErrNotExist) {
		return Classified{Gone: true}, nil
	}
	if err != nil {
		return Classified{}, fault.Storage("open "+j.at(), err)
	}
	defer file.Close()
	route, err := routeOf(j, file, size)
	if err != nil {
		return Classified{}, fault.Storage("read "+j.at(), err)
	}
	out := Classified{Route: route, Home: im.places(j).home()}
	im.tell(j, Event{Kind: EventRoute, Route: &out.Route, Message: out.Route.Evidence.Reason})
	im.Worker.Prepare(WorkersFor(route.Kind, size))
	if size > j.settings().MaxBytes {
		return out, nil // Extract refuses it, and hashing would take long
	}
	sum, err := digestReader(ctx, io.NewSectionReader(file, 0, size))
	if err != nil {
		return Classified{}, fault.Storage("read "+j.at(), err)
	}
	if sum != j.SHA256 {
		return Classified{Gone: true}, nil
	}
	if !j.Again {
		out.DuplicateOf, out.DuplicateBundle, err = im.places(j).duplicate(ctx)
	}
	return out, err
}

// mayBeEmpty has the kinds of which an empty file is not a failed copy.
var mayBeEmpty = map[filetype.Kind]bool{filetype.KindText: true, filetype.KindHTML: true, filetype.KindUnknown: true}

// Extract makes the pages: pictures, text and records, in a hidden folder. Called again, it makes the missing ones.
func (im *Importer) Extract(ctx context.Context, j Job) (Extracted, error) {
	set := j.settings()
	if err := set.Check(); err != nil {
		return Extracted{}, err
	}
	if j.Size > set.MaxBytes {
		return Extracted{}, fault.Permanent(failure.TooLarge, "split the file, or raise ingestion.max_file_size in settings.yaml",
			"the file has %s, the limit is %s", markdown.Size(j.Size), markdown.Size(set.MaxBytes))
	}
	if j.Size == 0 && !mayBeEmpty[j.Route.Kind] {
		return Extracted{}, fault.Permanent(failure.Corrupt, "copy or download it again", "the file is empty: it has 0 bytes")
	}
	w, err := im.stage(j)
	if err != nil {
		return Extracted{}, err
	}
	defer w.store.close()
	again := func(context.Context) error { return nil }
	if j.Mend != "" {
		m, err := mendingOf(w)
		if err == nil {
			err = m.seed(ctx)
		}
		if err != nil {
			return Extracted{}, err
		}
		again = m.keepBetter
	}
	end, err := w.deaths.Begin(ctx, j.ID, w.store.made())
	if err != nil {
		return Extracted{}, err
	}
	defer end()
	if err := handlerFor(j.Route.Kind).extract(ctx, w); err != nil {
		return Extracted{}, err
	}
	if err := again(ctx); err != nil {
		return Extracted{}, err
	}
	out, err := w.store.summary()
	for _, warning := range out.Warnings {
		im.tell(j, Event{Kind: EventWarning, Message: warning})
	}
	return out, err
}

// readerAt is a file that can be read at any offset.
type readerAt interface {
	fs.File
	io.ReaderAt
}

// open opens a regular file of the vault for reading at any offset.
func (im *Importer) open(name string) (readerAt, int64, error) {
	file, err := im.Files.FS().Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	at, ok := file.(readerAt)
	if !ok || !info.Mode().IsRegular() {
		file.Close()
		return nil, 0, fmt.Errorf("open %q: not a regular file", name)
	}
	return at, info.Size(), nil
}

// sumOf returns the digest of a file of the vault, or "" if there is none.
func (im *Importer) sumOf(ctx context.Context, name string) (string, error) {
	file, size, err := im.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fault.Storage("open "+name, err)
	}
	defer file.Close()
	sum, err := digestReader(ctx, io.NewSectionReader(file, 0, size))
	return sum, fault.Storage("read "+name, err)
}

func (im *Importer) exists(name string) bool {
	_, err := fs.Stat(im.Files.FS(), name)
	return !errors.Is(err, fs.ErrNotExist)
}

// manifest reads a bundle's manifest, and reports whether there is one that can be read.
func (im *Importer) manifest(bundle string) (manifest.Manifest, bool) {
	if bundle == "" {
		return manifest.Manifest{}, false
	}
	data, _, err := im.Files.Read(path.Join(bundle, manifest.File), manifest.MaxBytes)
	if err != nil {
		return manifest.Manifest{}, false
	}
	m, err := manifest.Parse(data)
	return m, err == nil
}

// routeOf classifies the open file of a job.
func routeOf(j Job, file io.ReaderAt, size int64) (filetype.Route, error) {
	head := make([]byte, min(size, filetype.HeadBytes))
	if _, err := file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return filetype.Route{}, err
	}
	return filetype.Classify(cmp.Or(j.Declared, j.Settings.Asked.Declared), j.Source, head, file, size), nil
}

// moved is Moved.
func (im *Importer) moved(name string) string {
	if im.Moved == nil {
		return name
	}
	return im.Moved(name)
}
