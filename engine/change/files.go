package change

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/vault"
)

// Files looks at files of the vault.
type Files struct {
	FS      fs.FS
	Vault   vault.Writer
	MaxText int64 // largest text file that is read, bytes
}

// Current returns the digest of a file's content, "" when there is no file. It asks the vault, which takes a name that
// differs only in case for the file that is there.
func (f Files) Current(name string) (string, error) {
	_, digest, err := f.Vault.Read(name, f.MaxText)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return digest, err
}

// Digest is Current for files of any size, and for the folders of imported documents.
func (f Files) Digest(name string) (string, error) {
	if _, digest := f.Document(name); digest != "" {
		return digest, nil
	}
	digest, err := f.Current(name)
	if err != nil {
		return f.Hash(name)
	}
	return digest, nil
}

// Hash reads a file once, without keeping it.
func (f Files) Hash(name string) (string, error) {
	file, err := f.FS.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("hash: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Of is the change that a staged file makes.
func Of(file engine.StagedFile) engine.Change {
	kind := engine.ChangeWrite
	if file.Base == "" {
		kind = engine.ChangeCreate
	}
	return engine.Change{Kind: kind, Name: file.Name, Before: file.Base, After: file.New, Own: file.Own}
}

// State is how the vault looks after an attempt to change it.
type State int

// The states.
const (
	Before State = iota // the change was not made
	After               // it was made
	Other               // somebody else was there
)

// StateOf compares the vault with what a change begins and ends with. now returns the digest of a file, "" when there is none.
func StateOf(c engine.Change, now func(name string) (string, error)) (State, error) {
	here, err := now(c.Name)
	if err != nil {
		return Other, err
	}
	if c.Kind == engine.ChangeMove {
		there, err := now(c.To)
		switch {
		case err != nil:
			return Other, err
		case here == "" && there == c.After:
			return After, nil
		case here == "" && there == c.Before: // a document whose note has its old name
			return Before, nil
		case here == c.Before && (there == "" || there == here):
			return Before, nil
		}
		return Other, nil
	}
	switch here {
	case c.After:
		return After, nil
	case c.Before:
		return Before, nil
	}
	return Other, nil
}
