package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// part reads a text or a medium, or what the assistant thought.
func (r *anthropicReading) part(role string, raw json.RawMessage) (Part, error) {
	switch kind := typeOf(raw); {
	case kind == "text":
		var t struct {
			Type      string            `json:"type"`
			Text      string            `json:"text"`
			Citations []json.RawMessage `json:"citations"`
			Cache     json.RawMessage   `json:"cache_control"`
		}
		if err := strict(raw, &t); err != nil {
			return Part{}, err
		}
		return Part{Text: t.Text}, notBlank(t.Text)
	case role == "user" && (kind == "image" || kind == "document"):
		var m struct {
			Type   string `json:"type"`
			Source struct {
				Type      string `json:"type"`
				MediaType string `json:"media_type"`
				Data      string `json:"data"`
			} `json:"source"`
			Title     *string `json:"title"`
			Citations *struct {
				Enabled bool `json:"enabled"`
			} `json:"citations"`
		}
		if err := strict(raw, &m); err != nil {
			return Part{}, err
		}
		if m.Title != nil && (kind != "document" || !neutralTitle.MatchString(*m.Title)) {
			return Part{}, fmt.Errorf("the test wants a neutral title, and of a document, not %q", *m.Title)
		}
		if err := r.citing(kind, m.Citations != nil, m.Citations != nil && m.Citations.Enabled); err != nil {
			return Part{}, err
		}
		accepted := []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
		if kind == "document" {
			accepted = []string{"application/pdf"}
		}
		part, err := picture(m.Source.Data, accepted...)
		if err == nil && (m.Source.Type != "base64" || m.Source.MediaType != part.MediaType) {
			err = fmt.Errorf("%s does not match the provided media type %s", kind, m.Source.MediaType)
		}
		return part, err
	case role == "assistant" && (kind == "thinking" || kind == "redacted_thinking"):
		return Part{}, nil
	default:
		return Part{}, fmt.Errorf("unexpected block %q of role %s", kind, role)
	}
}

// neutralTitle is an id of the house's, which an author cannot make to read like an order.
var neutralTitle = regexp.MustCompile(`^[0-9a-f]{6,64}(-[0-9]+)?$`)

// citing checks whether a medium may have or lack citations: documents of a request have them all or none, and not beside a
// schema.
func (r *anthropicReading) citing(kind string, said, enabled bool) error {
	switch {
	case kind != "document" && said:
		return fmt.Errorf("%s.citations: extra inputs are not permitted", kind)
	case kind != "document":
		return nil
	case enabled && r.held:
		return errors.New("citations are not supported when using output_config.format")
	case r.cited != nil && *r.cited != enabled:
		return errors.New("citations must be enabled on all or none of the documents")
	}
	r.cited = &enabled
	return nil
}
