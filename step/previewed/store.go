package previewed

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/settings/state"
)

// Store keeps the last preview of each step and its files in the state directory: the latest maxKept of them, each for maxAge.
type Store struct{ Dir string } // the state directory; empty: nothing is kept

const (
	folder  = "previews"
	maxKept = 500
	maxAge  = 30 * 24 * time.Hour
)

// Key names what a preview is of. The files are those that the run is about and the items of its batch.
func Key(workflow, step string, files ...string) string {
	return digest(strings.Join(append([]string{workflow, step}, files...), "\x00"))
}

// Last returns the last preview, and whether there was one that is not too old.
func (s Store) Last(key string, now time.Time) (Sketch, bool) {
	var kept Sketch
	if s.Dir == "" {
		return kept, false
	}
	data, err := state.Read(filepath.Join(s.Dir, folder), key+".json")
	if err != nil || json.Unmarshal(data, &kept) != nil {
		return Sketch{}, false
	}
	return kept, kept.Digest != "" && kept.Format == format && now.Sub(kept.Time) <= maxAge
}

// Put keeps a preview in place of the one before. Where no state directory is, none is made: a command that only looks leaves nothing.
func (s Store) Put(key string, sketch Sketch) error {
	if _, err := os.Stat(s.Dir); s.Dir == "" || err != nil {
		return nil //nolint:nilerr // there is none
	}
	sketch.Format = format
	data, err := json.Marshal(sketch)
	if err != nil {
		return fmt.Errorf("keep a preview: %w", err)
	}
	dir := filepath.Join(s.Dir, folder)
	if err := state.Write(dir, key+".json", data); err != nil {
		return err
	}
	return s.sweep(dir, time.Now())
}

// sweep removes those that are too old, and the oldest beyond maxKept.
func (s Store) sweep(dir string, now time.Time) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	made := func(e os.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	slices.SortFunc(list, func(a, b os.DirEntry) int { return made(a).Compare(made(b)) })
	for i, e := range list {
		if i >= len(list)-maxKept && now.Sub(made(e)) <= maxAge {
			break
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("remove an old preview: %w", err)
		}
	}
	return nil
}
