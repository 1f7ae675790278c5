package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
)

// maxFailureBytes is how much of a failed answer is read to find its message.
const maxFailureBytes = 64 << 10

// Endpoint sends requests to one service and turns whatever goes wrong into an *Error without keys. It is safe for
// concurrent use.
type Endpoint struct {
	provider string // in the settings, for errors
	kind     string // in the tables
	base     string
	headers  http.Header
	secrets  []string
	auth     Authorizer // nil: headers are the proof
	client   *http.Client
	timeout  time.Duration
	idle     time.Duration
	now      func() time.Time
}

// Provider returns the service's name in the settings, which errors carry.
func (e *Endpoint) Provider() string { return e.provider }

// Kind returns the service's name in the tables of limits and capabilities.
func (e *Endpoint) Kind() string { return e.kind }

// Empty returns the error for a request without content.
func (e *Endpoint) Empty() error {
	return &llm.Error{Class: llm.ClassParameter, Provider: e.provider, Message: "there is nothing to send: the prompt is empty"}
}

// Fault returns an error that is not the service's own.
func (e *Endpoint) Fault(class llm.Class, message string) error {
	return &llm.Error{Class: class, Provider: e.provider, Message: message, Usage: cost.Usage{CostUnknown: true}}
}

// Ask sends a body, and reads the answer with read.
func (e *Endpoint) Ask(ctx context.Context, path string, body *Body, read func(*Answer) (*llm.Response, error)) (*llm.Response, error) {
	answer, err := e.Post(ctx, path, body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	response, err := read(answer)
	if err != nil {
		return nil, err
	}
	response.Omitted = body.Omitted()
	return response, nil
}

// Post sends a body and returns the answer once its status is known to be a success. The caller closes the answer.
func (e *Endpoint) Post(ctx context.Context, path string, body *Body) (*Answer, error) {
	return e.do(ctx, http.MethodPost, path, body)
}

// Get sends a request without a body. The caller closes the answer.
func (e *Endpoint) Get(ctx context.Context, path string) (*Answer, error) {
	return e.do(ctx, http.MethodGet, path, nil)
}

func (e *Endpoint) do(ctx context.Context, method, path string, body *Body) (*Answer, error) {
	w := newWatch(ctx, e.timeout, e.idle)
	answer, err := e.send(w, method, path, body)
	if err != nil {
		w.stop()
		return nil, err
	}
	return answer, nil
}

func (e *Endpoint) send(w *watch, method, path string, body *Body) (*Answer, error) {
	request, err := http.NewRequestWithContext(w.ctx, method, e.base+path, nil)
	if err != nil {
		return nil, &llm.Error{Class: llm.ClassParameter, Provider: e.provider, Message: "base_url is not a web address"}
	}
	request.Header = e.headers.Clone()
	if body != nil {
		request.Header.Set("Content-Type", either(body.mediaType, "application/json"))
		request.ContentLength = body.length()
		request.GetBody = func() (io.ReadCloser, error) {
			return io.NopCloser(w.reader(body.open(w.ctx))), nil
		}
		request.Body, _ = request.GetBody() // never fails, see above
	}
	if err := e.authorize(w, request, body); err != nil {
		return nil, notSent(err)
	}
	var reached atomic.Bool
	request = request.WithContext(httptrace.WithClientTrace(w.ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached.Store(true) }}))
	response, err := e.client.Do(request)
	if err != nil && !reached.Load() {
		return nil, notSent(e.broken(w, err))
	}
	if err != nil {
		return nil, e.broken(w, err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		defer response.Body.Close()
		return nil, e.refused(w, response)
	}
	return &Answer{
		Body: w.reader(response.Body), MediaType: mediaType(response.Header), endpoint: e, watch: w, closer: response.Body,
	}, nil
}

// notSent marks a failure to reach the service.
func notSent(err error) error {
	if failure, ok := llm.AsError(err); ok {
		failure.Unsent = true
	}
	return err
}

// Answer is a successful answer, still being read.
type Answer struct {
	Body      io.Reader
	MediaType string // "text/event-stream", without parameters
	endpoint  *Endpoint
	watch     *watch
	closer    io.Closer

	progress  func(string)
	delivered bool // a piece of text was passed on: a repeated request would be noticed
	text      strings.Builder
}

// Tell sets the function that gets each piece of the answer's text; it may be nil.
func (a *Answer) Tell(progress func(string)) { a.progress = progress }

// Say adds a piece to the answer's text and passes it on, unless it is empty.
func (a *Answer) Say(piece string) {
	a.text.WriteString(piece)
	if a.progress != nil && piece != "" {
		a.delivered = true
		a.progress(piece)
	}
}

// Text returns the text so far.
func (a *Answer) Text() string { return a.text.String() }

// Close releases the answer, completely read or not.
func (a *Answer) Close() {
	a.watch.stop()
	_ = a.closer.Close() // nothing was written through it
}

// JSON reads an answer of at most limit bytes that does not stream into v, and returns its bytes.
func (a *Answer) JSON(limit int64, v any) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(a.Body, limit+1))
	switch {
	case err != nil:
		return nil, a.Broken(err)
	case int64(len(data)) > limit:
		return nil, a.endpoint.Fault(llm.ClassOther, fmt.Sprintf("the answer is larger than %d MB", limit>>20))
	case json.Unmarshal(data, v) != nil:
		return nil, a.endpoint.Fault(llm.ClassOther, "the answer is not the JSON that was expected")
	}
	return data, nil
}

// Broken returns the error for an answer that could not be read to its end.
func (a *Answer) Broken(err error) error { return a.Partial(a.endpoint.broken(a.watch, err)) }

// Failed returns the error for a failure inside the answer.
func (a *Answer) Failed(f Failure) error { return a.Partial(a.endpoint.failure(f)) }

// Partial notes in a failure whether text was passed on before.
func (a *Answer) Partial(err error) error {
	if failure, ok := llm.AsError(err); ok {
		failure.Partial = a.delivered
	}
	return err
}

// refused reads an unsuccessful answer.
func (e *Endpoint) refused(w *watch, response *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(w.reader(response.Body), maxFailureBytes))
	if err != nil && len(data) == 0 && w.parent.Err() != nil {
		return e.broken(w, err)
	}
	f := ParseFailure(data)
	f.Status = response.StatusCode
	if f.Status >= 300 && f.Status < 400 {
		f.Message = "the server sends us elsewhere; set base_url to its final address"
		failure := e.failure(f)
		failure.Class = llm.ClassNotFound
		return failure
	}
	failure := e.failure(f)
	if failure.Message == "" {
		failure.Message = http.StatusText(f.Status)
	}
	if told := retryAfter(response.Header, e.now()); told > 0 {
		failure.RetryAfter = told
	}
	return failure
}

func (e *Endpoint) failure(f Failure) *llm.Error {
	class, actual, limit := Classify(f)
	return &llm.Error{
		Class: class, Status: f.Status, Code: e.clean(f.Code), Message: e.clean(f.Message),
		Actual: actual, Limit: limit, Provider: e.provider, Usage: cost.Usage{CostUnknown: true}, RetryAfter: f.RetryAfter,
	}
}

// broken returns the error for a failure below HTTP: the caller's context, one of our time-outs, or the network.
func (e *Endpoint) broken(w *watch, err error) error {
	if cause := w.parent.Err(); cause != nil {
		return fmt.Errorf("%s: %w", e.provider, cause)
	}
	if errors.Is(err, ErrTooLong) { // a repetition would cost the same again
		return &llm.Error{
			Class: llm.ClassOther, Provider: e.provider, Usage: cost.Usage{CostUnknown: true}, Err: ErrTooLong,
			Message: "the answer has no end: it was given up at 8 MB of text; set max_output_tokens for this model, or use another one",
		}
	}
	message := "the connection broke"
	var expired expiredError
	var wrapped *url.Error
	switch {
	case errors.As(context.Cause(w.ctx), &expired):
		message = expired.Error()
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		message = "the answer broke off before its end"
	case unreached(err) != "":
		message = unreached(err)
	case errors.As(err, &wrapped): // its own text would hold the address
		message = wrapped.Err.Error()
	case err != nil:
		message = err.Error()
	}
	return &llm.Error{Class: llm.ClassNetwork, Provider: e.provider, Message: e.clean(message), Usage: cost.Usage{CostUnknown: true}, Err: rootCause(err)}
}

// unreached explains that nothing accepted a connection, with the service's host alone: the rest of an address can have secrets.
// It returns "" for other errors.
func unreached(err error) string {
	var wrapped *url.Error
	var dial *net.OpError
	if !errors.As(err, &wrapped) || !errors.As(err, &dial) || dial.Op != "dial" {
		return ""
	}
	address, fault := url.Parse(wrapped.URL)
	if fault != nil {
		return ""
	}
	return fmt.Sprintf("the service at %s://%s is not reachable: %v", address.Scheme, address.Host, dial.Err)
}

// rootCause keeps only causes whose text is fixed, so that nobody prints an address or a body through Unwrap.
func rootCause(err error) error {
	for _, known := range []error{io.ErrUnexpectedEOF, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return known
		}
	}
	return nil
}

// retryAfter returns how long to wait: from milliseconds, seconds or an HTTP date, which is compared with the server's own
// clock if the answer has a date. Nonsense and the past are zero.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, ok := positive(h.Get("Retry-After-Ms")); ok {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, ok := positive(value); ok {
		return time.Duration(seconds * float64(time.Second))
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if server, err := http.ParseTime(h.Get("Date")); err == nil {
		now = server
	}
	return max(at.Sub(now), 0)
}

// positive reads a number of at most 1e6 that is above zero.
func positive(s string) (float64, bool) {
	n, err := strconv.ParseFloat(s, 64)
	return min(n, 1e6), err == nil && n > 0
}

func mediaType(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}
