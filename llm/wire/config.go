package wire

import (
	"net/http"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/llm"
)

// Config configures an HTTP adapter. From the environment only the proxy variables are read, by http.DefaultTransport; set a
// Client (see NewClient) to choose proxies, certificates and connection limits.
type Config struct {
	Name        string            // the provider's name in the settings, for errors; empty: the adapter's own
	Kind        string            // the dialect, for adapters that speak several
	BaseURL     string            // empty: the vendor's public address
	APIKey      llm.Secret        // empty: no authentication
	Auth        Authorizer        // authenticates where APIKey is not enough; nil: only the key does
	Headers     map[string]string // further headers; a value may be secret
	Client      *http.Client      // nil: a new one. Redirects are never followed, so that keys stay with the service
	Timeout     time.Duration     // a whole call; 0: DefaultTimeout, negative: none
	IdleTimeout time.Duration     // no byte sent or received; 0: DefaultIdleTimeout, negative: none
	Now         func() time.Time  // nil: time.Now. Used to read Retry-After dates
}

// Time-outs of a call. A local server may need minutes to load a model before its first byte.
const (
	DefaultTimeout     = 30 * time.Minute
	DefaultIdleTimeout = 10 * time.Minute
)

// Endpoint returns the endpoint of a service. kind is its name in the tables, and in errors unless the settings have
// another; keyHeader is the header for the key, empty for a bearer token.
func (c Config) Endpoint(kind, baseURL, keyHeader string) *Endpoint {
	e := &Endpoint{
		provider: either(c.Name, kind),
		kind:     kind,
		base:     strings.TrimRight(either(c.BaseURL, baseURL), "/"),
		headers:  make(http.Header),
		timeout:  orDefault(c.Timeout, DefaultTimeout),
		idle:     orDefault(c.IdleTimeout, DefaultIdleTimeout),
		auth:     c.Auth,
		now:      c.Now,
	}
	if e.now == nil {
		e.now = time.Now
	}
	client := http.Client{}
	if c.Client != nil {
		client = *c.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	e.client = &client
	if c.APIKey != "" {
		e.secrets = append(e.secrets, string(c.APIKey))
		if keyHeader == "" {
			e.headers.Set("Authorization", "Bearer "+string(c.APIKey))
		} else {
			e.headers.Set(keyHeader, string(c.APIKey))
		}
	}
	for key, value := range c.Headers {
		e.headers.Set(key, value)
		e.secrets = append(e.secrets, value)
	}
	return e
}

// SetDefault sets a header unless the settings did. Call it before the first request.
func (e *Endpoint) SetDefault(header, value string) {
	if e.headers.Get(header) == "" {
		e.headers.Set(header, value)
	}
}

func either(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return max(d, 0)
}
