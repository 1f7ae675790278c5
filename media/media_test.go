package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"image"
	"image/png"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/media/remote"
	"github.com/vaultflow/vaultflow/prompt"
)

func grey(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"/>`

func TestMedia_choosesWhoDecodes(t *testing.T) {
	t.Parallel()
	plain := grey(t, 40, 30)
	marked := append(bytes.Clone(plain), "hidden behind the end"...)
	files := fstest.MapFS{
		"a.png": {Data: plain}, "a.svg": {Data: []byte(drawing)}, "Imported/x/pages/a.png": {Data: marked}, "imported/b.png": {Data: marked},
	}
	for name, c := range map[string]struct {
		worker *fakeWorker
		made   bool   // the worker made it
		want   string // of the error
	}{
		"a.png":                         {&fakeWorker{}, false, ""},
		"a.svg":                         {&fakeWorker{}, true, ""},
		"Imported/x/pages/a.png":        {&fakeWorker{}, true, ""},
		"imported/b.png":                {&fakeWorker{}, true, ""},
		"gone.png":                      {&fakeWorker{}, false, "not exist"},
		"a.svg#broken":                  {&fakeWorker{fail: &extract.Error{Code: failure.Corrupt, Message: "MuPDF cannot open it"}}, false, "MuPDF cannot open it"},
		"a.svg#none":                    {&fakeWorker{fail: &extract.Error{Code: failure.WorkerMissing}}, false, "worker"},
		"Imported/x/pages/a.png#broken": {&fakeWorker{fail: &extract.Error{Code: failure.Corrupt, Message: "no picture"}}, false, "no picture"},
	} {
		file, _, _ := strings.Cut(name, "#")
		load := Source{FS: files, Worker: c.worker, ImportedDir: "Imported"}.Loader(imaging.Limits{MaxSide: 100})
		data, _, err := load.Load(t.Context(), content.Image{Name: file})
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) || data != nil {
				t.Errorf("%s: %d bytes, %v, want %q", name, len(data), err, c.want)
			}
		case err != nil || bytes.Equal(data, tinyPNG) != c.made:
			t.Errorf("%s: made by the worker: %v, %v", name, bytes.Equal(data, tinyPNG), err)
		}
	}
	// Without a worker nothing is decoded: what does not fit as it is, or came from outside, is not sent.
	for _, worker := range []Worker{nil, &fakeWorker{fail: &extract.Error{Code: failure.WorkerMissing}}} {
		load := Source{FS: files, Worker: worker, ImportedDir: "Imported"}.Loader(imaging.Limits{MaxSide: 100})
		if data, _, err := load.Load(t.Context(), content.Image{Name: "imported/b.png"}); !errors.Is(err, ErrNoWorker) || data != nil {
			t.Errorf("without a worker: %d bytes, %v", len(data), err)
		}
		small := Source{FS: files, Worker: worker}.Loader(imaging.Limits{MaxSide: 20})
		if data, _, err := small.Load(t.Context(), content.Image{Name: "a.png"}); !errors.Is(err, ErrNoWorker) || data != nil {
			t.Errorf("too large without a worker: %d bytes, %v", len(data), err)
		}
	}
}

func TestMedia_probesWhatCanBeSent(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"a.svg": {Data: []byte(drawing)}, "a.png": {Data: grey(t, 40, 30)}}
	with := Source{FS: files, Worker: &fakeWorker{}}
	if p, err := with.Probe("a.svg"); err != nil || p.MediaType != "image/svg+xml" || p.Width != 40 || p.Height != 30 || len(p.SHA256) != 64 {
		t.Errorf("%+v, %v", p, err)
	}
	for _, w := range []Worker{nil, &fakeWorker{missing: true}} {
		if p, err := (Source{FS: files, Worker: w}).Probe("a.svg"); !errors.Is(err, ErrNoWorker) || p.MediaType != "image/svg+xml" {
			t.Errorf("without a worker: %+v, %v", p, err)
		}
		if _, err := (Source{FS: files, Worker: w}).Probe("a.png"); err != nil {
			t.Errorf("without a worker: %v", err)
		}
	}
}

func TestKept_sparesTheWorker(t *testing.T) {
	t.Parallel()
	w := &fakeWorker{}
	data := grey(t, 40, 30)
	sum := sha256.Sum256(data)
	files := fstest.MapFS{"Imported/a.png": {Data: data}, "b.png": {Data: data}}
	m := Source{FS: files, Worker: w, ImportedDir: "Imported", Cache: NewCache(1 << 20)}
	outside := content.Image{Name: "Imported/a.png", SHA256: hex.EncodeToString(sum[:])}
	load := func(image content.Image, side int) []byte {
		t.Helper()
		got, _, err := m.Loader(imaging.Limits{MaxSide: side}).Load(t.Context(), image)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for range 3 {
		load(outside, 100)
	}
	load(outside, 50) // other limits
	inside := outside
	inside.Name = "b.png" // the same bytes, made in another way
	if got := load(inside, 100); !bytes.Equal(got, data) {
		t.Error("a picture from outside was given for one of the vault's own")
	}
	if opened, _, _ := w.state(); len(opened) != 2 {
		t.Errorf("the worker was started %d times, want 2", len(opened))
	}
	outside.SHA256 = ""
	load(outside, 100)
	load(outside, 100)
	if opened, _, _ := w.state(); len(opened) != 4 {
		t.Errorf("without a digest the worker was started %d times, want 4", len(opened))
	}
}

func TestKept_staysWithinItsBytes(t *testing.T) {
	t.Parallel()
	k := NewCache(100)
	for _, key := range []string{"a", "b", "c", "d"} {
		k.put(key, make([]byte, 25), "image/png")
	}
	k.get("a")
	k.put("e", make([]byte, 20), "image/png")
	k.put("huge", make([]byte, 26), "image/png")
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true, "e": true, "huge": false, "": false} {
		if _, _, ok := k.get(key); ok != want {
			t.Errorf("%q is kept: %v, want %v", key, ok, want)
		}
	}
	if k.bytes != 95 || k.order.Len() != len(k.by) {
		t.Errorf("%d bytes in %d and %d pictures", k.bytes, k.order.Len(), len(k.by))
	}
	var none *Cache
	none.put("a", []byte("x"), "image/png")
	if _, _, ok := none.get("a"); ok {
		t.Error("nil remembers")
	}
}

func TestConvert_keepsBombsFromTheWorker(t *testing.T) {
	t.Parallel()
	w := &fakeWorker{}
	bomb := []byte("GIF89a\xff\xff\xff\xff\x80\x00\x00\x00\x00\x00\xff\xff\xff\x2c\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02\x02\x44\x01\x00\x3b")
	if _, err := Convert(t.Context(), w, bomb, imaging.Limits{}); !errors.Is(err, imaging.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if opened, _, _ := w.state(); len(opened) != 0 {
		t.Errorf("the worker was given %q", opened)
	}
	if _, err := Convert(t.Context(), w, []byte(drawing), imaging.Limits{MaxSide: 9}); err == nil || !strings.Contains(err.Error(), "more than was asked for") {
		t.Errorf("a worker that gives more than was asked for: %v", err)
	}
	if _, live, _ := w.state(); live != 0 {
		t.Errorf("%d workers are left", live)
	}
}

// memoryBlobs keeps blobs in memory.
type memoryBlobs map[string][]byte

func (b memoryBlobs) Put(_ context.Context, data []byte) (string, error) {
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	b[digest] = data
	return digest, nil
}

func (b memoryBlobs) Get(_ context.Context, digest string) ([]byte, error) {
	data, ok := b[digest]
	if !ok {
		return nil, errors.New("no such blob")
	}
	return data, nil
}

type fetchFunc func(ctx context.Context, address string) (remote.Picture, error)

func (f fetchFunc) Fetch(ctx context.Context, address string) (remote.Picture, error) {
	return f(ctx, address)
}

func TestRemote(t *testing.T) {
	t.Parallel()
	const address = "https://pictures.example/a.svg"
	fetches := 0
	fetcher := fetchFunc(func(context.Context, string) (remote.Picture, error) {
		fetches++
		return remote.Picture{Data: []byte(drawing)}, nil
	})
	blobs := memoryBlobs{}
	r := &Remote{Policy: remote.Policy{Enabled: true, Deny: []string{"bad.example"}}, Fetcher: fetcher, Foreign: Foreign{Worker: &fakeWorker{}, Blobs: blobs}}
	got, err := r.Picture(t.Context(), address)
	if err != nil || got.MediaType != "image/png" || !bytes.Equal(blobs[got.SHA256], tinyPNG) || got.Size != int64(len(tinyPNG)) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := r.Picture(t.Context(), "https://bad.example/a.png"); !errors.Is(err, remote.ErrRefused) || fetches != 1 {
		t.Errorf("a denied host: %v, %d fetches", err, fetches)
	}
	seen := *r
	seen.Fetcher = nil
	if _, err := seen.Picture(t.Context(), address); !errors.Is(err, prompt.ErrNotFetched) {
		t.Errorf("a preview: %v", err)
	}
	if _, err := seen.Picture(t.Context(), "https://bad.example/a.png"); !errors.Is(err, remote.ErrRefused) {
		t.Errorf("a preview of a denied host: %v", err)
	}
	seen = *r
	seen.Worker = &fakeWorker{fail: &extract.Error{Code: failure.Corrupt, Message: "it does not decode"}}
	if _, err := seen.Picture(t.Context(), address); err == nil || !strings.Contains(err.Error(), "it does not decode") {
		t.Errorf("what does not decode: %v", err)
	}
	if len(blobs) != 1 {
		t.Errorf("%d blobs are kept", len(blobs))
	}
	// What was kept is loaded from its blob, and from nowhere else.
	load := Source{Blobs: memoryBlobs{got.SHA256: grey(t, 40, 30)}, Worker: &fakeWorker{}}.Loader(imaging.Limits{MaxSide: 20})
	data, _, err := load.Load(t.Context(), content.Image{Name: address, Source: content.SourceBlob, SHA256: got.SHA256})
	if err != nil || !bytes.Equal(data, tinyPNG) {
		t.Errorf("loaded %d bytes, %v", len(data), err)
	}
	if _, _, err := load.Load(t.Context(), content.Image{Name: address, Source: content.SourceRemote}); err == nil || !strings.Contains(err.Error(), "not available") {
		t.Errorf("a URL alone: %v", err)
	}
}

// TestFit_mergesLimits: a fitted loader keeps its own limits too.
func TestFit_mergesLimits(t *testing.T) {
	t.Parallel()
	own := (&loader{limits: imaging.Limits{MaxSide: 100, MaxBytes: 500}})
	made, err := own.Fit(llm.PictureLimits{MaxSide: 200, MaxPixels: 9, MaxBytes: 400, Reencode: true})
	fitted, ok := made.(*loader)
	if err != nil || !ok || fitted.limits.MaxSide != 100 || fitted.limits.MaxBytes != 400 || fitted.limits.MaxPixels != 9 || !fitted.limits.Reencode || own.limits.Reencode {
		t.Errorf("fitted %+v", fitted)
	}
}
