package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// piece is a part of a file that is written at once, after a pause.
type piece struct {
	bytes int64
	pause time.Duration
}

// plan is how a file is written slowly. It depends on the file's bytes alone, so that a run can be repeated.
type plan struct {
	pieces []piece
	reopen bool // the file is closed before each pause and opened again to append, as scripts do with >>
}

// shortest is well below vault.hold_period: a program that closes a file and comes back later makes a new file, and nothing
// distinguishes it from another one (docs/ingestion.md).
const shortest = 12 * time.Second

// appended are the kinds of files that programs append to by name. They do not show where they end.
var appended = []string{"txt", "log", "csv", "tsv", "html", "htm", "xml", "eml", "mbox", "mp3", "md", "json", "vtt", "none"}

// planOf cuts a file into two to five pieces. Most pauses are short, one may be as long as longest.
func planOf(f source, size int64, longest time.Duration) plan {
	var seed [32]byte
	if _, err := hex.Decode(seed[:], []byte(f.sha256)); err != nil {
		panic(err) // it is a digest
	}
	random := rand.New(rand.NewChaCha8(seed)) //nolint:gosec // a run has to be repeatable
	p := plan{reopen: slices.Contains(appended, f.kind) && random.IntN(2) == 0}
	if p.reopen {
		longest = min(longest, shortest)
	}
	cuts := []int64{0, size}
	for range 1 + random.IntN(4) {
		cuts = append(cuts, random.Int64N(size+1))
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	long := random.IntN(len(cuts))
	for i := 1; i < len(cuts); i++ {
		pause := time.Duration(random.Int64N(int64(longest)/8 + 1))
		if i == long {
			pause = longest/2 + time.Duration(random.Int64N(int64(longest)/2+1))
		}
		p.pieces = append(p.pieces, piece{cuts[i] - cuts[i-1], pause})
	}
	return p
}

// write writes a file by its plan.
func (p plan) write(ctx context.Context, from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	var out *os.File
	defer func() {
		if out != nil {
			err = errors.Join(err, out.Close())
		}
	}()
	for i, piece := range p.pieces {
		if out == nil {
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { // vaultflow may have removed it with the file
				return err
			}
			if out, err = os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
				return err
			}
		}
		if i > 0 || !p.reopen { // a file that is opened first and filled later is empty for a while
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(piece.pause):
			}
		}
		if _, err := io.CopyN(out, in, piece.bytes); err != nil {
			return err
		}
		if p.reopen && i < len(p.pieces)-1 {
			err, out = out.Close(), nil
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// drop brings the files of a batch into the vault: most of them at once and whole, the slow ones by writers that all work at the same time.
// The result waits for the writers.
func (s *site) drop(ctx context.Context, name string, files []source) (func() error, error) {
	var writers sync.WaitGroup
	var lock sync.Mutex
	var failed error
	for i, f := range files {
		to := filepath.Join(s.vault, inVault(name, i, f))
		if err := inbox(filepath.Dir(to), ""); err != nil {
			return nil, err
		}
		if !f.slow {
			if err := place(f.path, filepath.Join(s.scratch, "arriving"), to); err != nil {
				return nil, err
			}
			continue
		}
		info, err := os.Stat(f.path)
		if err != nil {
			return nil, err
		}
		writers.Go(func() {
			if err := planOf(f, info.Size(), s.o.pause).write(ctx, f.path, to); err != nil {
				lock.Lock()
				failed = errors.Join(failed, fmt.Errorf("write %s: %w", f.name, err))
				lock.Unlock()
			}
		})
	}
	return func() error { writers.Wait(); return failed }, nil
}

// recognised is the folder of a batch whose files are read with text recognition, when the others are not.
const recognised = "ocr"

// inboxes makes the folders of a batch.
func (s *site) inboxes(name string) error {
	dir := filepath.Join(s.vault, "Import", name)
	if err := inbox(dir, ""); err != nil || s.o.ocr == 0 {
		return err
	}
	return inbox(filepath.Join(dir, recognised), "strategies: [pdf_text, pdf_ocr, image_ocr, image_copy]\n")
}

// inbox makes a folder into which people drop one file after another. A folder without settings that holds notes is one import.
func inbox(dir, settings string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "_import.yaml"), []byte(settings), 0o600)
}

// isSettings says whether a file of the import folder is one of ours that stays there.
func isSettings(path string) bool { return strings.HasSuffix(path, "_import.yaml") }
