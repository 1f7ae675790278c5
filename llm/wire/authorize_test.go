package wire_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// stamp signs with the digest alone.
type stamp struct{ err error }

func (stamp) Signs() bool { return true }

func (s stamp) Authorize(_ context.Context, r *http.Request, digest string) error {
	r.Header.Set("X-Digest", digest)
	return s.err
}

// flickering loads a picture every time but one.
type flickering struct{ asked, gone int }

func (f *flickering) Load(context.Context, content.Block) ([]byte, string, error) {
	f.asked++
	if f.asked == f.gone {
		return nil, "", errors.New("gone")
	}
	return []byte("\x89PNG\r\n\x1a\n" + strings.Repeat("x", 9000)), "image/png", nil
}

func (f *flickering) Fit(llm.PictureLimits) (llm.Loader, error) { return nil, errors.ErrUnsupported }

func signed(t *testing.T, media llm.Loader, auth wire.Authorizer) (answers int, err error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client gave up
		}
		answers++
		if sum := sha256.Sum256(body); r.Header.Get("X-Digest") != hex.EncodeToString(sum[:]) || r.ContentLength != int64(len(body)) {
			t.Errorf("digest %s, length %d of %d: not those of the body", r.Header.Get("X-Digest"), r.ContentLength, len(body))
		}
	}))
	defer server.Close()
	drawing := wire.NewDrawing(media, wire.Form{
		Accept: []string{"image/png"}, Text: func(fallback string) any { return fallback },
		Frame: func(string) (string, string) { return `"`, `"` },
	})
	picture, _ := drawing.Media(content.Image{Name: "a.png"})
	body, err := drawing.Body(picture)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := wire.Config{Auth: auth}.Endpoint("lab", server.URL, "").Post(t.Context(), "/", body)
	if err == nil {
		answer.Close()
	}
	return answers, err
}

func TestEndpoint_signsTheBodyThatIsSent(t *testing.T) {
	t.Parallel()
	media := &flickering{}
	if n, err := signed(t, media, stamp{}); err != nil || n != 1 || media.asked != 2 {
		t.Errorf("%d answers, %v, %d loads; want one, and two loads: for the digest and for the service", n, err, media.asked)
	}
}

func TestEndpoint_aFileThatChangesBetweenDigestAndSending(t *testing.T) {
	t.Parallel()
	_, err := signed(t, &flickering{gone: 2}, stamp{})
	e, ok := llm.AsError(err)
	if !ok || e.Class != llm.ClassNetwork || !e.Retryable() {
		t.Errorf("got %v, want a failure that is worth another attempt", err)
	}
}

func TestEndpoint_aProofThatCannotBeHad(t *testing.T) {
	t.Parallel()
	n, err := signed(t, &flickering{}, stamp{errors.New("no such profile")})
	if e, ok := llm.AsError(err); !ok || e.Class != llm.ClassAuth || e.Message != "no such profile" || n != 0 {
		t.Errorf("got %v after %d requests", err, n)
	}
	_, err = signed(t, &flickering{}, stamp{fmt.Errorf("ask: %w", &url.Error{Op: "Post", URL: "https://example.org/?secret", Err: io.EOF})})
	if e, ok := llm.AsError(err); !ok || e.Class != llm.ClassNetwork || strings.Contains(e.Error(), "secret") {
		t.Errorf("got %v, want a failure of the network", err)
	}
	_, err = signed(t, &flickering{}, stamp{&llm.Error{Class: llm.ClassOverloaded, Message: "later"}})
	if e, ok := llm.AsError(err); !ok || e.Class != llm.ClassOverloaded || e.Provider != "lab" {
		t.Errorf("got %v, want the authorizer's own failure", err)
	}
}
