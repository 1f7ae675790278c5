package vertex

import (
	"net/url"
	"strings"

	"github.com/vaultflow/vaultflow/llm/wire"
)

// Kind is wire.Config.Kind of models on Vertex AI.
const Kind = "vertex"

// The publishers with supported wire formats.
const (
	Google    = "google"
	Anthropic = "anthropic"
)

// Global is the location that is not bound to a place, and the default.
const Global = "global"

// Account is a Google Cloud project and its credentials.
type Account struct {
	Project         string
	Location        string // "": Global
	CredentialsFile string // a path; "": the machine's own
}

// Config returns c for the models of a publisher. BaseURL may be another address, without a path; the machine's own
// credentials are sent only to Google's addresses. An APIKey is an access token, used unchanged; without one, tokens are
// fetched when needed and cached while they are valid.
func (a Account) Config(c wire.Config, publisher string) wire.Config {
	location := a.location()
	if c.BaseURL == "" {
		c.BaseURL = Address(location)
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/") + "/v1/projects/" + url.PathEscape(a.Project) + "/locations/" + url.PathEscape(location) +
		"/publishers/" + publisher
	c.Kind = Kind
	if c.APIKey == "" && c.Auth == nil {
		c.Auth = &tokens{file: a.CredentialsFile, client: c.Client, elsewhere: !own(c.BaseURL)}
	}
	return c
}

// own reports whether an address is Google's, including private ones of a network.
func own(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && strings.HasSuffix(u.Hostname(), ".googleapis.com")
}

func (a Account) location() string {
	if a.Location == "" {
		return Global
	}
	return a.Location
}

// Address returns the public address of a location: of one region, of regions together (us, eu), or of all. From Google's pages on
// locations and endpoints, read in November 2026.
func Address(location string) string {
	switch location {
	case "", Global:
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + location + "-aiplatform.googleapis.com"
}
