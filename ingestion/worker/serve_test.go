package worker

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

func TestDocumentBytes_boundsTheFile(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(maxDocument + 1); err != nil {
		t.Skipf("no file of that size here: %v", err)
	}
	ours, theirs, err := extract.Handover()
	if err != nil {
		t.Skip(err)
	}
	defer ours.Close()
	if err := extract.Hand(ours, f); err != nil {
		t.Fatal(err)
	}
	answer, doc := Server{FD: theirs.Fd()}.open(extract.Open{Kind: extract.KindPDF})
	if e, ok := answer.(*extract.Error); !ok || e.Code != failure.TooLarge || doc != nil {
		t.Errorf("got %v, want %s", answer, failure.TooLarge)
	}
}
