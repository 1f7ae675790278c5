package vertex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/vaultflow/vaultflow/llm"
)

const (
	scope = "https://www.googleapis.com/auth/cloud-platform"
	// fetchTime bounds one fetch of a token, which the end of a request does not end.
	fetchTime = 30 * time.Second
	// maxFile bounds a credentials file, in bytes; a service account's key has 2.4 kB.
	maxFile = 1 << 20
)

// tokens sends a valid access token with every request.
type tokens struct {
	file      string
	client    *http.Client
	elsewhere bool // the tokens would not go to Google

	mu     sync.Mutex // guards source
	source oauth2.TokenSource
	road   road
}

// road notes whether the latest request for a token got an answer: the library's errors do not show it.
type road struct {
	under  http.RoundTripper
	broken atomic.Bool
}

// RoundTrip implements http.RoundTripper.
func (r *road) RoundTrip(q *http.Request) (*http.Response, error) {
	answer, err := r.under.RoundTrip(q)
	r.broken.Store(err != nil)
	return answer, err
}

// Signs implements wire.Authorizer.
func (*tokens) Signs() bool { return false }

// Authorize implements wire.Authorizer.
func (t *tokens) Authorize(ctx context.Context, request *http.Request, _ string) error {
	source, err := t.load(ctx)
	if err != nil {
		return err
	}
	token, err := source.Token()
	if err != nil {
		return t.unfetched(err)
	}
	token.SetAuthHeader(request)
	return nil
}

// load finds the credentials, and caches them.
func (t *tokens) load(ctx context.Context) (oauth2.TokenSource, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.source != nil {
		return t.source, nil
	}
	client := http.Client{}
	if t.client != nil {
		client = *t.client
	}
	if t.road.under = client.Transport; t.road.under == nil {
		t.road.under = http.DefaultTransport
	}
	client.Transport, client.Timeout = &t.road, fetchTime
	ctx = context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, &client) // the source outlives this request
	found, err := t.find(ctx)
	if err != nil {
		return nil, err
	}
	t.source = found.TokenSource
	return t.source, nil
}

func (t *tokens) find(ctx context.Context) (*google.Credentials, error) {
	if t.file == "" && t.elsewhere {
		return nil, errors.New("this machine's credentials go to Google's own addresses alone: name credentials_file or api_key_env for base_url")
	}
	if t.file == "" {
		found, err := google.FindDefaultCredentials(ctx, scope)
		if err != nil {
			return nil, fmt.Errorf("this machine has no credentials of Google Cloud (set credentials_file, or run `gcloud auth application-default login`): %w", err)
		}
		return found, nil
	}
	data, err := readBounded(t.file)
	if err != nil {
		return nil, fmt.Errorf("read credentials_file: %w", err)
	}
	var head struct {
		Type google.CredentialsType `json:"type"`
	}
	if err := json.Unmarshal(data, &head); err != nil { // its text could hold a piece of the key
		return nil, fmt.Errorf("credentials_file %s is not JSON", t.file)
	}
	found, err := google.CredentialsFromJSONWithType(ctx, data, head.Type, scope)
	if err != nil {
		return nil, fmt.Errorf("credentials_file %s (type %q): %w", t.file, head.Type, err)
	}
	return found, nil
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s is larger than 1 MiB", path)
	}
	return data, err
}

// unfetched classifies a failure to get a token: the service has trouble, cannot be reached, or refuses.
func (t *tokens) unfetched(err error) error {
	var answered *oauth2.RetrieveError
	switch {
	case errors.As(err, &answered) && answered.Response != nil && answered.Response.StatusCode >= http.StatusInternalServerError:
		return &llm.Error{Class: llm.ClassOverloaded, Status: answered.Response.StatusCode, Message: "the token service has trouble"}
	case answered == nil && t.road.broken.Load():
		return &llm.Error{Class: llm.ClassNetwork, Message: "the token service cannot be reached"}
	case answered == nil:
		return fmt.Errorf("get a token: %w", err)
	}
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(answered.Body, &said) // ignore web pages
	return fmt.Errorf("get a token: %s %s", said.Error, said.Description)
}
