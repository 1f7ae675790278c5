// Package steptest has a vault and a journal in memory, for tests of what runs do to files. Both can die between any two
// things that they do, as a process does that is killed.
package steptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"sync"
	"testing/fstest"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/vaulttest"
)

// Noon is the time of every test run, a Wednesday.
var Noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// Pixel returns a whole PNG picture of 64 by 64 pixels.
func Pixel() string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 64, 64))); err != nil {
		panic(err) // a buffer takes every write
	}
	return b.String()
}

// ErrKilled is returned by everything that a dead process would do.
var ErrKilled = errors.New("killed")

// Fuse kills a process at one of the things that it does.
type Fuse struct {
	Steps   int    // things done
	Dies    int    // at this one, counted from 1; 0 never
	After   bool   // behind it, else before it
	Dead    bool   // nothing is done any more
	Between func() // somebody else, at the moment of death
}

// Do counts one thing that is done: do is carried out unless the process is dead by then.
func (f *Fuse) Do(do func() error) error {
	f.Steps++
	if f.Dead || f.Steps == f.Dies && !f.After {
		f.Die()
		return ErrKilled
	}
	err := do()
	if f.Steps == f.Dies {
		f.Die()
		return ErrKilled
	}
	return err
}

// Die kills the process.
func (f *Fuse) Die() {
	if !f.Dead && f.Between != nil {
		f.Between()
	}
	f.Dead = true
}

// Vault is a vault in memory.
type Vault struct {
	*vaulttest.Memory
	Files fstest.MapFS // that it holds
}

// NewVault returns a vault that holds these texts.
func NewVault(texts map[string]string) *Vault {
	v := &Vault{Files: fstest.MapFS{}}
	v.Memory = vaulttest.New(v.Files)
	v.Now = func() time.Time { return Noon }
	for name, text := range texts {
		v.Put(name, text)
	}
	return v
}

// Mortal is the vault to a process that may die.
func (v *Vault) Mortal(f *Fuse) vault.Vault {
	return vaulttest.Intercept(v, func(_ string, do func() error) error { return f.Do(do) })
}

// DigestOf returns the digest of a file, "" when there is none.
func (v *Vault) DigestOf(name string) string {
	if f, ok := v.Files[name]; ok {
		return vault.Digest(f.Data)
	}
	return ""
}

// Intent is a recorded change.
type Intent struct {
	Change engine.Change
	Said   string
	Made   bool
}

// Journal keeps blobs, and the record of what runs do to files, in memory.
type Journal struct {
	Fuse    *Fuse
	Intents map[string]Intent // by CallKey
	Writes  map[string]bool   // by workflow, name and digest, divided by blanks

	written map[string][]engine.Change // those that were made, by name
	about   map[string]string          // what files are about, by workflow and name

	mu    sync.Mutex
	blobs map[string][]byte // guarded by mu
}

var (
	_ change.Blobs  = (*Journal)(nil)
	_ change.Record = (*Journal)(nil)
	_ change.Own    = (*Journal)(nil)
)

// NewJournal returns an empty journal.
func NewJournal(f *Fuse) *Journal {
	return &Journal{Fuse: f, Intents: map[string]Intent{}, Writes: map[string]bool{}, written: map[string][]engine.Change{}, about: map[string]string{}, blobs: map[string][]byte{}}
}

// Put implements change.Blobs.
func (j *Journal) Put(_ context.Context, data []byte) (digest string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	digest = vault.Digest(data)
	return digest, j.Fuse.Do(func() error { j.blobs[digest] = slices.Clone(data); return nil })
}

// Get implements change.Blobs.
func (j *Journal) Get(_ context.Context, digest string) ([]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	data, ok := j.blobs[digest]
	if !ok {
		return nil, engine.ErrNotFound
	}
	return data, nil
}

// Forget removes a blob.
func (j *Journal) Forget(digest string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.blobs, digest)
}

// Writing implements change.Own.
func (j *Journal) Writing(_ context.Context, ref engine.StepRef, files []engine.StagedFile) error {
	return j.Fuse.Do(func() error {
		for _, f := range files {
			j.Writes[ref.Workflow+" "+f.Name+" "+f.New] = true
			if f.About != "" {
				j.about[ref.Workflow+" "+f.Name] = f.About
			}
		}
		return nil
	})
}

// OwnWrite reports whether Writing was told of a content.
func (j *Journal) OwnWrite(_ context.Context, workflow, name, sha256 string) (bool, error) {
	return j.Writes[workflow+" "+name+" "+sha256], nil
}

// Moved implements change.Own. Nothing is about what moves.
func (j *Journal) Moved(context.Context, string, string) error { return nil }

// Linked implements change.Own. Nothing is known of files.
func (j *Journal) Linked(context.Context, string, string, string) error { return nil }

// WrittenBy implements change.Own.
func (j *Journal) WrittenBy(_ context.Context, name, sha256 string) ([]string, error) {
	var list []string
	for key := range j.Writes {
		if workflow, ok := strings.CutSuffix(key, " "+name+" "+sha256); ok {
			list = append(list, workflow)
		}
	}
	slices.Sort(list)
	return list, nil
}

// About returns what a file was last said to be about.
func (j *Journal) About(_ context.Context, workflow, name string) (string, error) {
	return j.about[workflow+" "+name], nil
}

// EverWrote reports whether Writing was told of any content of a file.
func (j *Journal) EverWrote(_ context.Context, workflow, name string) (bool, error) {
	for key := range j.Writes {
		if strings.HasPrefix(key, workflow+" "+name+" ") {
			return true, nil
		}
	}
	return false, nil
}

// CallKey is the key of a call's intent.
func CallKey(ref engine.StepRef, call string) string {
	return fmt.Sprint(ref.Run, ref.Index, ref.Batch, call)
}

// Intended implements change.Record.
func (j *Journal) Intended(_ context.Context, ref engine.StepRef, call string) (engine.Change, string, bool, error) {
	i, ok := j.Intents[CallKey(ref, call)]
	if !ok {
		return engine.Change{}, "", false, engine.ErrNotFound
	}
	return i.Change, i.Said, i.Made, nil
}

// Latest implements change.Record.
func (j *Journal) Latest(ctx context.Context, ref engine.StepRef, call string) (engine.Change, bool, error) {
	c, _, made, err := j.Intended(ctx, ref, call)
	return c, made, err
}

// Intend implements change.Record.
func (j *Journal) Intend(_ context.Context, ref engine.StepRef, call string, c engine.Change, said string, _ time.Time) error {
	return j.Fuse.Do(func() error { j.Intents[CallKey(ref, call)] = Intent{c, said, false}; return nil })
}

// Made implements change.Record.
func (j *Journal) Made(_ context.Context, ref engine.StepRef, call string, made bool) error {
	return j.Fuse.Do(func() error {
		key := CallKey(ref, call)
		i := j.Intents[key]
		if i.Made = made; !made {
			delete(j.Intents, key)
			return nil
		}
		j.Intents[key], j.written[i.Change.Name] = i, append(j.written[i.Change.Name], i.Change)
		return nil
	})
}
