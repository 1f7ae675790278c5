package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// batch drops files, waits for their imports to end and checks each result. After an error no further batch makes sense.
func (s *site) batch(ctx context.Context, name string, files []source, r *report) error {
	s.memory.reset()
	if err := s.inboxes(name); err != nil {
		return err
	}
	written, err := s.drop(ctx, name, files)
	if err != nil {
		return err
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		if s.o.kill {
			s.kills(ctx, stop, r)
		}
	}()
	failed := written()
	imports, err := s.wait(ctx, name, files)
	close(stop)
	<-stopped
	if s.o.kill && err == nil {
		if err = s.again(ctx, name, files, r); err == nil {
			imports, err = s.wait(ctx, name, files)
		}
	}
	if err := errors.Join(failed, err); err != nil {
		r.problem("", "batch %s: %v", name, err)
	}
	s.results(ctx, name, files, imports, r)
	if !s.alive() {
		r.problem("", "the daemon died in batch %s: %v", name, s.cmd.ProcessState)
		return fmt.Errorf("the daemon is gone")
	}
	return errors.Join(failed, err)
}

// results checks what became of each file of a batch, and what is left of it.
func (s *site) results(ctx context.Context, name string, files []source, imports []engine.ImportRecord, r *report) {
	peak := s.memory.reset() >> 20
	bundles := map[string]string{}
	for i, f := range files {
		record := s.recordOf(imports, inVault(name, i, f), f)
		result := result{source: f, ImportRecord: record, peak: peak, counts: counts(ctx, r.counters, f)}
		s.check(r, &result)
		r.results = append(r.results, result)
		if record.Bundle != "" && (record.State == engine.ImportDone || record.State == engine.ImportPartial) {
			if other, taken := bundles[record.Bundle]; taken {
				r.problem(f.name, "its bundle %q is that of %s too", record.Bundle, other)
			}
			bundles[record.Bundle] = f.name
		}
	}
	if peak > s.o.workerMiB {
		r.problem("", "batch %s (%s to %s): a worker had %d MiB resident, the limit is %d", name, files[0].name, files[len(files)-1].name, peak, s.o.workerMiB)
	}
	for _, dir := range []string{"Import/" + name, "Imported/" + name} {
		s.strays(r, dir)
	}
	s.spare(r, name, imports)
}

// recordOf is the last import of a file. A file whose name no vault can hold was renamed, and is found by its bytes.
func (s *site) recordOf(imports []engine.ImportRecord, at string, f source) engine.ImportRecord {
	if record, ok := newest(imports, at); ok {
		return record
	}
	i := slices.IndexFunc(imports, func(r engine.ImportRecord) bool { return r.SHA256 == f.sha256 })
	if i < 0 {
		return engine.ImportRecord{}
	}
	return imports[i]
}

// settle is how long a file may wait for its last version after all imports have ended: a pause of its writer, and the period for which
// an original is held.
const settle = 2 * time.Minute

// wait polls until every file has an import and every import of the batch has ended, including those of archive members, and the
// last version of each slow file is there and put away.
func (s *site) wait(ctx context.Context, name string, files []source) ([]engine.ImportRecord, error) {
	last, changed := "", time.Now()
	var imports []engine.ImportRecord
	for {
		now, failed := s.imports(ctx, name)
		if failed == nil { // otherwise the machine may be busy: what was seen before holds until the next look
			imports = now
		}
		ended, pages, open := 0, 0, 0
		for _, r := range imports {
			if r.State.Finished() && !r.Held {
				ended++
			}
			pages += r.Page
		}
		for i, f := range files {
			if sum := s.recordOf(imports, inVault(name, i, f), f).SHA256; sum != f.sha256 && (f.slow || sum != "") {
				open++
			}
		}
		if shown := fmt.Sprint(ended, len(imports), pages, open); shown != last {
			last, changed = shown, time.Now()
		}
		idle := time.Since(changed)
		switch {
		case ended == len(imports) && ended >= len(files) && (open == 0 || idle > settle || s.o.slow == 0):
			return imports, nil
		case !s.alive():
			return imports, fmt.Errorf("the daemon died")
		case idle > s.o.stuck:
			return imports, errors.Join(fmt.Errorf("%d of %d files have ended, and nothing has happened for %s", ended, len(files), s.o.stuck), failed)
		}
		select {
		case <-ctx.Done():
			return imports, ctx.Err()
		case <-time.After(300*time.Millisecond + time.Duration(len(files))*2*time.Millisecond):
		}
	}
}

// check checks the result of one file.
func (s *site) check(r *report, f *result) {
	if took := f.took(); took > s.o.time {
		r.problem(f.name, "took %s, the limit is %s", took.Round(time.Second), s.o.time)
	}
	if f.SHA256 != "" && f.SHA256 != f.sha256 {
		r.Half++
		r.problem(f.name, "HALF: its last version is of other bytes (%d, state %s)", f.Size, f.State)
	}
	kept := f.Filed
	switch f.State {
	case engine.ImportDone, engine.ImportPartial:
		kept = s.bundle(r, f)
	case engine.ImportFailed, engine.ImportNeedsPassword:
		if f.Code == "" && f.State == engine.ImportFailed || f.Error == "" || f.Hint == "" {
			r.problem(f.name, "%s without a reason: code %q, error %q, hint %q", f.State, f.Code, f.Error, f.Hint)
		}
		if f.Bundle != "" {
			r.problem(f.name, "%s, and has a bundle: %s", f.State, f.Bundle)
		}
		if note, err := os.ReadFile(s.path(f.Filed + ".failed.md")); err != nil || len(note) == 0 {
			r.problem(f.name, "%s, and no note says why: %v", f.State, err)
		}
	case engine.ImportDuplicate:
		if _, err := os.Stat(s.path(f.Bundle + "/manifest.json")); err != nil {
			r.problem(f.name, "the duplicate's bundle: %v", err)
		}
	default:
		r.problem(f.name, "did not end: state %q, page %d of %d, %s", f.State, f.Page, f.Pages, f.Error)
	}
	if sum, err := digest(s.path(kept)); kept != "" && err == nil && sum == f.sha256 {
		return
	}
	elsewhere, err := find(s.vault, f.sha256)
	if elsewhere == "" {
		r.Lost++
		r.problem(f.name, "LOST: its bytes are nowhere in the vault; the import says %q (%v)", kept, err)
	} else if f.State.Finished() {
		r.problem(f.name, "its bytes are in %s, the import says %q", elsewhere, kept)
	}
}

// quality checks that a page below the quality that was asked for is told of, and that kills change no page.
func (s *site) quality(r *report, f *result, m manifest.Manifest) {
	for _, p := range m.Pages {
		if p.Lacks != "" && (f.State == engine.ImportDone || !slices.Contains(f.Lacking, p.N)) {
			r.WrongQuality++
			r.problem(f.name, "page %d is below its quality (%s), the import is %s and lists %v", p.N, p.Lacks, f.State, f.Lacking)
		}
	}
	for _, p := range m.Pages {
		if p.OCR != nil && p.OCR.Decided && p.OCR.Error != "" && f.State == engine.ImportDone {
			r.WrongQuality++
			r.problem(f.name, "the text of page %d was not recognised (%s), and the import is done", p.N, p.OCR.Error)
		}
	}
	now := s.outcomeOf(f, m)
	if r.outcomes != nil {
		r.outcomes[f.sha256] = now
	}
	s.compare(r, f, now)
}

func (s *site) path(name string) string { return filepath.Join(s.vault, filepath.FromSlash(name)) }

// bundle checks the bundle of a finished import, and returns the name of the original in it.
func (s *site) bundle(r *report, f *result) string {
	data, err := os.ReadFile(s.path(f.Bundle + "/manifest.json"))
	var m manifest.Manifest
	if err == nil {
		m, err = manifest.Parse(data)
	}
	if err != nil {
		r.problem(f.name, "its bundle: %v", err)
		return ""
	}
	s.quality(r, f, m)
	if m.Source.SHA256 != f.sha256 || m.Import.ID != f.ID || len(m.Pages) != f.Pages {
		r.problem(f.name, "the manifest tells of %s with %d pages, import %s; the import of %d pages, %s", m.Source.SHA256, len(m.Pages), m.Import.ID, f.Pages, f.ID)
	}
	want := []string{m.NoteName()}
	for i, p := range m.Pages {
		if p.N != i+1 {
			r.problem(f.name, "page %d of the manifest says it is page %d", i+1, p.N)
		}
		if p.Image != nil {
			want = append(want, p.Image.Path)
		}
		if said := p.Error + doubt.Words(p.Doubts); strings.Contains(said, doubt.NoLayout) || strings.Contains(said, "panic: ") {
			r.problem(f.name, "page %d met a defect: %s", p.N, said)
		}
		if p.Text != nil && p.Text.Path != "" {
			want = append(want, p.Text.Path)
		}
		if p.Status == manifest.PageFailed {
			f.failedPages++
			r.pageErrors = append(r.pageErrors, p.Error)
		}
	}
	for _, name := range want {
		if info, err := os.Stat(s.path(f.Bundle + "/" + name)); err != nil || info.Size() == 0 {
			r.problem(f.name, "%s of its bundle is missing or empty: %v", name, err)
		}
	}
	if f.counts != nil && !slices.ContainsFunc(f.counts, func(c count) bool { return c.pages == f.Pages }) {
		f.miscounted = true
		r.problem(f.name, "%d pages; other programs count %v", f.Pages, f.counts)
	}
	return f.Bundle + "/" + m.Source.Name
}

// spare reports bundles that belong to no import, and files that were left in the import folder.
func (s *site) spare(r *report, name string, imports []engine.ImportRecord) {
	known := map[string]bool{}
	for _, record := range imports {
		known[record.ID] = true
	}
	err := filepath.WalkDir(s.path("Imported/"+name), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "manifest.json" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if m, err := manifest.Parse(data); err != nil || !known[m.Import.ID] {
			r.problem("", "no import of batch %s made the bundle of %s (%v)", name, path, err)
		}
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		r.problem("", "look for bundles: %v", err)
	}
	err = filepath.WalkDir(s.path("Import/"+name), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !isSettings(path) {
			r.problem("", "left in the import folder: %s", path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		r.problem("", "look into the import folder: %v", err)
	}
}
