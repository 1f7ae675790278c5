package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// bedrockMedium is an image, a document or a video. Formats are tokens, not media types.
type bedrockMedium struct {
	Format string `json:"format"`
	Name   string `json:"name"`
	Source struct {
		Bytes string `json:"bytes"`
	} `json:"source"`
	Citations *struct {
		Enabled *bool `json:"enabled"`
	} `json:"citations"`
}

func bedrockImage(value json.RawMessage) (Part, error) {
	var m bedrockMedium
	if err := strict(value, &m); err != nil {
		return Part{}, err
	}
	if m.Name != "" || m.Citations != nil {
		return Part{}, errors.New("only a document has a name and citations")
	}
	part, err := picture(m.Source.Bytes, "image/png", "image/jpeg", "image/gif", "image/webp")
	if err == nil && part.MediaType != "image/"+m.Format {
		err = fmt.Errorf("%s does not match the provided media type: format %q", part.MediaType, m.Format)
	}
	return part, err
}

func bedrockVideo(value json.RawMessage) (Part, error) {
	var m bedrockMedium
	if err := strict(value, &m); err != nil {
		return Part{}, err
	}
	if m.Name != "" || m.Citations != nil {
		return Part{}, errors.New("only a document has a name and citations")
	}
	return recording(m.Source.Bytes, m.Format)
}

// documentName is what the service model says of a document's name: letters, digits, single blanks, hyphens, parentheses and
// brackets, 200 at most.
var documentName = regexp.MustCompile(`^[\pL\pN\-()\[\]]+( [\pL\pN\-()\[\]]+)*$`)

// document reads a PDF. Claude reads its pages only with citations, which all documents of a request have or none; they
// exclude a schema.
func (r *bedrockReading) document(value json.RawMessage) (Part, error) {
	var m bedrockMedium
	if err := strict(value, &m); err != nil {
		return Part{}, err
	}
	switch {
	case !documentName.MatchString(m.Name) || len([]rune(m.Name)) > 200:
		return Part{}, fmt.Errorf("the document file name %q is not allowed", m.Name)
	case r.names[m.Name]:
		return Part{}, fmt.Errorf("multiple documents have the name %q", m.Name)
	case len(r.names) == 5:
		return Part{}, errors.New("too many documents: 6 > 5")
	case strings.Contains(m.Name, "."), strings.Contains(m.Name, "ignore"):
		return Part{}, fmt.Errorf("the test wants a neutral name, not %q", m.Name)
	}
	r.names[m.Name] = true
	cited := m.Citations != nil && m.Citations.Enabled != nil && *m.Citations.Enabled
	switch {
	case m.Citations != nil && (m.Citations.Enabled == nil || r.wire.family() != "claude"):
		return Part{}, errors.New("this model does not support citations")
	case cited && r.held:
		return Part{}, errors.New("citations are not supported when using structured outputs")
	case r.citations != nil && *r.citations != cited:
		return Part{}, errors.New("citations must be enabled on all or none of the documents")
	case !cited && !r.held && r.wire.family() == "claude":
		return Part{}, errors.New("the test wants citations: without them the model sees no page")
	}
	r.citations = &cited
	part, err := picture(m.Source.Bytes, "application/pdf")
	if err == nil && m.Format != "pdf" {
		err = fmt.Errorf("%s does not match format %q", part.MediaType, m.Format)
	}
	return part, err
}
