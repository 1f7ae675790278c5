// Package vaulttest has what tests need of a vault: one in memory, one whose changes can be interrupted, and [Exercise],
// the suite that every implementation of vault.Vault passes.
package vaulttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing/fstest"
	"time"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// ImportDir is the import folder of a [Memory].
const ImportDir = "Import"

// Memory is a vault in memory. It keeps the contract of vault.Vault but for links, which it has none of. Folders stay
// when their last file goes, as on a disk.
type Memory struct {
	Now func() time.Time // times of new files; nil: all have the zero time

	mu    sync.Mutex
	files fstest.MapFS // guarded by mu
	open  int          // bundles; guarded by mu
	looks int          // at names below FS; guarded by mu
}

var (
	_ vault.Vault  = (*Memory)(nil)
	_ vault.Lister = (*Memory)(nil)
	_ vault.Bundle = (*bundle)(nil)
)

// New returns a vault with these files. A test may look at them and change them while nothing else uses the vault.
func New(files fstest.MapFS) *Memory { return &Memory{files: files} }

// With returns a vault with these texts.
func With(texts map[string]string) *Memory {
	m := New(fstest.MapFS{})
	for name, text := range texts {
		m.Put(name, text)
	}
	return m
}

// Put writes a file as a person does, over whatever is there.
func (m *Memory) Put(name, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(name, []byte(text))
}

// Delete removes a file, or a folder with all that is in it, as a person does.
func (m *Memory) Delete(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.remove(name)
}

// Rename gives a file or a folder a new name, as a person does.
func (m *Memory) Rename(from, to string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rename(from, to)
}

// Text returns a file's text, "" when there is none.
func (m *Memory) Text(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.files[name]; f != nil {
		return string(f.Data)
	}
	return ""
}

// Texts returns all files, hidden ones too.
func (m *Memory) Texts() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	texts := map[string]string{}
	for name, f := range m.files {
		if !f.Mode.IsDir() {
			texts[name] = string(f.Data)
		}
	}
	return texts
}

func (m *Memory) set(name string, data []byte) {
	f := &fstest.MapFile{Data: slices.Clone(data), Mode: 0o644}
	if m.Now != nil {
		f.ModTime = m.Now()
	}
	m.keep(path.Dir(name))
	m.files[name] = f
}

// keep gives a folder and those above it entries of their own, so that they stay without files.
func (m *Memory) keep(dir string) {
	for ; dir != "."; dir = path.Dir(dir) {
		if m.files[dir] == nil {
			m.files[dir] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
		}
	}
}

// remove removes a file, or a folder with all that is in it. The folder above stays.
func (m *Memory) remove(dir string) {
	m.keep(path.Dir(dir))
	maps.DeleteFunc(m.files, func(name string, _ *fstest.MapFile) bool { return vault.Within(name, dir) })
}

// rename moves a file, or a folder with all that is in it.
func (m *Memory) rename(from, to string) {
	m.keep(path.Dir(from))
	m.keep(path.Dir(to))
	for name, f := range maps.Clone(m.files) {
		if vault.Within(name, from) {
			delete(m.files, name)
			m.files[to+strings.TrimPrefix(name, from)] = f
		}
	}
}

// FS implements vault.Vault.
func (m *Memory) FS() fs.FS { return view{m, "."} }

// ImportDir implements vault.Vault.
func (m *Memory) ImportDir() string { return ImportDir }

// Read implements vault.Reader.
func (m *Memory) Read(name string, limit int64) (data []byte, sha256 string, err error) {
	if err := vault.CheckInside(name); err != nil {
		return nil, "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name = m.actual(name)
	data, err = m.files.ReadFile(name)
	if err != nil {
		return nil, "", err
	}
	if size := int64(len(data)); limit > 0 && size > limit {
		return nil, "", &vault.TooLargeError{Name: name, Size: size, Limit: limit}
	}
	return data, vault.Digest(data), nil
}

// List implements vault.Lister.
func (m *Memory) List(match func(name string) bool) (files []vault.File, unread []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		f := m.files[name]
		if f.Mode.IsDir() || vault.CheckName(name) != nil || vault.Within(vault.Fold(name), vault.Fold(ImportDir)) || !match(name) {
			continue
		}
		files = append(files, vault.File{Name: name, Size: int64(len(f.Data)), Modified: f.ModTime})
	}
	return files, nil, nil
}

// Look implements vault.Lister.
func (m *Memory) Look(name string) (vault.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.files[name]
	if f == nil || f.Mode.IsDir() {
		return vault.File{}, &fs.PathError{Op: "look", Path: name, Err: fs.ErrNotExist}
	}
	return vault.File{Name: name, SHA256: vault.Digest(f.Data), Size: int64(len(f.Data)), Modified: f.ModTime}, nil
}

// Write implements vault.Writer.
func (m *Memory) Write(ctx context.Context, pass policy.Pass, data []byte, base string) error {
	name, err := pass.Of(policy.Create, policy.Change)
	if err != nil {
		return err
	}
	if pass.Action() == policy.Create && base != "" {
		return fmt.Errorf("write %q: the permission is for a new file: %w", name, fs.ErrExist)
	}
	if err := vault.CheckName(name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name = m.actual(name)
	have, err := m.digest(name)
	if err != nil {
		return err
	}
	switch {
	case have == vault.Digest(data):
		return nil
	case have != base:
		return &vault.ConflictError{Name: name, Want: base, Have: have}
	}
	if have == "" {
		if err := m.creatable(name); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.set(name, data)
	return nil
}

// Move implements vault.Writer.
func (m *Memory) Move(ctx context.Context, pass policy.Pass) error {
	from, err := pass.Of(policy.Move)
	if err != nil {
		return err
	}
	to := pass.To()
	if err := errors.Join(vault.CheckName(from), vault.ValidName(to), ctx.Err()); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	from, to = m.actual(from), m.actual(to)
	source, target := m.kind(from), m.kind(to)
	switch {
	case from == to:
		if name := path.Join(path.Dir(from), path.Base(pass.To())); name != from {
			m.rename(from, name)
		}
		return nil
	case source == nothing && target == nothing:
		return fmt.Errorf("move %q to %q: %w", from, to, fs.ErrNotExist)
	case source == nothing:
		return nil // an earlier call got this far
	case source == isFile && target == isFile && string(m.files[from].Data) == string(m.files[to].Data):
		m.remove(from)
		return nil
	case target != nothing:
		return fmt.Errorf("move %q to %q: %w", from, to, fs.ErrExist)
	case source == isFolder && vault.Within(to, from):
		return fmt.Errorf("move %q to %q: a folder cannot be moved into itself: %w", from, to, fs.ErrInvalid)
	}
	if err := m.creatable(to); err != nil {
		return err
	}
	m.rename(from, to)
	return nil
}

// Remove implements vault.Writer.
func (m *Memory) Remove(ctx context.Context, pass policy.Pass, sha256 string) error {
	name, err := pass.Of(policy.Delete)
	if err != nil {
		return err
	}
	if err := errors.Join(vault.CheckName(name), ctx.Err()); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name = m.actual(name)
	have, err := m.digest(name)
	if err != nil || have == "" {
		return err
	}
	if have != sha256 {
		return &vault.ConflictError{Name: name, Want: sha256, Have: have}
	}
	m.remove(name)
	return nil
}

// Drop implements vault.Vault.
func (m *Memory) Drop(ctx context.Context, pass policy.Pass, r io.Reader, name string) (dropped, sha256 string, err error) {
	if dir, err := pass.Of(policy.Fill); err != nil || dir != ImportDir {
		return "", "", errors.Join(fmt.Errorf("import %q: there is no permission for this", name), err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return "", "", err
	}
	if err := ctx.Err(); err != nil {
		return "", "", err
	}
	target := ImportDir
	for part := range strings.SplitSeq(strings.Trim(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/"), "/") {
		target += "/" + vault.SafeName(part, 0)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := vault.Digest(data)
	for n := 1; ; n++ {
		candidate := m.actual(vault.Numbered(target, n))
		switch have, err := m.digest(candidate); {
		case err != nil, have != "" && have != sum:
			continue
		case have == "":
			m.set(candidate, data)
		}
		return candidate, sum, nil
	}
}

// Copy implements vault.Vault.
func (m *Memory) Copy(ctx context.Context, pass policy.Pass, from, sha256 string, size int64) error {
	to, err := pass.Of(policy.Create)
	if err != nil {
		return err
	}
	if err := errors.Join(vault.CheckName(from), vault.ValidName(to), ctx.Err()); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	from, to = m.actual(from), m.actual(to)
	switch have, err := m.digest(to); {
	case err != nil, have != "" && have != sha256:
		return fmt.Errorf("copy %q to %q: %w", from, to, errors.Join(fs.ErrExist, err))
	case have != "":
		return nil
	}
	data, err := m.files.ReadFile(from)
	if err != nil {
		return err
	}
	data = data[:min(size, int64(len(data)))]
	if have := vault.Digest(data); have != sha256 {
		return &vault.ConflictError{Name: from, Want: sha256, Have: have}
	}
	m.set(to, data)
	return nil
}

// Supplant implements vault.Vault.
func (m *Memory) Supplant(ctx context.Context, pass policy.Pass, sha256 string) error {
	from, err := pass.Of(policy.Move)
	if err != nil {
		return err
	}
	if err := errors.Join(vault.CheckName(from), vault.CheckName(pass.To()), ctx.Err()); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	from, to := m.actual(from), m.actual(pass.To())
	for _, name := range []string{to, from} {
		have, err := m.digest(name)
		if err != nil {
			return err
		}
		if have != sha256 {
			return &vault.ConflictError{Name: name, Want: sha256, Have: have}
		}
	}
	m.rename(from, to)
	return nil
}

// RemoveEmptyFolders implements vault.Vault.
func (m *Memory) RemoveEmptyFolders(pass policy.Pass, dir string) error {
	top, err := pass.Of(policy.Tidy)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for ; dir != ImportDir && vault.Within(dir, top); dir = path.Dir(dir) {
		if entries, err := m.files.ReadDir(dir); err == nil && len(entries) > 0 {
			return nil
		}
		m.remove(dir)
	}
	return nil
}

// Stage implements vault.Vault.
func (m *Memory) Stage(pass policy.Pass, id string) (vault.Bundle, error) {
	dir, err := pass.Of(policy.Fill)
	if err != nil {
		return nil, err
	}
	if id == "" || strings.ContainsFunc(id, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", r)
	}) {
		return nil, &vault.NameError{Name: id, Reason: "an id is made of letters, digits, - and _"}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b := &bundle{m: m, dir: path.Join(m.actual(dir), ".vaultflow-"+id)}
	m.keep(b.dir)
	m.open++
	return b, nil
}

// bundle is a folder that is being filled.
type bundle struct {
	m     *Memory
	dir   string
	close sync.Once
}

// Used returns how often a file or folder was opened, read, listed or described through FS, that of bundles included, and how many bundles
// were staged and not closed.
func (m *Memory) Used() (looks, open int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.looks, m.open
}

// WriteFile implements vault.Bundle.
func (b *bundle) WriteFile(name string, data []byte) error {
	if err := vault.ValidName(name); err != nil {
		return err
	}
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	if b.m.files[b.dir] == nil {
		return fmt.Errorf("the bundle was published or discarded: %w", fs.ErrNotExist)
	}
	b.m.set(path.Join(b.dir, name), data)
	return nil
}

// RemoveFile implements vault.Bundle.
func (b *bundle) RemoveFile(name string) error {
	if err := vault.ValidName(name); err != nil {
		return err
	}
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	if b.m.files[b.dir] == nil {
		return fmt.Errorf("the bundle was published or discarded: %w", fs.ErrNotExist)
	}
	b.m.remove(path.Join(b.dir, name))
	return nil
}

// WriteFiles implements vault.Bundle.
func (b *bundle) WriteFiles(files map[string][]byte) error {
	for name := range files {
		if err := vault.ValidName(name); err != nil {
			return err
		}
	}
	for name, data := range files {
		if err := b.WriteFile(name, data); err != nil {
			return err
		}
	}
	return nil
}

// FS implements vault.Bundle.
func (b *bundle) FS() fs.FS { return view{b.m, b.dir} }

// Publish implements vault.Bundle.
func (b *bundle) Publish(pass policy.Pass) error {
	target, err := pass.Of(policy.Publish)
	if err != nil {
		return err
	}
	if err := vault.ValidName(target); err != nil {
		return err
	}
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	target = b.m.actual(target)
	if b.m.kind(target) != nothing {
		return fmt.Errorf("publish bundle as %q: %w", target, fs.ErrExist)
	}
	if b.m.kind(b.dir) == nothing {
		return fmt.Errorf("publish bundle as %q: %w", target, fs.ErrNotExist)
	}
	b.m.rename(b.dir, target)
	return nil
}

// Close implements vault.Bundle.
func (b *bundle) Close() error {
	b.close.Do(func() {
		b.m.mu.Lock()
		defer b.m.mu.Unlock()
		b.m.open--
	})
	return nil
}

// Discard implements vault.Bundle.
func (b *bundle) Discard() error {
	b.m.mu.Lock()
	defer b.m.mu.Unlock()
	b.m.remove(b.dir)
	return nil
}

// What a name stands for.
const (
	nothing = iota
	isFile
	isFolder
)

func (m *Memory) kind(name string) int {
	info, err := m.files.Stat(name)
	switch {
	case err != nil:
		return nothing
	case info.IsDir():
		return isFolder
	}
	return isFile
}

// digest is that of a file, empty when there is none.
func (m *Memory) digest(name string) (string, error) {
	switch m.kind(name) {
	case nothing:
		return "", nil
	case isFolder:
		return "", fmt.Errorf("write %q: this is a folder, not a file", name)
	}
	return vault.Digest(m.files[name].Data), nil
}

// creatable checks the parts of a new name that do not exist yet.
func (m *Memory) creatable(name string) error {
	for ; name != "." && m.kind(name) == nothing; name = path.Dir(name) {
		if reason := vault.PartFault(path.Base(name)); reason != "" {
			return &vault.NameError{Name: name, Reason: reason}
		}
	}
	if m.kind(name) == isFile {
		return fmt.Errorf("make folder %q: a file has this name", name)
	}
	return nil
}

// actual is a name as it is spelled in the vault.
func (m *Memory) actual(name string) string {
	if m.kind(name) != nothing {
		return name
	}
	found := "."
	parts := strings.Split(name, "/")
	for i, part := range parts {
		next := m.twin(found, part)
		if next == "" {
			return path.Join(found, path.Join(parts[i:]...))
		}
		found = next
	}
	return found
}

// twin is the entry of a folder with this name, or the only one that differs in case or Unicode form alone.
func (m *Memory) twin(dir, part string) string {
	entries, err := m.files.ReadDir(dir)
	if err != nil {
		return ""
	}
	var found []string
	for _, e := range entries {
		if e.Name() == part {
			return path.Join(dir, part)
		}
		if vault.Fold(e.Name()) == vault.Fold(part) {
			found = append(found, path.Join(dir, e.Name()))
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// view is a folder of the vault for reading.
type view struct {
	m   *Memory
	dir string
}

var (
	_ fs.ReadDirFS  = view{}
	_ fs.StatFS     = view{}
	_ fs.ReadFileFS = view{}
)

// in reads below the view's folder.
func in[T any](v view, name string, read func(full string) (T, error)) (T, error) {
	if err := vault.CheckInside(name); err != nil {
		var none T
		return none, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	v.m.mu.Lock()
	defer v.m.mu.Unlock()
	v.m.looks++
	return read(path.Join(v.dir, name))
}

// Open implements fs.FS.
func (v view) Open(name string) (fs.File, error) { return in(v, name, v.m.files.Open) }

// ReadDir implements fs.ReadDirFS.
func (v view) ReadDir(name string) ([]fs.DirEntry, error) { return in(v, name, v.m.files.ReadDir) }

// Stat implements fs.StatFS.
func (v view) Stat(name string) (fs.FileInfo, error) { return in(v, name, v.m.files.Stat) }

// ReadFile implements fs.ReadFileFS.
func (v view) ReadFile(name string) ([]byte, error) { return in(v, name, v.m.files.ReadFile) }
