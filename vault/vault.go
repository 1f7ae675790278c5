// Package vault is the contract of a vault: a folder of Markdown notes that people and programs change at the same time.
// It has the names, facts and errors that everybody shares, the interfaces of reading and changing files, and [Files],
// which asks the gate before each change. Package vault/disk implements the contract on a folder, vault/vaulttest in
// memory; vaulttest.Exercise is the suite that both pass.
//
// A name is a slash path inside the vault. Paths of the operating system stay in vault/disk. Every change is conditional
// on the content that its author has read, and carries a permission of package policy's gate.
package vault

import (
	"context"
	"io"
	"io/fs"
	"time"

	"github.com/vaultflow/vaultflow/policy"
)

// File is what a file of the vault held when it was looked at.
type File struct {
	Name     string
	SHA256   string // empty when the content was not read
	Size     int64  // bytes
	Modified time.Time
}

// Op is what happened to a file.
type Op string

// The operations. A rename is a removal and a creation.
const (
	OpCreate Op = "create"
	OpModify Op = "modify"
	OpRemove Op = "remove"
)

// Change is a visible file outside the import folder whose content changed and then rested. Its digest is of the content
// that was found, so that a writer recognizes its own; a removal has only a name.
type Change struct {
	File
	Op Op
}

// Location is where a link leads.
type Location struct {
	Name      string   // of the file, always one inside the vault; empty when nothing was found
	Ambiguous []string // all files that fit equally well, Name among them; nil when there is one
	Near      []string // files with similar names, most similar first, when nothing was found
	Found     bool
	Longer    bool // other files fit too, with longer names
}

// Links resolves links.
type Links interface {
	// Locate finds the file that a link in the note from means.
	Locate(linkpath, from string) Location
}

// LinksFunc is a function as [Links].
type LinksFunc func(linkpath, from string) Location

// Locate implements [Links].
func (f LinksFunc) Locate(linkpath, from string) Location { return f(linkpath, from) }

// Lister finds the files whose changes are reported: visible ones outside the import folder.
type Lister interface {
	// List returns the files whose names match, without their digests. unread are the folders that could not be read:
	// nothing is known of the files in them.
	List(match func(name string) bool) (files []File, unread []string, err error)
	// Look reads a file, so that size, time and digest belong to the same content. Very large files get no digest. The
	// error matches fs.ErrNotExist when there is no regular file with this name.
	Look(name string) (File, error)
}

// Reader reads files. A name that differs from a file's in case or Unicode form only finds it, when it is the only one.
type Reader interface {
	// Read returns a file's bytes and their SHA-256, which Write takes as its base. A file above limit bytes is a
	// *TooLargeError; limit 0 is none. A missing file matches fs.ErrNotExist, a link out of the vault ErrOutside.
	Read(name string, limit int64) (data []byte, sha256 string, err error)
}

// Writer changes files. Each change needs a pass of the gate for just that change, is made whole or not at all, and
// lasts when the method returns. A change that was made already succeeds quietly. A cancelled ctx changes nothing.
type Writer interface {
	Reader

	// Write puts data into a file that still has the SHA-256 base, or that does not exist when base is empty. Any other
	// file is a *ConflictError. Missing folders are made.
	Write(ctx context.Context, pass policy.Pass, data []byte, base string) error
	// Move renames a file or a folder and never overwrites: a new name that is taken matches fs.ErrExist, unless it is a
	// file with the same bytes; then the old name is removed.
	Move(ctx context.Context, pass policy.Pass) error
	// Remove removes a file that has this SHA-256; one that is gone is no error, one with other bytes a *ConflictError.
	Remove(ctx context.Context, pass policy.Pass, sha256 string) error
}

// Vault is the contract that vault/disk implements. It is safe for concurrent use.
type Vault interface {
	Writer

	// FS is the vault for reading. It refuses names and links that lead out of the vault, with an *OutsideError.
	FS() fs.FS
	// ImportDir is the name of the folder into which people drop files.
	ImportDir() string
	// Drop copies r into the import folder and returns the file's name and SHA-256. Each part of name is made safe. A
	// taken name gets a number, unless that file holds the same bytes: then it is returned.
	Drop(ctx context.Context, pass policy.Pass, r io.Reader, name string) (dropped, sha256 string, err error)
	// Copy makes the new file of the pass from the first size bytes of another file, which must have this SHA-256; otherwise
	// the error is a *ConflictError. A name that is taken matches fs.ErrExist, unless it holds these bytes.
	Copy(ctx context.Context, pass policy.Pass, from, sha256 string, size int64) error
	// Supplant moves a file over a copy of it, so that programs which have the file open continue to write under the copy's name.
	// Unless both have this SHA-256 the error is a *ConflictError.
	Supplant(ctx context.Context, pass policy.Pass, sha256 string) error
	// RemoveEmptyFolders removes the folder dir if it is empty, then those above it, up to the folder of the pass. The import
	// folder stays.
	RemoveEmptyFolders(pass policy.Pass, dir string) error
	// Stage opens a hidden folder in the folder of the pass: new and empty, or as an earlier process with the same id left
	// it. An id is made of letters, digits, - and _.
	Stage(pass policy.Pass, id string) (Bundle, error)
}

// Bundle is a hidden folder that is filled out of sight and appears by one rename, whole or not at all. Names are slash
// paths inside it. It is safe for concurrent use until Publish, Discard or Close, after which only Close and Discard may be called.
type Bundle interface {
	// WriteFile writes a file, over what an earlier attempt left. It lasts when WriteFile returns.
	WriteFile(name string, data []byte) error
	// RemoveFile removes a file that an earlier attempt left. One that is gone is no error.
	RemoveFile(name string) error
	// WriteFiles is WriteFile for several files, by name, which takes less time than one after the other. If a name is wrong, none is
	// written; if something else fails, some may be.
	WriteFiles(files map[string][]byte) error
	// FS is the bundle for reading, as filled so far.
	FS() fs.FS
	// Publish renames the bundle to the name of the pass. When the name is taken, in any spelling, the error matches
	// fs.ErrExist and nothing has changed.
	Publish(pass policy.Pass) error
	// Discard removes the bundle with its files. One that is gone is no error.
	Discard() error
	// Close ends the use of the bundle and of FS. Whoever called Stage must call it, after Publish and Discard too. What is neither
	// published nor discarded stays hidden, for the next Stage.
	Close() error
}
