package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
)

// Notes of earlier versions had marks without a key. Their boxes do not count: such a note is replaced.

var (
	oldHead = regexp.MustCompile(`\A---\nvaultflow: approval\nrun: (\S+)\ndigest: ([0-9a-f]{64})\n---\n\n`)
	oldTick = regexp.MustCompile(`(?m)^(\s*[-*+] \[)[xX](\] .*\^(?:rest-)?[0-9a-f]{16}\r?)$`)
)

// oldSealed reports whether the text of an old note was changed only by ticking boxes.
func oldSealed(text, digest string) bool {
	sum := sha256.Sum256([]byte(oldTick.ReplaceAllString(text, "${1} ${2}")))
	return hex.EncodeToString(sum[:]) == digest
}
