package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// batch drops files, waits for their imports to end and checks each result. After an error no further batch makes sense.
func (s *site) batch(ctx context.Context, name string, files []source, r *report) error {
	s.memory.reset()
	for i, f := range files {
		if err := place(f.path, filepath.Join(s.scratch, "arriving"), filepath.Join(s.vault, inVault(name, i, f))); err != nil {
			return err
		}
	}
	imports, err := s.wait(ctx, name, files)
	if err != nil {
		r.problem("", "batch %s: %v", name, err)
	}
	peak := s.memory.reset() >> 20
	bundles := map[string]string{}
	for i, f := range files {
		record, known := imports[inVault(name, i, f)]
		if !known {
			record = bySum(imports, f.sha256) // a file whose name no vault can hold was renamed
		}
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
	if !s.alive() {
		r.problem("", "the daemon died in batch %s: %v", name, s.cmd.ProcessState)
		return fmt.Errorf("the daemon is gone")
	}
	return err
}

// wait polls until every file has an import and every import of the batch has ended, including those of archive members.
func (s *site) wait(ctx context.Context, name string, files []source) (map[string]engine.ImportRecord, error) {
	last, changed := "", time.Now()
	var imports map[string]engine.ImportRecord
	for {
		now, failed := s.imports(ctx, name, 3*len(files)+50)
		if failed == nil { // otherwise the machine may be busy: what was seen before holds until the next look
			imports = now
		}
		ended, pages := 0, 0
		for _, r := range imports {
			if r.State.Finished() {
				ended++
			}
			pages += r.Page
		}
		if shown := fmt.Sprint(ended, len(imports), pages); shown != last {
			last, changed = shown, time.Now()
		}
		switch {
		case ended == len(imports) && ended >= len(files):
			return imports, nil
		case !s.alive():
			return imports, fmt.Errorf("the daemon died")
		case time.Since(changed) > s.o.stuck:
			return imports, errors.Join(fmt.Errorf("%d of %d files have ended, and nothing has happened for %s", ended, len(files), s.o.stuck), failed)
		}
		select {
		case <-ctx.Done():
			return imports, ctx.Err()
		case <-time.After(300 * time.Millisecond):
		}
	}
}

func bySum(imports map[string]engine.ImportRecord, sha256 string) engine.ImportRecord {
	for _, r := range imports {
		if r.SHA256 == sha256 {
			return r
		}
	}
	return engine.ImportRecord{}
}

// check checks the result of one file.
func (s *site) check(r *report, f *result) {
	if took := f.took(); took > s.o.time {
		r.problem(f.name, "took %s, the limit is %s", took.Round(time.Second), s.o.time)
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
func (s *site) spare(r *report, name string, imports map[string]engine.ImportRecord) {
	known := map[string]bool{}
	for _, record := range imports {
		known[record.Bundle] = true
	}
	err := filepath.WalkDir(s.path("Imported/"+name), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "manifest.json" {
			return err
		}
		bundle, err := filepath.Rel(s.vault, filepath.Dir(path))
		if !known[filepath.ToSlash(bundle)] {
			r.problem("", "no import of batch %s speaks of the bundle %s", name, bundle)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		r.problem("", "look for bundles: %v", err)
	}
	err = filepath.WalkDir(s.path("Import/"+name), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			r.problem("", "left in the import folder: %s", path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		r.problem("", "look into the import folder: %v", err)
	}
}
