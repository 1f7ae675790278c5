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
