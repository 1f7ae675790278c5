package ingestion

import (
	"context"
	"io/fs"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// Worker starts worker sessions. The vault file of that name is opened for the worker; the worker itself sees no name. An
// error about the document is an *extract.Error; every other error means that no worker could be started. Start is
// called by several goroutines.
type Worker interface {
	Start(ctx context.Context, name string, o extract.Open) (Session, extract.Document, error)
	// StartFile is Start with an open file of a bundle. It stays the caller's.
	StartFile(ctx context.Context, file fs.File, o extract.Open) (Session, extract.Document, error)
}

// Office brings office files into other formats: LibreOffice, where it is installed.
type Office interface {
	// Convert gives the vault file of that name in another format. from and to are extensions without a dot. An error about
	// the file or about LibreOffice is an *extract.Error, every other one is that of ctx or of the vault.
	Convert(ctx context.Context, name, from, to string) ([]byte, error)
	// Version names LibreOffice for manifests, such as "7.4.7.2"; empty when it does not say.
	Version(ctx context.Context) string
	// MaxPages is the most pages of a file that get pictures.
	MaxPages() int
}

// Session is one worker process with one open document, used by one goroutine at a time. After a time-out or a crash it
// is dead and only Close may be called, which is allowed in any state.
type Session interface {
	Page(ctx context.Context, r extract.PageRequest) (extract.Page, error)
	Close() error
}

// Stager opens hidden folders below a folder of the vault: new and empty, or as an earlier process with the same id left
// them.
type Stager interface {
	Stage(dir, id string) (Bundle, error)
}

// Bundle is a hidden folder that is being filled. Names are slash paths within it. Several goroutines may write
// different files.
type Bundle interface {
	// WriteFile writes a whole file, over what an earlier attempt left. It is durable when WriteFile returns.
	WriteFile(name string, data []byte) error
	// FS is the folder for reading.
	FS() fs.FS
	// Publish gives the folder its name in the vault by one rename. When the name is taken, in any spelling, the error
	// matches fs.ErrExist and nothing has changed.
	Publish(target string) error
	// Discard removes the folder; one that is gone is no error.
	Discard() error
}

// Holder is what files need that are left in the import folder for a while after their import.
type Holder interface {
	// Endless reports whether the format of a file that begins with head does not show where a file ends.
	Endless(head []byte) bool
	// Copy makes a new file of the first size bytes of another, which have the given SHA-256; otherwise the error
	// matches vault.ErrConflict. It never overwrites: when the new name is taken the error matches fs.ErrExist, unless it has these bytes.
	Copy(ctx context.Context, from, to, sha256 string, size int64) error
	// Supplant moves a file over a copy of it. Unless both have the given SHA-256 the error matches vault.ErrConflict.
	Supplant(ctx context.Context, from, to, sha256 string) error
}

// Files are the writes to the vault outside of bundles.
type Files interface {
	// Read gives a file of at most limit bytes and its SHA-256 in lower-case hex.
	Read(name string, limit int64) (data []byte, sha256 string, err error)
	// Write puts data in place of the content with the digest base; an empty base means that the file must not exist.
	// Content that is there already is no error. When the file has other content the error matches vault.ErrConflict.
	Write(ctx context.Context, name string, data []byte, base string) error
	// Move gives a file a new name and makes the folders above. It never overwrites: when the new name is taken, in any
	// spelling, the error matches fs.ErrExist; a new name that holds the same bytes
	// already is no error: then the old name is removed. Repeating a move that succeeded succeeds.
	Move(ctx context.Context, from, to string) error
}
