package llm

import (
	"crypto/sha256"
	"encoding/hex"
)

// CacheKey is the same for all requests whose beginnings are the same (model, system prompt, tools), 32 letters. Services that
// keep beginnings of prompts send requests with one key to the machine that has it. It is empty unless Cache is set.
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
