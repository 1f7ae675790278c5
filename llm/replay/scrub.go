package replay

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/vaultflow/vaultflow/llm"
)

// shortestMedia is the length from which a string that decodes as base64 counts as media.
const shortestMedia = 64

var (
	dataURI = regexp.MustCompile(`^data:([\w/+.-]+);base64,`)
	keyLike = regexp.MustCompile(`\b(?:sk|gsk|xai|pk|rk)-[A-Za-z0-9_-]{8,}|\bAIza[\w-]{20,}`)
)

// scrubBody returns a request body without media and keys, its members sorted, so that equal requests compare equal.
func scrubBody(data []byte, secrets []llm.Secret) (json.RawMessage, error) {
	if len(data) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("the request is not JSON: %w", err)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(scrubValue(v, secrets)); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(buf.Bytes()), nil
}

func scrubValue(v any, secrets []llm.Secret) any {
	switch v := v.(type) {
	case string:
		return scrubString(v, secrets)
	case []any:
		for i := range v {
			v[i] = scrubValue(v[i], secrets)
		}
	case map[string]any:
		for key := range v {
			v[key] = scrubValue(v[key], secrets)
		}
	}
	return v
}

// scrubString replaces media by their digest; other text only loses keys.
func scrubString(s string, secrets []llm.Secret) string {
	prefix := dataURI.FindString(s)
	if encoded := s[len(prefix):]; len(encoded) >= shortestMedia || prefix != "" {
		if data, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			return fmt.Sprintf("%ssha256:%x (%d bytes)", prefix, sha256.Sum256(data), len(data))
		}
	}
	return withoutKeys(s, secrets)
}

func withoutKeys(s string, secrets []llm.Secret) string {
	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, string(secret), "***")
		}
	}
	return keyLike.ReplaceAllString(s, "***")
}
