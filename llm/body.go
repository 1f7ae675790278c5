package llm

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/vaultflow/vaultflow/content"
)

// Form says how one wire format writes a picture.
type Form struct {
	Accept []string                                  // media types it takes, as sniffed from the bytes
	Check  func(data []byte, mediaType string) error // nil: any picture of an accepted type
	Frame  func(mediaType string) (before, after string)
	Text   func(fallback string) any // the JSON value that stands there when the picture cannot be sent
}

// Drawing collects the pictures of a request while it is built as an ordinary JSON value. Put what Image returns where the
// picture's JSON object belongs.
type Drawing struct {
	loader Loader
	form   Form
	mark   string
	images []content.Image
}

// NewDrawing starts a request. A nil loader sends every picture as its fallback text.
func NewDrawing(loader Loader, form Form) *Drawing {
	return &Drawing{loader: loader, form: form, mark: "picture-" + rand.Text() + "-"}
}

// Image takes a picture and returns what stands for it until the body is written.
func (d *Drawing) Image(image content.Image) any {
	d.images = append(d.images, image)
	return d.mark + strconv.Itoa(len(d.images)-1) + "."
}

// Body finishes the request: value is marshalled now, pictures are loaded and encoded while it is sent, one at a time.
func (d *Drawing) Body(value any) (*Body, error) {
	data, err := marshal(value)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	b := &Body{drawing: d}
	for i := range d.images {
		mark, err := marshal(d.mark + strconv.Itoa(i) + ".")
		if err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		before, after, found := bytes.Cut(data, mark)
		if !found {
			return nil, fmt.Errorf("write the request: picture %d is out of order", i+1)
		}
		b.text = append(b.text, before)
		data = after
	}
	b.text = append(b.text, data)
	return b, nil
}

// marshal writes JSON without escaping <, > and &: the text of notes stays readable and short.
func marshal(value any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// Body is a request that can be written any number of times. It holds the text; the pictures are loaded anew each time.
type Body struct {
	drawing *Drawing
	text    [][]byte // one more than there are pictures

	mu      sync.Mutex // guards omitted, which the transport's goroutine fills
	omitted []string
}

// Omitted names the pictures that the latest writing sent as fallback text.
func (b *Body) Omitted() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.omitted)
}

// length is the size in bytes, or -1 when pictures make it unknown.
func (b *Body) length() int64 {
	if len(b.text) > 1 {
		return -1
	}
	return int64(len(b.text[0]))
}

// open starts a writing from the beginning.
func (b *Body) open(ctx context.Context) io.Reader {
	b.mu.Lock()
	b.omitted = nil
	b.mu.Unlock()
	return &bodyReader{ctx: ctx, body: b, now: bytes.NewReader(b.text[0])}
}

// bodyReader reads the pieces of a body in turn. It holds one picture at most.
type bodyReader struct {
	ctx  context.Context //nolint:containedctx // a reader lives exactly as long as one request
	body *Body
	now  io.Reader
	done int // pieces begun after the first: odd ones are pictures
}

// Read implements io.Reader.
func (r *bodyReader) Read(p []byte) (int, error) {
	for {
		n, err := r.now.Read(p)
		if n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		if r.done == 2*(len(r.body.text)-1) {
			return 0, io.EOF
		}
		r.done++
		if r.done%2 == 0 {
			r.now = bytes.NewReader(r.body.text[r.done/2])
			continue
		}
		r.now = nil // lets go of the picture before
		if r.now, err = r.body.picture(r.ctx, r.done/2); err != nil {
			return 0, err
		}
	}
}

// picture returns the JSON of picture i: framed base64, or its fallback.
func (b *Body) picture(ctx context.Context, i int) (io.Reader, error) {
	image, form := b.drawing.images[i], b.drawing.form
	data, kind, err := b.load(ctx, image)
	if err == nil {
		before, after := form.Frame(kind)
		return io.MultiReader(bytes.NewReader([]byte(before)), &base64Reader{rest: data}, bytes.NewReader([]byte(after))), nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	text, err := marshal(form.Text(image.Text()))
	if err != nil {
		return nil, fmt.Errorf("write the fallback of picture %d: %w", i+1, err)
	}
	b.mu.Lock()
	b.omitted = append(b.omitted, image.Name)
	b.mu.Unlock()
	return bytes.NewReader(text), nil
}

var errNoLoader = errors.New("no loader")

func (b *Body) load(ctx context.Context, image content.Image) ([]byte, string, error) {
	if b.drawing.loader == nil {
		return nil, "", errNoLoader
	}
	data, _, err := b.drawing.loader.Load(ctx, image)
	if err != nil {
		return nil, "", err
	}
	kind := http.DetectContentType(data) // the bytes decide, not what anyone declared
	if !slices.Contains(b.drawing.form.Accept, kind) {
		return nil, "", fmt.Errorf("%s is not accepted", kind)
	}
	if check := b.drawing.form.Check; check != nil {
		if err := check(data, kind); err != nil {
			return nil, "", err
		}
	}
	return data, kind, nil
}

// base64Reader encodes bytes as they are read, a few KB at a time.
type base64Reader struct {
	rest []byte
	buf  [4096]byte
	out  []byte // the part of buf that was not read yet
}

// Read implements io.Reader.
func (r *base64Reader) Read(p []byte) (int, error) {
	if len(r.out) == 0 {
		if len(r.rest) == 0 {
			return 0, io.EOF
		}
		n := min(len(r.rest), len(r.buf)/4*3)
		base64.StdEncoding.Encode(r.buf[:], r.rest[:n])
		r.out, r.rest = r.buf[:base64.StdEncoding.EncodedLen(n)], r.rest[n:]
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}
