package wire

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// Form describes how a wire format writes pictures and, if it accepts them, documents, audio and video. Draw sets the media
// types.
type Form struct {
	Accept []string                                  // media types of pictures, as sniffed from the bytes
	Check  func(data []byte, mediaType string) error // nil: any picture of an accepted type
	Frame  func(mediaType string) (before, after string)
	Text   func(fallback string) any // the JSON value to send without the bytes

	Documents     []string                                          // media types of documents; none: their text is sent
	FrameDocument func(mediaType, id string) (before, after string) // id is a neutral name, unique in the request

	Recordings     []string                                              // media types of audio and video; none: their text is sent
	FrameRecording func(mediaType, format string) (before, after string) // format is the short name: wav, mp3, mov
}

// Drawing collects the media of a request while the request is built as an ordinary JSON value. Put what Media returns where
// the medium belongs, in the order of the calls.
type Drawing struct {
	loader  llm.Loader
	form    Form
	mark    string
	media   []medium
	omitted []string // names of media whose text the plan sends
}

// medium is one of them, and its replacement if the bytes cannot be sent.
type medium struct {
	content.Block
	id   string // of a document
	text func(fallback string) any
}

// NewDrawing starts a request. A nil loader sends every picture and document as its fallback text.
func NewDrawing(loader llm.Loader, form Form) *Drawing {
	return &Drawing{loader: loader, form: form, mark: "media-" + rand.Text() + "-"}
}

// Media adds a medium and returns its placeholder until the body is written; false for other blocks.
func (d *Drawing) Media(b content.Block) (any, bool) { return d.MediaOr(b, d.form.Text) }

// MediaOr is Media with its own JSON value for a medium whose bytes cannot be sent.
func (d *Drawing) MediaOr(b content.Block, text func(fallback string) any) (any, bool) {
	if !content.IsMedia(b) {
		return nil, false
	}
	d.media = append(d.media, medium{b, d.documentID(b), text})
	return d.mark + strconv.Itoa(len(d.media)-1) + ".", true
}

// documentID returns a document's MediaID, with a number if it is taken in this request.
func (d *Drawing) documentID(b content.Block) string {
	if b.Type() != content.TypeDocument {
		return ""
	}
	id := llm.MediaID(b)
	same := 1
	for _, m := range d.media {
		if m.Type() == content.TypeDocument && llm.MediaID(m.Block) == id {
			same++
		}
	}
	if same > 1 {
		id += "-" + strconv.Itoa(same)
	}
	return id
}

// Body finishes the request. It marshals value now; media are loaded and encoded one at a time, while the body is sent.
func (d *Drawing) Body(value any) (*Body, error) {
	data, err := marshal(value)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	b := &Body{drawing: d}
	for i := range d.media {
		mark, err := marshal(d.mark + strconv.Itoa(i) + ".")
		if err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		before, after, found := bytes.Cut(data, mark)
		if !found {
			return nil, fmt.Errorf("write the request: picture or document %d is out of order", i+1)
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

// Body is a request that can be written any number of times. It holds the text; media are loaded each time.
type Body struct {
	drawing   *Drawing
	mediaType string   // empty: JSON
	text      [][]byte // one more than there are media
	whole     [][]byte // all of an Upload, in place of text

	mu      sync.Mutex // guards what follows, which the transport's goroutine fills
	omitted []string
	sent    []medium // documents whose bytes were sent, in order
}

// Omitted returns the names of media that were last sent as fallback text.
func (b *Body) Omitted() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append(slices.Clone(b.drawing.omitted), b.omitted...)
}

// length returns the size in bytes, or -1 if media make it unknown.
func (b *Body) length() int64 {
	if b.whole != nil {
		length := 0
		for _, piece := range b.whole {
			length += len(piece)
		}
		return int64(length)
	}
	if len(b.text) > 1 {
		return -1
	}
	return int64(len(b.text[0]))
}

// open returns a reader from the beginning.
func (b *Body) open(ctx context.Context) io.Reader {
	b.mu.Lock()
	b.omitted, b.sent = nil, nil
	b.mu.Unlock()
	if b.whole != nil {
		var pieces []io.Reader
		for _, piece := range b.whole {
			pieces = append(pieces, bytes.NewReader(piece))
		}
		return io.MultiReader(pieces...)
	}
	return &bodyReader{ctx: ctx, body: b, now: bytes.NewReader(b.text[0])}
}

// bodyReader reads the pieces of a body in turn. It holds one picture or document at most.
type bodyReader struct {
	ctx  context.Context //nolint:containedctx // a reader lives exactly as long as one request
	body *Body
	now  io.Reader
	done int // pieces begun after the first: odd ones are media
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
		r.now = nil // release the one before
		if r.now, err = r.body.piece(r.ctx, r.done/2); err != nil {
			return 0, err
		}
	}
}

// piece returns the JSON of medium i: framed base64, or its fallback.
func (b *Body) piece(ctx context.Context, i int) (io.Reader, error) {
	medium := b.drawing.media[i]
	data, before, after, err := b.load(ctx, medium)
	if err == nil {
		if medium.Type() == content.TypeDocument {
			b.mu.Lock()
			b.sent = append(b.sent, medium)
			b.mu.Unlock()
		}
		return io.MultiReader(strings.NewReader(before), &base64Reader{rest: data}, strings.NewReader(after)), nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	text, err := marshal(medium.text(medium.Text()))
	if err != nil {
		return nil, fmt.Errorf("write the fallback of medium %d: %w", i+1, err)
	}
	b.mu.Lock()
	if name := content.NameOf(medium.Block); len(b.omitted) == 0 || b.omitted[len(b.omitted)-1] != name { // pages of one document
		b.omitted = append(b.omitted, name)
	}
	b.mu.Unlock()
	return bytes.NewReader(text), nil
}

// load returns the bytes of a medium and the JSON around them.
func (b *Body) load(ctx context.Context, medium medium) (data []byte, before, after string, err error) {
	form := b.drawing.form
	if b.drawing.loader == nil {
		return nil, "", "", errors.ErrUnsupported
	}
	accepted := map[content.Type][]string{
		content.TypeImage: form.Accept, content.TypeDocument: form.Documents, content.TypeAudio: form.Recordings, content.TypeVideo: form.Recordings,
	}[medium.Type()]
	if data, _, err = b.drawing.loader.Load(ctx, medium.Block); err != nil {
		return nil, "", "", err
	}
	kind, err := sniff(data, accepted)
	if err == nil && medium.Type() == content.TypeImage && form.Check != nil {
		err = form.Check(data, kind)
	}
	if err != nil {
		return nil, "", "", err
	}
	switch medium.Type() {
	case content.TypeImage:
		before, after = form.Frame(kind)
	case content.TypeDocument:
		before, after = form.FrameDocument(kind, medium.id)
	default:
		before, after = form.FrameRecording(kind, formats[kind])
	}
	return data, before, after, nil
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
