// Package websearch searches the web with SearXNG, Brave or Tavily. Results are foreign text. Errors never contain keys.
package websearch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Found is one result. Excerpt may be empty. All of it is the service's word.
type Found struct {
	Title   string
	URL     string
	Excerpt string
}

// Config says whom to ask. All fields but Key are required; SearXNG needs none.
type Config struct {
	Provider string // searxng, brave or tavily
	BaseURL  string // without the path of the search itself
	Key      string
	Timeout  time.Duration // of one search
	Client   *http.Client  // nil: one of its own, which follows no redirects
}

// Service asks one service. It is safe for concurrent use.
type Service struct {
	c    Config
	wire wire
}

// wire is a service's own form of question and answer.
type wire struct {
	ask  func(c Config, query string, count int) (*http.Request, error)
	read func(answer []byte) ([]Found, error)
}

var wires = map[string]wire{
	"searxng": {askSearXNG, readSearXNG},
	"brave":   {askBrave, readBrave},
	"tavily":  {askTavily, readTavily},
}

// Limits of the services.
const (
	MaxQuery   = 400 // characters of a query, Brave's limit
	MaxResults = 20  // of one search, Brave's and Tavily's limit
	maxAnswer  = 4 << 20
)

// New makes a service. An unknown provider is an error.
func New(c Config) (*Service, error) {
	w, ok := wires[c.Provider]
	if !ok {
		return nil, fmt.Errorf("web_search.provider: there is no service %q", c.Provider)
	}
	if c.Client == nil {
		// A redirect would carry the key to another host.
		c.Client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	return &Service{c, w}, nil
}

// Provider is the name of the service.
func (s *Service) Provider() string { return s.c.Provider }

// Search returns at most count results, best first, without results that have no web address. Errors contain the service's status,
// but neither the key nor the answer's text.
func (s *Service) Search(ctx context.Context, query string, count int) ([]Found, error) {
	ctx, cancel := context.WithTimeout(ctx, s.c.Timeout)
	defer cancel()
	count = max(min(count, MaxResults), 1)
	request, err := s.wire.ask(s.c, query, count)
	if err != nil {
		return nil, fmt.Errorf("%s: its address is not valid", s.c.Provider)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "vaultflow")
	response, err := s.c.Client.Do(request.WithContext(ctx))
	if err != nil {
		return nil, s.reason(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %d %s%s", s.c.Provider, response.StatusCode, http.StatusText(response.StatusCode), s.hint(response.StatusCode))
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, s.reason(ctx, err)
	case len(answer) > maxAnswer:
		return nil, fmt.Errorf("%s answered more than %d MB", s.c.Provider, maxAnswer>>20)
	}
	all, err := s.wire.read(answer)
	if err != nil {
		return nil, fmt.Errorf("%s answered something that is not the JSON of a search", s.c.Provider)
	}
	var found []Found
	for _, f := range all {
		u, err := url.Parse(strings.TrimSpace(f.URL))
		if len(found) < count && err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
			found = append(found, Found{Title: strings.TrimSpace(f.Title), URL: u.String(), Excerpt: strings.TrimSpace(f.Excerpt)})
		}
	}
	return found, nil
}

// hint returns advice for a status.
func (s *Service) hint(status int) string {
	switch {
	case status == http.StatusForbidden && s.c.Provider == "searxng":
		return ": add json to search.formats in its settings.yml"
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return ": the key is missing or wrong"
	case status == http.StatusTooManyRequests:
		return ": too many searches for its plan"
	case status >= 300 && status < 400:
		return ": set web_search.base_url to the address that it redirects to"
	}
	return ""
}

// reason returns why a request failed, without its address.
func (s *Service) reason(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s did not answer within %s", s.c.Provider, s.c.Timeout)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	return fmt.Errorf("%s cannot be reached: %w", s.c.Provider, err)
}

// SearXNG: GET /search with format=json, https://docs.searxng.org/dev/search_api.html. It takes no number of results.
func askSearXNG(c Config, query string, _ int) (*http.Request, error) {
	request, err := http.NewRequest(http.MethodGet, c.BaseURL+"/search?"+url.Values{"q": {query}, "format": {"json"}}.Encode(), nil) //nolint:noctx // the caller adds its context
	if err == nil && c.Key != "" {                                                                                                   // of a proxy in front of it
		request.Header.Set("Authorization", "Bearer "+c.Key)
	}
	return request, err
}

func readSearXNG(answer []byte) ([]Found, error) {
	var a struct {
		Results *[]struct {
			Title, URL, Content string
		}
	}
	if err := json.Unmarshal(answer, &a); err != nil || a.Results == nil {
		return nil, errors.Join(err, errForm)
	}
	var found []Found
	for _, r := range *a.Results {
		found = append(found, Found{r.Title, r.URL, r.Content})
	}
	return found, nil
}

// Brave: GET /res/v1/web/search with the header X-Subscription-Token, https://api-dashboard.search.brave.com/api-reference/web/search/get.
// Without text_decorations the excerpts hold no tags.
func askBrave(c Config, query string, count int) (*http.Request, error) {
	q := url.Values{"q": {query}, "count": {strconv.Itoa(count)}, "text_decorations": {"false"}, "result_filter": {"web"}}
	request, err := http.NewRequest(http.MethodGet, c.BaseURL+"/res/v1/web/search?"+q.Encode(), nil) //nolint:noctx // the caller adds its context
	if err == nil {
		request.Header.Set("X-Subscription-Token", c.Key)
	}
	return request, err
}

func readBrave(answer []byte) ([]Found, error) {
	var a struct {
		Type string
		Web  struct {
			Results []struct {
				Title, URL, Description string
			}
		}
	}
	if err := json.Unmarshal(answer, &a); err != nil || a.Type != "search" {
		return nil, errors.Join(err, errForm)
	}
	var found []Found
	for _, r := range a.Web.Results {
		found = append(found, Found{r.Title, r.URL, r.Description})
	}
	return found, nil
}

// Tavily: POST /search with a bearer key, https://docs.tavily.com/documentation/api-reference/endpoint/search.
func askTavily(c Config, query string, count int) (*http.Request, error) {
	body, err := json.Marshal(map[string]any{"query": query, "max_results": count, "search_depth": "basic"})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodPost, c.BaseURL+"/search", bytes.NewReader(body)) //nolint:noctx // the caller adds its context
	if err == nil {
		request.Header.Set("Authorization", "Bearer "+c.Key)
		request.Header.Set("Content-Type", "application/json")
	}
	return request, err
}

func readTavily(answer []byte) ([]Found, error) { return readSearXNG(answer) } // the same names: results of title, url, content

var errForm = errors.New("not the form of the service")
