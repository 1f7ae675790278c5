package step

import (
	"encoding/json"
	"errors"
)

// SetProperties puts the members of a JSON object into a note's frontmatter, as a step with `@write_mode frontmatter` does:
// null removes a property, and everything else of the note stays byte for byte. A note whose frontmatter cannot be read is
// an error.
func SetProperties(note []byte, properties json.RawMessage) ([]byte, error) {
	value, err := readJSON(string(properties))
	if err != nil {
		return nil, err
	}
	members, ok := value.(object)
	if !ok {
		return nil, errors.New("properties are no JSON object")
	}
	return mergeProperties(note, members)
}
