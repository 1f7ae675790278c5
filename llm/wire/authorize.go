package wire

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"
	"net/url"

	"github.com/vaultflow/vaultflow/llm"
)

// Authorizer authenticates requests just before they are sent, where a fixed header is not enough: with tokens that expire,
// or signatures. Implementations are safe for concurrent use.
type Authorizer interface {
	// Signs reports whether the proof covers the body. If so, the body is written once more, and its media are loaded twice.
	Signs() bool
	// Authorize sets headers of a request. digest is the SHA-256 of the body in hex when the proof covers it, else "". An
	// error other than an *Error or *url.Error is a failure of ClassAuth; it may not hold a secret.
	Authorize(ctx context.Context, request *http.Request, digest string) error
}

var errChanged = errors.New("a file changed while the request was sent: its signature is no longer right")

// authorize calls the authorizer, if there is one.
func (e *Endpoint) authorize(w *watch, request *http.Request, body *Body) error {
	if e.auth == nil {
		return nil
	}
	sum := sha256.Sum256(nil)
	if body != nil && e.auth.Signs() {
		digest := sha256.New()
		size, err := io.Copy(digest, w.reader(body.open(w.ctx)))
		if err != nil {
			return e.broken(w, err)
		}
		digest.Sum(sum[:0])
		request.ContentLength = size
		request.GetBody = func() (io.ReadCloser, error) {
			return io.NopCloser(&signedReader{w.reader(body.open(w.ctx)), sha256.New(), sum[:]}), nil
		}
		request.Body, _ = request.GetBody() // never fails, see above
	}
	digest := ""
	if e.auth.Signs() {
		digest = hex.EncodeToString(sum[:])
	}
	return e.unauthorized(w, e.auth.Authorize(w.ctx, request, digest))
}

// unauthorized converts a failure to authenticate; nil stays nil.
func (e *Endpoint) unauthorized(w *watch, err error) error {
	if err == nil {
		return nil
	}
	if failure, ok := llm.AsError(err); ok {
		failure.Provider, failure.Message = e.provider, e.clean(failure.Message)
		return failure
	}
	var unreached *url.Error
	if w.ctx.Err() != nil || errors.As(err, &unreached) {
		return e.broken(w, err)
	}
	return &llm.Error{Class: llm.ClassAuth, Provider: e.provider, Message: e.clean(err.Error())}
}

// signedReader passes a signed body through. It fails at the end of one that is not what was signed, so that nobody
// suspects the key: the request may be sent again, with a new signature.
type signedReader struct {
	reader io.Reader
	hash   hash.Hash
	want   []byte
}

// Read implements io.Reader.
func (r *signedReader) Read(p []byte) (int, error) {
	n, err := r.reader.Read(p)
	_, _ = r.hash.Write(p[:n]) // never fails, see hash.Hash
	if errors.Is(err, io.EOF) && !bytes.Equal(r.hash.Sum(nil), r.want) {
		return n, errChanged
	}
	return n, err
}
