package vaultid

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings/state"
)

// Vault is a vault's folder as it is now.
type Vault struct {
	Path   string    // its real path
	Folder string    // device, inode and birth time, see [state.FolderID]
	ID     string    // "" if there is no id file, or a damaged one
	Made   time.Time // when the id was made
	Base   string    // SHA-256 of the id file; "" if there is none
}

// file is the content of the id file.
type file struct {
	About string    `json:"about"`
	ID    string    `json:"id"`
	Made  time.Time `json:"made"`
}

const (
	about   = "This file names the vault for vaultflow, which finds its history by it. Keep it in the vault; it is no secret."
	maxFile = 4 << 10 // bytes
)

var validID = regexp.MustCompile(`^[0-9a-f]{16,64}$`)

// Look reads the id of a vault and the identity of its folder. A missing or damaged id file is no error.
func Look(dir string) (Vault, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Vault{}, fmt.Errorf("find the vault: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return Vault{}, fmt.Errorf("find the vault: %w", err)
	}
	v := Vault{Path: real, Folder: state.FolderID(real)}
	data, err := readFile(real)
	if errors.Is(err, fs.ErrNotExist) {
		return v, nil
	}
	var f file
	if err == nil {
		sum := sha256.Sum256(data)
		v.Base = hex.EncodeToString(sum[:])
		err = json.Unmarshal(data, &f)
	}
	if err == nil && validID.MatchString(f.ID) {
		v.ID, v.Made = f.ID, f.Made
	}
	return v, nil
}

// readFile reads the id file. It never leaves the vault, and opens nothing but a regular file.
func readFile(dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(policy.IdentityFile)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	}
	f, err := root.Open(policy.IdentityFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// NewID returns a random id.
func NewID() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // it never fails
	return hex.EncodeToString(raw[:])
}

// Content returns the id file for an id.
func Content(id string, now time.Time) ([]byte, error) {
	data, err := json.MarshalIndent(file{about, id, now.UTC().Truncate(time.Second)}, "", "  ")
	return append(data, '\n'), err
}
