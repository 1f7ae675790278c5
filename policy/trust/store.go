package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/vaultflow/vaultflow/settings/state"
)

const (
	fileName    = "trust.json"
	fileVersion = 1
)

// Store keeps the decisions about one vault in a state directory. It notices writes of other processes. It is safe for
// concurrent use.
type Store struct {
	dir, vault string

	mu   sync.Mutex
	seen os.FileInfo // of the last read; guarded by mu
	last document    // guarded by mu
}

// document is the content of the file. A state directory shared by several vaults has an entry for each.
type document struct {
	Version int     `json:"version"`
	Vaults  []State `json:"vaults"`
}

// of returns the document's entry about a vault.
func (d document) of(vault string) State {
	for _, s := range d.Vaults {
		if s.Vault == vault {
			return s
		}
	}
	return State{Level: Untrusted, Vault: vault}
}

// mine returns the document's entry about this vault. An entry about another folder that had the same path before does not
// count.
func (s *Store) mine(d document) State {
	said := d.of(s.vault)
	if replaced(said.Folder, state.FolderID(s.vault)) {
		return State{Level: Untrusted, Vault: s.vault}
	}
	return said
}

// replaced reports whether two folders of one file system differ. It cannot compare across file systems, because a remounted
// disk may have another number.
func replaced(before, now string) bool {
	device, inode, known := strings.Cut(before, ":")
	deviceNow, inodeNow, knownNow := strings.Cut(now, ":")
	return known && knownNow && device == deviceNow && inode != inodeNow
}

// Open returns the store of a vault. It does not read or create anything yet.
func Open(stateDir, vault string) (*Store, error) {
	absolute, err := filepath.Abs(vault)
	if err != nil {
		return nil, fmt.Errorf("find the vault: %w", err)
	}
	real, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return nil, fmt.Errorf("find the vault: %w", err)
	}
	return &Store{dir: stateDir, vault: real}, nil
}

// Path returns the file with the answers.
func (s *Store) Path() string { return filepath.Join(s.dir, fileName) }

// Read returns the present decisions about the vault, by any process. After an error the vault counts as untrusted. Decisions
// about another vault with the same state directory do not count.
func (s *Store) Read() (State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.read()
	return s.mine(d), err
}

// Exists reports whether this version has used the state directory, for any vault.
func (s *Store) Exists() bool {
	_, err := os.Lstat(s.Path())
	return !errors.Is(err, fs.ErrNotExist)
}

// read needs mu.
func (s *Store) read() (document, error) {
	nobody := document{}
	info, err := os.Lstat(s.Path())
	if errors.Is(err, fs.ErrNotExist) {
		s.seen = nil
		return nobody, nil
	}
	if err != nil {
		return nobody, fmt.Errorf("read what is trusted: %w", err)
	}
	if s.seen != nil && os.SameFile(s.seen, info) && s.seen.ModTime().Equal(info.ModTime()) && s.seen.Size() == info.Size() {
		return s.last, nil
	}
	data, err := state.Read(s.dir, fileName)
	if err != nil {
		return nobody, fmt.Errorf("read what is trusted: %w", err)
	}
	var found document
	if err := json.Unmarshal(data, &found); err != nil {
		return nobody, s.damaged("it is not JSON")
	}
	switch {
	case found.Version > fileVersion:
		return nobody, fmt.Errorf("%s belongs to a newer version of vaultflow; use that one", s.Path())
	case found.Version < 1:
		return nobody, s.damaged("it has no version")
	}
	for _, v := range found.Vaults {
		if v.Level != Untrusted && v.Level != Shared && v.Level != Own {
			return nobody, s.damaged(fmt.Sprintf("the level %q is not known", v.Level))
		}
	}
	s.seen, s.last = info, found
	return found, nil
}

func (s *Store) damaged(why string) error {
	return fmt.Errorf("%s is damaged (%s); remove it and run `vaultflow trust` again", s.Path(), why)
}

// Change stores the answers as changed by fn. Other processes wait meanwhile.
func (s *Store) Change(fn func(*State)) error {
	return s.change(func(_ document, t *State) { fn(t) })
}

// change calls fn with the answers about all vaults, and about this one.
func (s *Store) change(fn func(all document, t *State)) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("store what is trusted: %w", err)
	}
	lock := flock.New(filepath.Join(s.dir, "trust.lock"), flock.SetPermissions(state.FileMode))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("store what is trusted: %w", err)
	}
	defer lock.Unlock() //nolint:errcheck // it ends with the process
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = nil
	all, err := s.read()
	if err != nil {
		return err
	}
	now := s.mine(all)
	fn(all, &now)
	now.Folder = state.FolderID(s.vault)
	all.Version = fileVersion
	all.Vaults = append(slices.DeleteFunc(all.Vaults, func(o State) bool { return o.Vault == s.vault }), now)
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("store what is trusted: %w", err)
	}
	if err := state.Write(s.dir, fileName, append(data, '\n')); err != nil {
		return fmt.Errorf("store what is trusted: %w", err)
	}
	s.seen = nil
	return nil
}

// Former returns the answers about another vault, if the file has none about this one. Versions that recorded no vault in the state
// directory wrote it.
func (s *Store) Former() (State, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.read()
	if err != nil || len(d.Vaults) == 0 || slices.ContainsFunc(d.Vaults, func(o State) bool { return o.Vault == s.vault }) {
		return State{}, false
	}
	return d.Vaults[0], true
}

// Begin records that this version uses the vault, so that its runs are never mistaken for those of an earlier one.
func (s *Store) Begin() error {
	if _, err := s.Read(); err != nil || s.Exists() {
		return err
	}
	return s.Change(func(*State) {})
}

// Adopt makes a vault that an earlier version used the user's own, and grants the values in force. It does nothing if this
// version has used the state directory before.
func (s *Store) Adopt(now time.Time, asks []Ask) error {
	if s.Exists() {
		return nil
	}
	return s.Change(func(t *State) {
		if t.Known() {
			return // another process was faster
		}
		t.Decide(Own, now)
		t.Grant(now, asks...)
		t.Adopted = true
	})
}

// Follow keeps what was decided about the vault when its folder had another path, instead of an older decision at the present path. The
// folder must be the same one, of which only its birth time is proof. It reports whether there is anything to keep.
func (s *Store) Follow(former string) (followed bool, err error) {
	now := state.FolderID(s.vault)
	if !strings.Contains(now, "@") {
		return false, nil
	}
	err = s.change(func(d document, t *State) {
		before := d.of(former)
		if followed = before.Folder == now && before.Known(); followed {
			before.Vault = t.Vault
			*t = before
		}
	})
	return followed, err
}

// Tell reports that the vault was adopted, once for each who.
func (s *Store) Tell(who string) bool {
	now, err := s.Read()
	if err != nil || !now.news(who) {
		return false
	}
	first := false
	err = s.Change(func(t *State) {
		if first = t.news(who); first {
			t.Told = append(t.Told, who)
		}
	})
	return err == nil && first
}
