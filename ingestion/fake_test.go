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
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/reading"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/vaulttest"
)

// errKilled is what every call gives after the process has been "killed".
var errKilled = errors.New("killed")

// fuse counts the changes of a vault. It can be told to end the process after some of them; then nothing works any more.
type fuse struct {
	mu    sync.Mutex // guards what follows
	ops   []string   // changes, in order
	dieAt int        // 0: never
	full  bool       // no bundle can be written: ENOSPC
}

// change is a vaulttest.Around.
func (f *fuse) change(what string, do func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dieAt > 0 && len(f.ops) >= f.dieAt {
		return errKilled
	}
	f.ops = append(f.ops, what)
	if f.full && strings.HasPrefix(what, "put ") {
		return fmt.Errorf("write: %w", os.NewSyscallError("write", syscall.ENOSPC))
	}
	if err := do(); err != nil {
		return err
	}
	if f.dieAt > 0 && len(f.ops) >= f.dieAt {
		return errKilled // done, but nobody was told
	}
	return nil
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

func (s *script) Prepare(int) {}

func (s *script) Start(_ context.Context, _ string, o extract.Open) (reading.Session, extract.Document, error) {
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
func (s *script) StartFile(ctx context.Context, file fs.File, o extract.Open) (reading.Session, extract.Document, error) {
	data, err := io.ReadAll(file)
	s.mu.Lock()
	s.printed = string(data)
	s.mu.Unlock()
	if err != nil {
		return nil, extract.Document{}, err
	}
	return s.Start(ctx, "", o)
}

// StartData is Start with a picture that is inside a document.
func (s *script) StartData(ctx context.Context, data []byte, o extract.Open) (reading.Session, extract.Document, error) {
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

func (c *session) Attached(_ context.Context, n int) ([]byte, error) {
	return []byte("<xml>" + c.s.doc.Attached[n-1] + "</xml>"), nil
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
	vault  *vaulttest.Memory
	fuse   *fuse
	worker *script
	im     *Importer
	events []Event
}

func newBench(t *testing.T, doc extract.Document) *bench {
	b := &bench{T: t, worker: &script{doc: doc}}
	b.empty()
	return b
}

// empty begins again with a new vault and a new process.
func (b *bench) empty() {
	b.vault = vaulttest.New(fstest.MapFS{})
	b.Cleanup(func() {
		if _, n := b.vault.Used(); n != 0 {
			b.Errorf("%d bundles were left open", n)
		}
	})
	b.vault.Now = func() time.Time { return time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC) }
	b.revive(0)
}

// revive makes a new process; it dies after so many changes unless that is zero.
func (b *bench) revive(dieAt int) {
	b.fuse = &fuse{dieAt: dieAt}
	b.im = &Importer{
		Files: importing(vaulttest.Intercept(b.vault, b.fuse.change)), Worker: b.worker, Tool: "test",
		Endless: func(head []byte) bool { return !bytes.HasPrefix(head, []byte("%PDF")) },
		Now:     func() time.Time { return noon.Add(time.Minute) },
		Events:  func(e Event) { b.events = append(b.events, e) },
	}
}

// importing is a vault in the hands of imports.
func importing(v vault.Vault) vault.Files { return vault.NewFiles(v, policy.Gate{}, policy.ByImport) }

// before calls fn once, before the first change of this kind.
func (b *bench) before(kind string, fn func()) {
	var once sync.Once
	b.im.Files = importing(vaulttest.Intercept(b.vault, func(what string, do func() error) error {
		if strings.HasPrefix(what, kind) {
			once.Do(fn)
		}
		return do()
	}))
}

// drop puts a file into the vault and gives a job for it.
func (b *bench) drop(id, name string, data []byte) Job {
	b.vault.Put(name, string(data))
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
	data, err := fs.ReadFile(b.vault.FS(), name)
	if err != nil {
		b.Fatal(err)
	}
	return string(data)
}

// tree is every file of the vault with its content.
func (b *bench) tree() map[string]string { return b.vault.Texts() }

// hidden lists the hidden folders that were left over.
func (b *bench) hidden() []string {
	b.Helper()
	found, err := fs.Glob(b.vault.FS(), "Imported/.vaultflow-*")
	if err != nil {
		b.Fatal(err)
	}
	return found
}
