package disk

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/vaultflow/vaultflow/vault"
)

// scan reads the whole vault: what it finds is added, what it does not find is gone. At the first scan notes are
// learned and not reported.
func (s *session) scan(first bool) error {
	began := time.Now()
	seen := map[string]bool{}
	var names []string
	s.listen(first, began)
	defer func() { s.health.scanning = false }()
	s.watch(".")
	unread, err := s.v.walk(".", func(name string, d fs.DirEntry) {
		seen[name] = true
		if s.v.indexable(name, d) {
			names = append(names, name)
		}
		s.visit(name, d, first, began)
	})
	if err != nil {
		return fmt.Errorf("scan vault: %w", err)
	}
	for _, dir := range unread {
		s.tellOnce(dir, Report{Code: "unreadable", Name: dir, Message: "this folder cannot be read", Hint: "check its permissions"})
	}
	s.tracker.vanishBut(seen, unread, began)
	s.notes.missing(seen, unread, began)
	s.v.index.replace(names)
	s.nextScan = time.Now().Add(s.interval(time.Since(began)))
	return nil
}

// interval is the time to the next scan. Polling a large or slow vault takes a tenth of the time at most.
func (s *session) interval(took time.Duration) time.Duration {
	if s.events != nil {
		return s.w.opt.Rescan
	}
	return max(min(s.w.opt.PollEvery, s.w.opt.Rescan), 10*took)
}

// rescan scans, and tries again later when the vault itself cannot be read.
func (s *session) rescan() {
	if err := s.scan(false); err != nil {
		s.nextScan = time.Now().Add(s.interval(0))
		s.w.report(Report{Code: "unreadable", Message: err.Error(), Hint: "check that the vault's folder is there"})
	}
}

// scanBelow reads a folder that appeared, with all that is in it: there were no events for its files.
func (s *session) scanBelow(dir string, now time.Time) {
	if clutter(dir) {
		return
	}
	s.watch(dir)
	_, err := s.v.walk(dir, func(name string, d fs.DirEntry) { s.visit(name, d, false, now) })
	if ignoreMissing(err) != nil {
		s.tellOnce(dir, Report{Code: "unreadable", Name: dir, Message: inWords(err), Hint: "check its permissions"})
	}
}

// visit adds one entry of a scan.
func (s *session) visit(name string, d fs.DirEntry, first bool, now time.Time) {
	if d.IsDir() {
		if !clutter(name) {
			s.watch(name)
		}
		return
	}
	info, err := d.Info()
	if ignoreMissing(err) == nil && err != nil {
		return
	}
	if first && err == nil && !s.v.filter.inImport(name) && !isConflictCopy(name) {
		if info, ok := s.v.described(name, info); ok && s.v.indexable(name, d) {
			s.notes.seed(name, snap(info))
		}
		return
	}
	s.meet(name, info, err, false, now)
}

// queueArrival keeps the latest news of a file only.
func queueArrival(queue []Arrival, a Arrival) []Arrival {
	for i := range queue {
		if queue[i].Name == a.Name {
			queue[i] = a
			return queue
		}
	}
	return append(queue, a)
}

// queueChange joins a change with one of the same file that nobody has read yet.
func queueChange(queue []vault.Change, c vault.Change) []vault.Change {
	for i, old := range queue {
		if old.Name != c.Name {
			continue
		}
		switch {
		case old.Op == vault.OpCreate && c.Op == vault.OpRemove:
			return append(queue[:i], queue[i+1:]...)
		case old.Op == vault.OpCreate:
			c.Op = vault.OpCreate
		case old.Op == vault.OpRemove:
			c.Op = vault.OpModify
		}
		queue[i] = c
		return queue
	}
	return append(queue, c)
}
