//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// workers lists the process ids of the daemon's workers.
func (d *serving) workers() []int {
	d.s.T.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", d.Cmd.Process.Pid))
	if err != nil {
		d.s.T.Fatal(err)
	}
	var found []int
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			continue // the thread is gone
		}
		for field := range strings.FieldsSeq(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil && isWorker(pid) {
				found = append(found, pid)
			}
		}
	}
	return found
}

// isWorker tells a worker that is alive from a copy of the daemon that is about to become one, and from what was reaped.
func isWorker(pid int) bool {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return err == nil && strings.HasPrefix(string(name), "vaultflow-work")
}

// records counts the pages that have a record.
func (s *site) records() int {
	s.T.Helper()
	found, err := filepath.Glob(s.Path("Imported/.vaultflow-*-work/page_*.json"))
	if err != nil {
		s.T.Fatal(err)
	}
	return len(found)
}

// randomPages gives pages at which something is killed, in order, at least two apart: a page whose worker was killed is
// tried once more, and must not lose that worker too.
func randomPages(t *testing.T, pages, most int) []int {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var chosen []int
	for n := 1 + random.IntN(2); n < pages-1 && len(chosen) < most; n += 2 + random.IntN(4) {
		chosen = append(chosen, n)
	}
	return chosen
}

func TestServe_itsWorkersKilledAtRandomPages(t *testing.T) {
	t.Parallel()
	const pages = 30
	s := newSite(t, worker(t), slowPages)
	original := longText(pages)
	d := s.serve()
	s.Write("Import/Report.pdf", original)
	killed := 0
	for _, n := range randomPages(t, pages, 4) {
		var pids []int
		s.Wait(2*patience, fmt.Sprintf("%d pages and a worker", n), func() (bool, string) {
			pids = d.workers()
			return s.records() >= n && len(pids) > 0 || len(s.Files("Imported/Report", ".pdf")) == 1, ""
		})
		for _, pid := range pids {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed++
			}
		}
	}
	if killed < 3 {
		t.Errorf("only %d workers were killed", killed)
	}
	m := s.oneBundle(pages, original, nil)
	for _, p := range m.Pages {
		if p.Status != manifest.PageDone || p.Image == nil || p.Image.DPI < 100 || p.Lacks != "" {
			t.Errorf("page %d: %s, %+v; no kill of a worker may cost resolution", p.N, p.Status, p.Image)
		}
	}
	d.alive()
}

// A document whose workers are killed each time is put aside, without a page of low quality, and one command makes what is missing.
func TestServe_itsWorkersKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	const pages = 12
	s := newSite(t, worker(t), slowPages)
	original := longText(pages)
	d := s.serve()
	stop, killing := make(chan struct{}), make(chan int)
	go func() { // from the third page on, nothing lives long enough
		killed := 0
		for {
			select {
			case <-stop:
				killing <- killed
				return
			case <-time.After(5 * time.Millisecond):
			}
			if s.records() < 2 {
				continue
			}
			for _, pid := range d.workers() {
				if syscall.Kill(pid, syscall.SIGKILL) == nil {
					killed++
				}
			}
		}
	}()
	s.Write("Import/Report.pdf", original)
	s.Wait(2*patience, "the import to end", func() (bool, string) {
		list := s.Imports()
		return len(list) == 1 && list[0].State.Finished(), fmt.Sprint(list)
	})
	close(stop)
	if killed := <-killing; killed < 2 {
		t.Fatalf("only %d workers were killed", killed)
	}
	r := s.Imports()[0]
	if said := r.Reason + strings.Join(r.Warnings, " "); r.State != engine.ImportPartial && r.State != engine.ImportFailed || !strings.Contains(said, "put aside") {
		t.Errorf("%s: %s", r.State, said)
	}
	s.Must("import", "--retry", r.ID)
	if again := s.Imports(); len(again) != 1 || again[0].State != engine.ImportDone {
		t.Fatalf("after the retry: %+v", again)
	}
	m := s.oneBundle(pages, original, nil)
	for _, p := range m.Pages {
		if p.Status != manifest.PageDone || p.Image == nil || p.Image.DPI < 100 {
			t.Errorf("page %d: %s, %+v", p.N, p.Status, p.Image)
		}
	}
}

func TestServe_killedWithItsWorkersAtRandomPages(t *testing.T) {
	t.Parallel()
	const pages = 30
	s := newSite(t, worker(t), slowPages)
	original := longText(pages)
	committed := map[string]pageFile{}
	d := s.serve()
	s.Write("Import/Report.pdf", original)
	for i, n := range randomPages(t, pages, 6) {
		s.Wait(2*patience, fmt.Sprintf("%d pages", n), func() (bool, string) {
			return s.records() >= n || len(s.Files("Imported/Report", ".pdf")) == 1, ""
		})
		d.Signal(syscall.SIGSTOP) // so that it starts no further worker
		pids := d.workers()
		if i%2 == 0 { // the workers with it; otherwise they have to notice by themselves
			for _, pid := range pids {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		d.Kill()
		for name, file := range s.committed() {
			committed[name] = file
		}
		s.Wait(patience, "the workers of the killed daemon to end", func() (bool, string) {
			for _, pid := range pids {
				if isWorker(pid) {
					return false, fmt.Sprintf("worker %d lives", pid)
				}
			}
			return true, ""
		})
		d = s.start()
	}
	m := s.oneBundle(pages, original, committed)
	if len(committed) < pages/3 {
		t.Errorf("only %d pages were committed before the last kill", len(committed))
	}
	for _, p := range m.Pages {
		if p.Status != manifest.PageDone || p.Image == nil || p.Image.DPI < 100 {
			t.Errorf("page %d: %s, %+v; no kill of the daemon may cost resolution", p.N, p.Status, p.Image)
		}
	}
}
