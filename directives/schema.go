package directives

import "encoding/json"

// DefaultSchemaRetries is how often a model is asked to mend an answer that does not fit its schema.
const DefaultSchemaRetries = 2

// Schema is `@schema`: the answer is JSON that fits a JSON Schema. It is a file of the vault (JSON or YAML), or stands in
// a fenced block right below the directive.
type Schema struct {
	At      Position        `json:"at"`
	Target  *Target         `json:"target,omitempty"` // nil for an inline one
	Inline  json.RawMessage `json:"inline,omitempty"` // as JSON
	Retries int             `json:"retries"`          // repairs; DefaultSchemaRetries unless given
}
