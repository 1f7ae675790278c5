package vaultid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings"
)

// State is a vault with its state directory, and how the two belong together.
type State struct {
	Dir      string // may be missing
	Named    bool   // the user named the directory
	Standing Standing
	Vault    Vault
	Record   Record
	Used     bool // the directory had a database when it was found
}

// Find returns the state directory of a vault: named if it is set, else the one among the user's state directories that is this
// vault's, else a free one with the vault's name. It changes nothing.
func Find(dir, named string, environ []string) (State, error) {
	v, err := Look(dir)
	if err != nil {
		return State{}, err
	}
	path, err := settings.StateDir(v.Path, named, environ)
	if err != nil {
		return State{}, err
	}
	usual, err := open(v, path)
	usual.Named = named != ""
	if err != nil || usual.Named || usual.Standing == Own || usual.Standing == New && usual.Used {
		return usual, err
	}
	if best := search(v, filepath.Dir(path)); best.Dir != "" {
		return best, nil
	}
	if usual.Standing == Replaced && v.ID == "" {
		return usual, nil
	}
	return Free(v, path)
}

// Free returns the first state directory without a record and without a database, beginning with the usual one: path, path-2, path-3.
func Free(v Vault, path string) (State, error) {
	s, err := open(v, path)
	for n := 2; err == nil && (s.Standing != New || s.Used); n++ {
		s, err = open(v, fmt.Sprintf("%s-%d", path, n))
	}
	return s, err
}

// open compares a vault with one state directory.
func open(v Vault, dir string) (State, error) {
	r, err := ReadRecord(dir)
	_, missing := os.Lstat(filepath.Join(dir, "state.db"))
	return State{Dir: dir, Vault: v, Used: !errors.Is(missing, fs.ErrNotExist)}.Under(r), err
}

// Under returns the state as it is judged by a record.
func (s State) Under(r Record) State {
	s.Record, s.Standing = r, r.standing(s.Vault, lookAt(s.Vault))
	return s
}

// Accepts returns an error unless a record, as that of a backup, is beyond doubt this vault's, or the vault has lost its id at the
// recorded place.
func (s State) Accepts(r Record) error {
	switch s.Under(r).Standing {
	case Own:
		return nil
	case Moved:
		if r.knows(s.Vault) {
			return nil
		}
	case Replaced:
		if s.Vault.ID == "" {
			return nil
		}
	case Copied:
		return failure.New(failure.State, "restore it there, or move that vault away first", "it is the history of %s, and this vault is a copy", r.Path)
	}
	hint := "name the vault that it belongs to with --vault"
	if s.Vault.ID == "" && r.ID() != "" {
		hint += fmt.Sprintf("; if it is this one, bring back its %s, with the id %s", policy.IdentityFile, r.ID())
	}
	return failure.New(failure.State, hint, "it is the history of another vault, %s", r.Path)
}

// Continue returns the record of an accepted history for this vault at its present place.
func (s State) Continue(r Record, now time.Time) Record {
	r.Next = s.Record.Next
	for _, id := range s.Record.IDs {
		if !r.has(id) {
			r.IDs = append(slices.Clone(r.IDs), id)
		}
	}
	return r.At(s.Vault, now)
}

// Unknown reports whether the vault has a history that this state directory cannot know: it has an id, and nothing is recorded. The
// state was lost, or the vault was used on another computer.
func (s State) Unknown() bool {
	return s.Standing == New && s.Vault.ID != "" && !s.Used
}

// search returns the state directory below home that records the vault, or the zero value. The vault's place decides first, then the
// newest record of its id. Nobody named these directories, so one that only may be this vault's is not taken. A name with a dot is that
// of a directory that was set aside.
func search(v Vault, home string) (best State) {
	entries, err := os.ReadDir(home)
	if err != nil {
		return State{}
	}
	rank := map[Standing]int{Own: 3, Moved: 2, Copied: 1}
	for _, e := range entries {
		if !e.IsDir() || strings.Contains(e.Name(), ".") {
			continue
		}
		s, err := open(v, filepath.Join(home, e.Name()))
		if err != nil || rank[s.Standing] == 0 || s.Standing == Moved && !s.Record.knows(v) {
			continue // what is damaged is reported by the vault that it belongs to
		}
		if rank[s.Standing] > rank[best.Standing] || s.Standing == best.Standing && s.Record.Since.After(best.Record.Since) {
			best = s
		}
	}
	return best
}

// Files writes the id file into the vault, with the gate's permission.
type Files interface {
	Write(ctx context.Context, name string, data []byte, base string) error
}

// Settle makes vault and state directory agree from now on: the directory records the vault's place, the vault gets an id if it has
// none, and the directory records the id. What stops between two of these steps is completed by the next Settle. A vault that nothing may
// be written to (files is nil) gets no id, and then its place alone is recorded. unwritten is the reason why an id could not be written.
func (s *State) Settle(ctx context.Context, files Files, now time.Time) (unwritten, err error) {
	if err := s.record(now); err != nil {
		return nil, err
	}
	if files == nil || s.Vault.ID != "" && s.Record.Next == "" {
		return nil, nil
	}
	if unwritten = s.name(ctx, files, now); unwritten != nil {
		return unwritten, nil
	}
	return nil, s.record(now)
}

// Renew records a vault in a state directory without a record, under another id, for a history of its own. If the id cannot be written,
// the directory has no record again.
func (s *State) Renew(ctx context.Context, files Files, now time.Time) error {
	s.Record = Record{Next: NewID()}
	unwritten, err := s.Settle(ctx, files, now)
	if unwritten != nil {
		err = errors.Join(unwritten, os.Remove(filepath.Join(s.Dir, recordName)))
	}
	return err
}

// record stores where the vault is, and the id that it has.
func (s *State) record(now time.Time) error {
	r := s.Record.At(s.Vault, now)
	stored, err := ReadRecord(s.Dir)
	if err == nil && !reflect.DeepEqual(r, stored) {
		err = r.Write(s.Dir)
	}
	if err != nil {
		return err
	}
	s.Record, s.Standing = r, Own
	return nil
}

// name writes the id file. An id that a sync program brings in this moment is kept.
func (s *State) name(ctx context.Context, files Files, now time.Time) error {
	data, err := Content(cmp.Or(s.Record.Next, s.Record.ID(), NewID()), now)
	if err != nil {
		return err
	}
	err = files.Write(ctx, policy.IdentityFile, data, s.Vault.Base)
	before := s.Vault.Base
	if v, lookErr := Look(s.Vault.Path); lookErr == nil && v.ID != "" && v.Base != before {
		s.Vault, err = v, nil
	}
	return err
}
