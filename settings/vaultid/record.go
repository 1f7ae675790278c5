package vaultid

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/settings/state"
)

// recordName is the record's file in a state directory.
const (
	recordName    = "vault.json"
	recordVersion = 1
)

// Record is what a state directory knows about its vault. The zero value is the record of one that has none yet.
type Record struct {
	Version int       `json:"version"`
	IDs     []string  `json:"ids,omitempty"`  // a sync program can replace the id of a vault; empty: the vault cannot be written
	Next    string    `json:"next,omitempty"` // the id that the vault is to get instead of its present one
	Path    string    `json:"path"`           // the real path of the vault
	Folder  string    `json:"folder,omitempty"`
	Since   time.Time `json:"since"`           // when this place was recorded
	Begins  time.Time `json:"begins,omitzero"` // when this history began, if the vault had an earlier one that is not here
}

// ReadRecord returns the record of a state directory, or the zero value if it has none.
func ReadRecord(dir string) (Record, error) {
	data, err := state.Read(dir, recordName)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, nil
	}
	var r Record
	path := filepath.Join(dir, recordName)
	switch {
	case err != nil:
		return Record{}, fmt.Errorf("read whose state this is: %w", err)
	case json.Unmarshal(data, &r) != nil || r.Version < 1 || r.Path == "":
		return Record{}, fmt.Errorf("%s is damaged; remove it if this state belongs to this vault", path)
	case r.Version > recordVersion:
		return Record{}, fmt.Errorf("%s belongs to a newer version of vaultflow; use that one", path)
	}
	return r, nil
}

// Write stores a record that At returned in a state directory.
func (r Record) Write(dir string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return state.Write(dir, recordName, append(data, '\n'))
}

// At returns the record for a vault at its present place.
func (r Record) At(v Vault, now time.Time) Record {
	r.Version = recordVersion
	if v.Path != r.Path || v.Folder != r.Folder {
		r.Path, r.Folder, r.Since = v.Path, v.Folder, now.UTC().Truncate(time.Second)
	}
	if v.ID == r.Next {
		r.Next = ""
	}
	if v.ID != "" && r.Next == "" && !r.has(v.ID) {
		r.IDs = append(slices.Clone(r.IDs), v.ID)
	}
	return r
}

// ID returns the vault's newest id, or "".
func (r Record) ID() string {
	if len(r.IDs) == 0 {
		return ""
	}
	return r.IDs[len(r.IDs)-1]
}

func (r Record) has(id string) bool { return id != "" && slices.Contains(r.IDs, id) }
