package ingestion

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/vault"
)

// errKilled is what every call gives after the process has been "killed".
var errKilled = errors.New("killed")

// disk is a vault in a temporary folder. It can be told to die after a number of changes; then nothing works any more.
type disk struct {
	root string

	mu    sync.Mutex // guards what follows
	ops   []string   // changes, in order
	dieAt int        // 0: never
	full  bool       // ENOSPC
}

// change counts a change to the vault and says whether the process lives to make it, and to see its end.
func (d *disk) change(what string, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dieAt > 0 && len(d.ops) >= d.dieAt {
		return errKilled
	}
	d.ops = append(d.ops, what)
	if err := do(); err != nil {
		return err
	}
	if d.dieAt > 0 && len(d.ops) >= d.dieAt {
		return errKilled // done, but nobody was told
	}
	return nil
}

func (d *disk) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

func (d *disk) Stage(dir, id string) (Bundle, error) {
	b := &folder{d, path.Join(dir, ".vaultflow-"+id)}
	return b, d.change("stage "+id, func() error { return os.MkdirAll(d.path(b.dir), 0o755) })
}

func (d *disk) Read(name string, limit int64) ([]byte, string, error) {
	data, err := os.ReadFile(d.path(name))
	if err == nil && int64(len(data)) > limit {
		err = errors.New("too large")
	}
	return data, sum(data), err
}

func (d *disk) Write(_ context.Context, name string, data []byte, base string) error {
	return d.change("write "+name, func() error {
		old, err := os.ReadFile(d.path(name))
		switch {
		case err == nil && bytes.Equal(old, data):
			return nil
		case err == nil && sum(old) != base, err != nil && base != "":
			return &vault.ConflictError{Name: name, Want: base, Have: sum(old)}
		}
		return write(d.path(name), data)
	})
}

func (d *disk) Move(_ context.Context, from, to string) error {
	return d.change("move "+from+" "+to, func() error {
		source, err := os.ReadFile(d.path(from))
		target, err2 := os.ReadFile(d.path(to))
		switch {
		case err != nil && err2 == nil:
			return nil
		case err != nil:
			return err
		case err2 == nil && bytes.Equal(source, target):
			return os.Remove(d.path(from))
		case err2 == nil:
			return fs.ErrExist
		}
		if err := os.MkdirAll(filepath.Dir(d.path(to)), 0o755); err != nil {
			return err
		}
		return os.Rename(d.path(from), d.path(to))
	})
}

var _ Holder = (*disk)(nil)

func (d *disk) Endless(head []byte) bool { return !bytes.HasPrefix(head, []byte("%PDF")) }

func (d *disk) Copy(_ context.Context, from, to, want string, size int64) error {
	return d.change("copy "+from+" "+to, func() error {
		data, err := os.ReadFile(d.path(from))
		if err != nil {
			return err
		}
		if data = data[:min(size, int64(len(data)))]; sum(data) != want {
			return &vault.ConflictError{Name: from, Want: want}
		}
		if have, err := os.ReadFile(d.path(to)); err == nil && !bytes.Equal(have, data) {
			return fs.ErrExist
		}
		return write(d.path(to), data)
	})
}

func (d *disk) Supplant(_ context.Context, from, to, want string) error {
	return d.change("supplant "+from+" "+to, func() error {
		source, err := os.ReadFile(d.path(from))
		target, err2 := os.ReadFile(d.path(to))
		if err != nil || err2 != nil || sum(source) != want || sum(target) != want {
			return errors.Join(&vault.ConflictError{Name: from, Want: want}, err, err2)
		}
		return os.Rename(d.path(from), d.path(to))
	})
}

func (d *disk) moveFolder(_ context.Context, from, to string) error {
	return d.change("move folder "+from+" "+to, func() error { return renameNew(d.path(from), d.path(to)) })
}

func (d *disk) remove(_ context.Context, name, want string) error {
	return d.change("remove "+name, func() error {
		if data, err := os.ReadFile(d.path(name)); err != nil || sum(data) != want {
			return errors.Join(errors.New("other bytes"), err)
		}
		return os.Remove(d.path(name))
	})
}

// tidy leaves folders that are not empty to the system's refusal.
func (d *disk) tidy(dir, top string) error {
	for ; strings.HasPrefix(dir+"/", top+"/"); dir = path.Dir(dir) {
		if os.Remove(d.path(dir)) != nil {
			return nil
		}
	}
	return nil
}

// folder is a bundle on a disk.
type folder struct {
	d   *disk
	dir string
}

func (b *folder) WriteFile(name string, data []byte) error {
	return b.d.change("put "+name, func() error {
		if b.d.full {
			return fmt.Errorf("write: %w", os.NewSyscallError("write", syscall.ENOSPC))
		}
		return write(filepath.Join(b.d.path(b.dir), filepath.FromSlash(name)), data)
	})
}
func (b *folder) FS() fs.FS { return os.DirFS(b.d.path(b.dir)) }
func (b *folder) Publish(target string) error {
	return b.d.change("publish "+target, func() error {
		if err := os.MkdirAll(filepath.Dir(b.d.path(target)), 0o755); err != nil {
			return err
		}
		return renameNew(b.d.path(b.dir), b.d.path(target))
	})
}

func (b *folder) Discard() error {
	return b.d.change("discard "+path.Base(b.dir), func() error { return os.RemoveAll(b.d.path(b.dir)) })
}

func renameNew(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to)
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// script is what the fake worker knows of a document.
type script struct {
	opened extract.Open // of the last start
	doc    extract.Document
	open   func(n int) error // the nth start
	page   func(r extract.PageRequest, n int) (extract.Page, error)

	mu       sync.Mutex // guards what follows
	starts   int
	closed   int
	printed  string // what StartFile was given
	requests []extract.PageRequest
	tries    map[string]int
}

func (s *script) Start(_ context.Context, _ string, o extract.Open) (Session, extract.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.starts++
	s.opened = o
	if s.open != nil {
		if err := s.open(s.starts); err != nil {
			return nil, extract.Document{}, err
		}
	}
	return &session{s: s}, s.doc, nil
}

// StartFile is Start with a document that was made on the way.
func (s *script) StartFile(ctx context.Context, file fs.File, o extract.Open) (Session, extract.Document, error) {
	data, err := io.ReadAll(file)
	s.mu.Lock()
	s.printed = string(data)
	s.mu.Unlock()
	if err != nil {
		return nil, extract.Document{}, err
	}
	return s.Start(ctx, "", o)
}

type session struct {
	s    *script
	dead bool
}

func (c *session) Close() error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.closed++
	return nil
}

func (c *session) Page(ctx context.Context, r extract.PageRequest) (extract.Page, error) {
	if c.dead {
		panic("a dead session was asked for a page")
	}
	s := c.s
	s.mu.Lock()
	s.requests = append(s.requests, r)
	if s.tries == nil {
		s.tries = map[string]int{}
	}
	key := fmt.Sprint(r.N, r.Text, r.Image, r.OCR)
	s.tries[key]++
	n := s.tries[key]
	s.mu.Unlock()
	if s.page == nil {
		return goodPage(r), nil
	}
	p, err := s.page(r, n)
	if e, ok := errors.AsType[*extract.Error](err); ok && e.Ends() {
		c.dead = true
	}
	return p, err
}

// goodPage is a page with a text layer of a hundred characters; every third is a scan.
func goodPage(r extract.PageRequest) extract.Page {
	p := extract.Page{N: r.N, WidthPt: 595, HeightPt: 842}
	if r.Text {
		p.Text = layer(fmt.Sprintf("# Chapter %d\n\nText of page %d.", r.N, r.N))
		if r.N%3 == 0 {
			p.Text = &extract.PageText{Evidence: extract.Evidence{PictureCover: 1, Pictures: 1}}
		}
	}
	if r.Image {
		data := dot(r.N)
		p.Image = &extract.PageImage{MediaType: "image/png", Width: 4, Height: 4, DPI: r.DPI, Size: len(data), Bytes: data}
	}
	if r.OCR {
		p.OCR = &extract.PageOCR{
			Text: fmt.Sprintf("Read from page %d", r.N), Confidence: 91.2, Engine: "fake 1", Width: 100, Height: 200,
			Words: []extract.Word{{Text: "Read", X1: 10, Y1: 10, Confidence: 91.2}},
		}
	}
	return p
}

func layer(md string) *extract.PageText {
	return &extract.PageText{Markdown: md, Plain: md, Evidence: extract.Evidence{Chars: 100, Fonts: 1}}
}

func dot(n int) []byte {
	img := image.NewGray(image.Rect(0, 0, 4, 4))
	img.SetGray(0, 0, color.Gray{Y: uint8(n)})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// bench is a vault with a fake worker and an importer between them.
type bench struct {
	*testing.T
	disk   *disk
	worker *script
	im     *Importer
	events []Event
}

func newBench(t *testing.T, doc extract.Document) *bench {
	b := &bench{T: t, disk: &disk{root: t.TempDir()}, worker: &script{doc: doc}}
	b.revive(0)
	return b
}

// revive makes a new process; it dies after so many changes unless that is zero.
func (b *bench) revive(dieAt int) {
	b.disk.ops, b.disk.dieAt = nil, dieAt
	b.im = &Importer{
		FS: os.DirFS(b.disk.root), Files: b.disk, Stager: b.disk, Worker: b.worker, Tool: "test",
		MoveFolder: b.disk.moveFolder, Remove: b.disk.remove, Tidy: b.disk.tidy, Hold: b.disk,
		SafeName: func(s string, limit int) string { return strings.Map(safe, s[:min(len(s), limit)]) },
		Now:      func() time.Time { return noon.Add(time.Minute) },
		Events:   func(e Event) { b.events = append(b.events, e) },
	}
}

func safe(r rune) rune {
	if strings.ContainsRune(`*"\<>:|?#^[]`, r) {
		return '-'
	}
	return r
}

// drop puts a file into the vault and gives a job for it.
func (b *bench) drop(id, name string, data []byte) Job {
	b.Helper()
	if err := write(b.disk.path(name), data); err != nil {
		b.Fatal(err)
	}
	when := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	if err := os.Chtimes(b.disk.path(name), when, when); err != nil {
		b.Fatal(err)
	}
	return Job{ID: id, Source: name, SHA256: sum(data), Size: int64(len(data)), At: noon}
}

// run does what the engine's body does: every stage, until one fails.
func (b *bench) run(j Job) (Published, Filed, error) {
	ctx := b.Context()
	kind, err := b.im.Classify(ctx, j)
	if err != nil {
		return Published{}, Filed{}, err
	}
	if kind.DuplicateOf != "" {
		filed, err := b.im.File(ctx, j, Ending{State: StateDuplicate, Bundle: kind.DuplicateBundle})
		return Published{Bundle: kind.DuplicateBundle}, filed, err
	}
	j.Route = kind.Route
	x, err := b.im.Extract(ctx, j)
	if err != nil {
		return Published{}, Filed{}, err
	}
	made, err := b.im.Publish(ctx, j, x)
	if err != nil {
		return made, Filed{}, err
	}
	j.Route = filetype.Route{} // the body files by name, bytes and bundle alone
	filed, err := b.im.File(ctx, j, Ending{State: StateDone, Bundle: made.Bundle})
	return made, filed, err
}

func (b *bench) mustRun(j Job) (Published, Filed) {
	b.Helper()
	made, filed, err := b.run(j)
	if err != nil {
		b.Fatal(err)
	}
	return made, filed
}

func (b *bench) read(name string) string {
	b.Helper()
	data, err := os.ReadFile(b.disk.path(name))
	if err != nil {
		b.Fatal(err)
	}
	return string(data)
}

// tree is every file of the vault with its content.
func (b *bench) tree() map[string]string {
	b.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(b.disk.root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(b.disk.path(name))
		files[name] = string(data)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return files
}

// hidden lists the hidden folders that were left over.
func (b *bench) hidden() []string {
	found, err := filepath.Glob(filepath.Join(b.disk.root, "Imported", ".vaultflow-*"))
	if err != nil {
		b.Fatal(err)
	}
	return found
}
