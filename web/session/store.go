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
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/vaultflow/vaultflow/settings/state"
)

// Store keeps sessions and tokens as files in the state directory, readable by the user alone.
type Store struct {
	Dir  string
	Make bool // create Dir when it is missing. Serve does not: it waits for a state directory that is gone
}

// update replaces a file by what change returns for its content, which is nil when there is none. A command and serve may
// both change the tokens, so a lock orders them.
func (s Store) update(name string, change func(old []byte) ([]byte, error)) (err error) {
	if s.Make {
		err = os.MkdirAll(s.Dir, 0o700)
	} else {
		_, err = os.Stat(s.Dir)
	}
	if err != nil {
		return err
	}
	lock := flock.New(filepath.Join(s.Dir, "access.lock"), flock.SetPermissions(state.FileMode))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	old, err := state.Read(s.Dir, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := change(old)
	if err != nil {
		return err
	}
	return state.Write(s.Dir, name, data)
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
	data, err := state.Read(s.Dir, name)
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
	return s.update(name, func(old []byte) ([]byte, error) {
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
