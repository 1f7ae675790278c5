package session

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// Store keeps named files that only the user can read.
type Store interface {
	// Load returns a file. The error matches fs.ErrNotExist when there is none.
	Load(name string) ([]byte, error)
	// Update replaces a file by what change returns for its present content (nil when there is none). No other update of
	// the same store, in this process or another, comes between.
	Update(name string, change func(old []byte) ([]byte, error)) error
}

// Names of the files in a store.
const (
	tokensFile   = "tokens.json"
	sessionsFile = "sessions.json"
)

// random returns 256 random bits for a cookie, a code or a token.
func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails: the program ends instead
	return base64.RawURLEncoding.EncodeToString(b)
}

// NewSecret returns a random owner's token.
func NewSecret() string { return random() }

// hash is what is kept of a random secret.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// same compares two secrets in a time that depends on neither.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// load reads a list. No file is an empty list.
func load[T any](s Store, name string) ([]T, error) {
	data, err := s.Load(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parse[T](name, data)
}

func parse[T any](name string, data []byte) (list []T, err error) {
	if len(data) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return list, nil
}

// update changes a list.
func update[T any](s Store, name string, change func([]T) ([]T, error)) error {
	return s.Update(name, func(old []byte) ([]byte, error) {
		list, err := parse[T](name, old)
		if err != nil {
			return nil, err
		}
		if list, err = change(list); err != nil {
			return nil, err
		}
		return json.MarshalIndent(list, "", " ")
	})
}
