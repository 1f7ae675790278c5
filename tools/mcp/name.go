package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the longest name of a tool that all services take, in bytes: OpenAI's and Anthropic's limit.
const maxName = 64

// wireName is the name that models see: services allow letters, digits, _ and - only. What had to be changed gets a digest
// behind it, so that two tools never share a name.
func wireName(server, tool string, taken map[string]bool) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, server+"__"+tool)
	if plain == server+"__"+tool && len(plain) <= maxName && !taken[plain] {
		return plain
	}
	sum := sha256.Sum256([]byte(server + "." + tool))
	const digits = 8
	return plain[:min(len(plain), maxName-digits-1)] + "_" + hex.EncodeToString(sum[:digits/2])
}
