//go:build linux

package workers

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/testdata/programtest"
)

// PDFium is compiled before a worker gets a PDF, once, and not for a picture: a worker would compile it in the time of a page.
func TestStart_compilesBefore(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	calls, worker := filepath.Join(dir, "calls"), filepath.Join(dir, "worker")
	programtest.Write(t, worker, []byte("#!/bin/sh\nprintf '%s ' \"$1\" >>"+calls+"\n"))
	loaded, err := settings.Load(settings.Input{Vault: dir})
	if err != nil {
		t.Fatal(err)
	}
	loaded.Ingestion.Worker = worker
	w := &Starter{settings: loaded, stateDir: dir, log: slog.New(slog.DiscardHandler)}
	w.queue = newQueue(NewRoom(loaded), slotPatience, w.log)
	w.pool = sandbox.NewPool(w.config)
	f, err := os.Open(worker)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, kind := range []string{extract.KindImage, extract.KindPDF, extract.KindPDF} {
		if _, _, err := w.start(t.Context(), f, extract.Open{Kind: kind}); err == nil {
			t.Fatal("a script is no worker")
		}
	}
	data, err := os.ReadFile(calls)
	said := strings.Fields(string(data))
	if err != nil || len(said) < 4 || said[0] == "-warm" || said[1] != "-warm" || strings.Count(string(data), "-warm") != 1 {
		t.Errorf("the worker was called with %q, %v", said, err)
	}
}
