package content

import (
	"bytes"
	"encoding/json"
	"strings"
)

// longestEncoded is how long a string of base64 letters may be before it counts as media rather than as a word, a
// digest or a token. The longest digest in use (SHA-512 in hex) has 128 letters.
const longestEncoded = 512

// withoutMedia returns JSON in which every string that is encoded media is replaced by a short note. Numbers and the
// text of all other strings stay as they are.
func withoutMedia(data json.RawMessage) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	clean, changed := scrub(v)
	if !changed {
		return data, nil
	}
	return json.Marshal(clean)
}

func scrub(v any) (any, bool) {
	changed := false
	switch v := v.(type) {
	case string:
		if isEncoded(v) {
			return "[left out: " + FormatSize(int64(len(v))) + " of encoded data]", true
		}
	case []any:
		for i := range v {
			clean, c := scrub(v[i])
			v[i], changed = clean, changed || c
		}
	case map[string]any:
		for key := range v {
			clean, c := scrub(v[key])
			v[key], changed = clean, changed || c
		}
	}
	return v, changed
}

func isEncoded(s string) bool {
	if len(s) <= longestEncoded {
		return false
	}
	if strings.HasPrefix(s, "data:") && strings.Contains(s[:longestEncoded], ";base64,") {
		return true
	}
	for i := range len(s) {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("+/=-_\r\n", rune(c)) {
			return false
		}
	}
	return true
}
