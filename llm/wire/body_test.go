package wire

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// loaderFunc loads pictures.
type loaderFunc func(name string) ([]byte, error)

func (f loaderFunc) Load(_ context.Context, medium content.Block) ([]byte, string, error) {
	if medium.Type() != content.TypeImage {
		return nil, "", errors.ErrUnsupported
	}
	data, err := f(content.NameOf(medium))
	return data, "", err
}

func (loaderFunc) Fit(llm.PictureLimits) (llm.Loader, error) { return nil, errors.ErrUnsupported }

var plainForm = Form{
	Accept: []string{"image/gif"},
	Frame:  func(kind string) (string, string) { return `{"kind":"` + kind + `","data":"`, `"}` },
	Text:   func(fallback string) any { return map[string]string{"text": fallback} },
}

// place takes a picture into a request.
func place(d *Drawing, name string) any {
	value, _ := d.Media(content.Image{Name: name}) // an image is always a medium
	return value
}

// gifOf is something that is sniffed as a GIF, of a size.
func gifOf(size int) []byte {
	return append([]byte("GIF89a"), bytes.Repeat([]byte{7}, size)...)
}

func TestBody_picturesAreLoadedOneAtATime(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	read := 0
	var loadedAt []int
	drawing := NewDrawing(loaderFunc(func(string) ([]byte, error) {
		loadedAt = append(loadedAt, read)
		return gifOf(size), nil
	}), plainForm)
	body, err := drawing.Body([]any{"x", place(drawing, "1"), place(drawing, "2"), place(drawing, "3")})
	if err != nil {
		t.Fatal(err)
	}
	if len(loadedAt) != 0 {
		t.Error("a picture was loaded before the request was written")
	}
	reader := body.open(t.Context())
	buf := make([]byte, 8<<10)
	for err == nil {
		var n int
		n, err = reader.Read(buf)
		read += n
	}
	if !errors.Is(err, io.EOF) || len(loadedAt) != 3 {
		t.Fatalf("error %v, loaded at %v", err, loadedAt)
	}
	for i := 1; i < 3; i++ {
		if gap := loadedAt[i] - loadedAt[i-1]; gap < size*4/3 {
			t.Errorf("picture %d was loaded %d bytes after the one before, want it after all of it", i+1, gap)
		}
	}
	if body.length() != -1 {
		t.Errorf("length %d, want unknown", body.length())
	}
}

func TestBody_isValidForAnyReader(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"a": gifOf(0), "b": gifOf(1), "c": gifOf(5000)}
	drawing := NewDrawing(loaderFunc(func(name string) ([]byte, error) {
		if data, ok := files[name]; ok {
			return data, nil
		}
		return nil, errors.New("gone")
	}), plainForm)
	value := map[string]any{"m": []any{
		place(drawing, "a"), "<&>media-0.", place(drawing, "b"),
		place(drawing, "no\"t"), place(drawing, "c"),
	}}
	body, err := drawing.Body(value)
	if err != nil {
		t.Fatal(err)
	}
	for name, wrap := range map[string]func(io.Reader) io.Reader{"byte by byte": iotest.OneByteReader, "halves": iotest.HalfReader, "late EOF": iotest.DataErrReader} {
		data, err := io.ReadAll(wrap(body.open(t.Context())))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got struct {
			M []any `json:"m"`
		}
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%s: %v in %s", name, err, data)
		}
		if got.M[1] != "<&>media-0." {
			t.Errorf("%s: text changed to %q", name, got.M[1])
		}
		for i, want := range map[int]string{0: "a", 2: "b", 4: "c"} {
			picture := got.M[i].(map[string]any)
			if picture["data"] != base64.StdEncoding.EncodeToString(files[want]) || picture["kind"] != "image/gif" {
				t.Errorf("%s: picture %d is wrong", name, i)
			}
		}
		if text := got.M[3].(map[string]any)["text"]; text != `[image: no"t]` {
			t.Errorf("%s: fallback %q", name, text)
		}
		if omitted := body.Omitted(); len(omitted) != 1 || omitted[0] != `no"t` {
			t.Errorf("%s: omitted %v", name, omitted)
		}
	}
}

func TestBody_endsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	drawing := NewDrawing(loaderFunc(func(string) ([]byte, error) {
		cancel()
		return nil, ctx.Err()
	}), plainForm)
	body, err := drawing.Body([]any{place(drawing, "a")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(body.open(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled and no fallback", err)
	}
}

func TestDrawing_refusesAnotherOrder(t *testing.T) {
	t.Parallel()
	drawing := NewDrawing(nil, plainForm)
	first, second := place(drawing, "1"), place(drawing, "2")
	if _, err := drawing.Body([]any{second, first}); err == nil || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("got %v, want an error about the order", err)
	}
}

func BenchmarkBody(b *testing.B) {
	picture := gifOf(1 << 20)
	drawing := NewDrawing(loaderFunc(func(string) ([]byte, error) { return picture, nil }), plainForm)
	body, err := drawing.Body([]any{place(drawing, "a")})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(1 << 20)
	for b.Loop() {
		if _, err := io.Copy(io.Discard, body.open(b.Context())); err != nil {
			b.Fatal(err)
		}
	}
}
