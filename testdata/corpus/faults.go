package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// How often something is killed.
const (
	workerEvery = 4 * time.Second
	daemonEvery = 25 * time.Second
)

// kills ends workers and the daemon from outside, like a system without memory, and starts the daemon again, until stop is closed.
func (s *site) kills(ctx context.Context, stop <-chan struct{}, r *report) {
	random := rand.New(rand.NewPCG(1, uint64(len(r.results)))) //nolint:gosec // a run has to be repeatable
	next := time.Now().Add(daemonEvery)
	for {
		select {
		case <-ctx.Done():
			return
		case <-stop:
			return
		case <-time.After(workerEvery/2 + time.Duration(random.Int64N(int64(workerEvery)))):
		}
		if time.Now().After(next) {
			next = time.Now().Add(daemonEvery)
			r.KilledDaemons++
			if err := s.restart(ctx); err != nil {
				r.problem("", "serve does not start after it was killed: %v", err)
				return
			}
			continue
		}
		if pids := workers(s.pid()); len(pids) > 0 && syscall.Kill(pids[random.IntN(len(pids))], syscall.SIGKILL) == nil {
			r.KilledWorkers++
		}
	}
}

// again gives what the kills put aside another try, as a person would.
func (s *site) again(ctx context.Context, name string, files []source, r *report) error {
	imports, err := s.imports(ctx, name)
	if err != nil {
		return err
	}
	retried := false
	for i, f := range files {
		record, ok := newest(imports, inVault(name, i, f))
		before, known := s.reference[f.sha256]
		if !ok || !known || record.State != engine.ImportPartial && record.State != engine.ImportFailed || record.State == before.state && !s.aside(record) {
			continue
		}
		r.Retried++
		retried = true
		if _, err := s.cli(ctx, "import", "--retry", record.ID); err != nil {
			r.problem(f.name, "import --retry after kills: %v", err)
		}
	}
	if !retried {
		return nil
	}
	_, err = s.wait(ctx, name, files)
	return err
}

// aside reports whether pages of a file were put aside, because their workers were killed.
func (s *site) aside(record engine.ImportRecord) bool {
	data, err := os.ReadFile(s.path(record.Bundle + "/manifest.json"))
	return err == nil && bytes.Contains(data, []byte("put aside, because"))
}

// outcome is what a file became in a run without kills: its state, and for each page the digests of its files.
type outcome struct {
	state engine.ImportState
	pages []map[string]string
}

// outcomeOf reads the pages of a bundle.
func (s *site) outcomeOf(f *result, m manifest.Manifest) outcome {
	o := outcome{state: f.State}
	for _, p := range m.Pages {
		page := map[string]string{}
		for _, name := range p.Files() {
			sum, err := digest(s.path(f.Bundle + "/" + name))
			if os.IsNotExist(err) {
				sum = "missing"
			}
			page[name] = sum
		}
		o.pages = append(o.pages, page)
	}
	return o
}

// compare says whether a file became what it was without kills.
func (s *site) compare(r *report, f *result, now outcome) {
	before, known := s.reference[f.sha256]
	if !known {
		return
	}
	r.Compared++
	if before.state != now.state {
		r.Different++
		r.problem(f.name, "after kills it is %s, without them %s: %s", now.state, before.state, f.Error)
		return
	}
	if len(before.pages) != len(now.pages) {
		r.Different++
		r.problem(f.name, "%d pages, without kills %d", len(now.pages), len(before.pages))
		return
	}
	var differ []string
	for i, page := range now.pages {
		maps.Copy(page, missingFrom(page, before.pages[i]))
		for _, name := range slices.Sorted(maps.Keys(page)) {
			if page[name] != before.pages[i][name] {
				differ = append(differ, name)
			}
		}
	}
	if differ != nil {
		r.Different++
		r.problem(f.name, "differs from the run without kills: %s", strings.Join(differ, ", "))
	}
}

// missingFrom names the files that a page had, and has no more.
func missingFrom(now, before map[string]string) map[string]string {
	missing := map[string]string{}
	for name := range before {
		if _, ok := now[name]; !ok {
			missing[name] = "missing"
		}
	}
	return missing
}

// reference runs the files without kills and slow writers, and returns what became of each.
func reference(ctx context.Context, files []source, o options) (_ map[string]outcome, err error) {
	o.kill, o.out = false, ""
	whole := make([]source, len(files))
	for i, f := range files {
		f.slow = false
		whole[i] = f
	}
	r := &report{started: time.Now(), outcomes: map[string]outcome{}, quiet: true}
	if err := through(ctx, whole, o, r, nil); err != nil {
		return nil, fmt.Errorf("the run without kills: %w", err)
	}
	return r.outcomes, nil
}
