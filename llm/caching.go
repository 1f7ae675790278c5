package llm

import (
	"crypto/sha256"
	"encoding/hex"
)

// CacheKey returns a key of 32 letters, equal for requests with the same model, system prompt and tools. Services that cache
// prompt prefixes route requests with one key to the same machine. It is empty unless Cache is set.
func (r Request) CacheKey() string {
	if !r.Cache {
		return ""
	}
	sum := sha256.New()
	for _, part := range []string{r.Model, r.System} {
		sum.Write([]byte(part + "\x00"))
	}
	for _, t := range r.Tools {
		sum.Write([]byte(t.Name + "\x00" + t.Description + "\x00" + string(t.Parameters) + "\x00"))
	}
	return hex.EncodeToString(sum.Sum(nil))[:32]
}
