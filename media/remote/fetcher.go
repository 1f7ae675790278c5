package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/imaging"
)

// Picture is what was fetched: bytes that are a picture's by their header, of any kind, undecoded and untrusted.
type Picture struct {
	Data []byte
	Info imaging.Info
	URL  string // where it was found in the end
}

// Fetcher fetches pictures under one policy. It is safe for concurrent use.
type Fetcher struct {
	policy Policy
	client *http.Client
}

// New makes a fetcher. It dials public addresses only, on the ports 80 and 443.
func New(p Policy) *Fetcher { return guarded(p, ssrf.New().Safe, nil) }

// guarded makes a fetcher with another guard, which sees every IP address before it is dialled, and another resolver of
// names; nil is the system's.
func guarded(p Policy, guard func(network, address string, c syscall.RawConn) error, resolver *net.Resolver) *Fetcher {
	f := &Fetcher{policy: p.withDefaults()}
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: guard, Resolver: resolver}
	f.client = &http.Client{
		CheckRedirect: f.follow,
		Transport: &http.Transport{
			// Proxy stays nil: with one, its address would be checked and not the picture's.
			DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true,
			DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10,
		},
	}
	return f
}

// follow decides about a redirect. What it refuses is not asked.
func (f *Fetcher) follow(next *http.Request, before []*http.Request) error {
	if len(before) > f.policy.MaxRedirects {
		return f.policy.refuse("more than %d redirects", f.policy.MaxRedirects)
	}
	if before[len(before)-1].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return f.policy.refuse("a redirect from https to %s", next.URL.Scheme)
	}
	next.Header.Del("Referer") // it would show one host the address on another
	return f.policy.check(next.URL)
}

// Fetch fetches one picture. Errors say in words, without anything of the answer, why there is none; ErrRefused is matched
// when the policy forbids the address or one that it leads to.
func (f *Fetcher) Fetch(ctx context.Context, address string) (Picture, error) {
	var b bytes.Buffer
	got, err := f.fetch(ctx, address, "image/*", &b)
	if err != nil {
		return Picture{}, err
	}
	info, err := imaging.Probe(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		return Picture{}, fmt.Errorf("what %s returned is no picture: %w", got.host, err)
	}
	return Picture{Data: b.Bytes(), Info: info, URL: got.URL}, nil
}

// fetch writes one content to w as it comes. After an error some of it may have been written.
func (f *Fetcher) fetch(ctx context.Context, address, accept string, w io.Writer) (Document, error) {
	if err := f.policy.Check(address); err != nil {
		return Document{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.policy.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return Document{}, f.policy.refuse("the address is not valid")
	}
	request.Header.Set("User-Agent", "vaultflow")
	request.Header.Set("Accept", accept)
	response, err := f.client.Do(request)
	if err != nil {
		return Document{}, f.reason(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return Document{}, fmt.Errorf("%s answered %d %s", request.URL.Hostname(), response.StatusCode, http.StatusText(response.StatusCode))
	}
	size, err := f.body(response, w)
	if err != nil {
		return Document{}, f.reason(ctx, err)
	}
	return describe(request.URL.Hostname(), response, size), nil
}

// body copies an answer up to the limit. What a host says of its length is believed only when it is too much, or when more
// was to come.
func (f *Fetcher) body(response *http.Response, w io.Writer) (int64, error) {
	most := f.policy.MaxBytes
	if response.ContentLength > most {
		return 0, f.tooLarge(fmt.Sprintf("%d bytes, more than the %d", response.ContentLength, most))
	}
	size, err := io.Copy(w, io.LimitReader(response.Body, most+1))
	if err == nil && size > most {
		err = f.tooLarge(fmt.Sprintf("more than the %d bytes", most))
	}
	return size, err
}

func (f *Fetcher) tooLarge(than string) error {
	return omission.Wrap(omission.TooLarge, fmt.Errorf("it has %s of %s", than, f.policy.SizeSetting))
}

// reason returns why nothing came, without the address, which may hold a token. The receipt names it anyway.
func (f *Fetcher) reason(ctx context.Context, err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s", f.policy.Timeout)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	for _, prohibited := range []error{ssrf.ErrProhibitedIP, ssrf.ErrProhibitedPort, ssrf.ErrProhibitedNetwork, ssrf.ErrInvalidHostPort} {
		if errors.Is(err, prohibited) {
			return f.policy.refuse("the host leads to a private or special address, or to another port than 80 and 443")
		}
	}
	return err
}
