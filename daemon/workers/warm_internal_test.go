//go:build linux

package workers

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/testdata/programtest"
)

// PDFium is compiled before a worker gets a PDF, once for all vaults, and not for a picture: a worker would compile it in the time of a page.
func TestStart_compilesBefore(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	calls, worker := filepath.Join(dir, "calls"), filepath.Join(dir, "worker")
	programtest.Write(t, worker, []byte("#!/bin/sh\nprintf '%s ' \"$1\" >>"+calls+"\n[ \"$1\" != -warm ] || sleep 0.1\n"))
	loaded, err := settings.Load(settings.Input{Vault: dir})
	if err != nil {
		t.Fatal(err)
	}
	loaded.Ingestion.Worker = worker
	room, log := NewRoom(loaded), slog.New(slog.DiscardHandler)
	start := func(kinds ...string) {
		w := &Starter{settings: loaded, stateDir: dir, log: log, queue: newQueue(room, slotPatience, log)}
		f, err := os.Open(worker)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for _, kind := range kinds {
			if _, _, err := w.start(t.Context(), f, extract.Open{Kind: kind}); err == nil {
				t.Error("a script is no worker")
			}
		}
	}
	start(extract.KindImage)
	var vaults sync.WaitGroup
	for range 3 {
		vaults.Go(func() { start(extract.KindPDF, extract.KindPDF) })
	}
	vaults.Wait()
	data, err := os.ReadFile(calls)
	said := strings.Fields(string(data))
	if err != nil || len(said) < 8 || said[0] == "-warm" || said[1] != "-warm" || strings.Count(string(data), "-warm") != 1 {
		t.Errorf("the worker was called with %q, %v", said, err)
	}
}
