package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// version of the cassette format.
const version = 1

// cassette is the file.
type cassette struct {
	Version   int        `json:"version"`
	Exchanges []exchange `json:"exchanges"`
}

type exchange struct {
	Request  request  `json:"request"`
	Response response `json:"response"`
}

type request struct {
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body,omitempty"` // scrubbed
}

type response struct {
	Status int               `json:"status"`
	Header map[string]string `json:"header,omitempty"`
	Body   string            `json:"body"`
}

// kept are the headers of an answer that mean something to an adapter.
var kept = []string{"Content-Type", "Retry-After", "Date"}

func load(path string) (cassette, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return cassette{}, fmt.Errorf("open cassette: %w", err)
	}
	var c cassette
	if err := json.Unmarshal(data, &c); err != nil {
		return cassette{}, fmt.Errorf("read cassette %s: %w", path, err)
	}
	if c.Version != version {
		return cassette{}, fmt.Errorf("read cassette %s: version %d, want %d", path, c.Version, version)
	}
	for i := range c.Exchanges { // the file is indented, comparisons are not
		var compact bytes.Buffer
		if len(c.Exchanges[i].Request.Body) == 0 {
			continue
		}
		if err := json.Compact(&compact, c.Exchanges[i].Request.Body); err != nil {
			return cassette{}, fmt.Errorf("read cassette %s: %w", path, err)
		}
		c.Exchanges[i].Request.Body = compact.Bytes()
	}
	return c, nil
}

func (c cassette) save(path string) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(c); err != nil {
		return fmt.Errorf("write cassette: %w", err)
	}
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write cassette: %w", err)
	}
	return nil
}
