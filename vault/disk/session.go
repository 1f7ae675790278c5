package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/vault"
)

// session is one Run of a Watcher. All of it but the lookers belongs to the goroutine of Run.
type session struct {
	w       *Watcher
	v       *Vault
	events  *events // nil when polling
	tracker *tracker
	notes   *notes

	nextScan time.Time

	pursuit *pursuit

	jobs     []request
	changes  []vault.Change
	arrivals []Arrival
	told     map[string]bool // conflict copies and folders that were reported
	health   watchHealth
}

// lookers is how many files are read at the same time, so that one large file does not keep small ones waiting.
const lookers = 2

func newSession(w *Watcher) *session {
	t := newTracker(w.opt.Quiet, w.opt.Stall)
	return &session{
		w: w, v: w.v, told: map[string]bool{}, tracker: t, notes: newNotes(w.opt.Debounce),
		pursuit: &pursuit{folder: w.v.folder, tracker: t, quiet: w.opt.Quiet, until: map[string]time.Time{}},
	}
}

func (s *session) run(ctx context.Context) error {
	requests, findings := make(chan request), make(chan finding)
	var wg sync.WaitGroup
	defer wg.Wait()
	for range lookers {
		wg.Go(func() { looker(ctx, s.v, requests, findings) })
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(s.advance(time.Now()))
		if !s.step(ctx, timer, requests, findings) {
			return nil
		}
	}
}

// looker answers requests until ctx ends.
func looker(ctx context.Context, v *Vault, requests <-chan request, findings chan<- finding) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-requests:
			select {
			case <-ctx.Done():
				return
			case findings <- v.look(r):
			}
		}
	}
}

// advance does what is due, and returns how long until there is more.
func (s *session) advance(now time.Time) time.Duration {
	if !now.Before(s.nextScan) {
		s.rescan()
		now = time.Now()
	}
	s.pursuit.look(now)
	s.jobs = append(s.jobs, s.tracker.tick(now)...)
	s.jobs = append(s.jobs, s.notes.tick(now)...)
	s.publish()
	next := s.nextScan
	for _, t := range []time.Time{s.pursuit.due(), s.tracker.next(), s.notes.next()} {
		if !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	return max(0, next.Sub(now))
}

// publish moves news to the queues that readers take from.
func (s *session) publish() {
	for _, a := range s.tracker.take() {
		s.w.remember(a)
		s.arrivals = queueArrival(s.arrivals, a)
	}
	for _, c := range s.notes.take() {
		s.changes = queueChange(s.changes, c)
	}
}

// step waits for one thing to happen. It returns false when ctx has ended.
func (s *session) step(ctx context.Context, timer *time.Timer, requests chan<- request, findings <-chan finding) bool {
	job, jobOut := head(s.jobs, requests)
	change, changeOut := head(s.changes, s.w.changes)
	arrival, arrivalOut := head(s.arrivals, s.w.arrivals)
	events, faults := s.events.channels()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-s.w.wake:
		s.takeBack(time.Now())
		s.pursuit.begin(s.w.takeFollowed(), time.Now())
	case e := <-events:
		s.event(e)
	case err := <-faults:
		s.fault(err)
	case jobOut <- job:
		s.jobs = s.jobs[1:]
	case f := <-findings:
		s.found(f)
	case changeOut <- change:
		s.changes = s.changes[1:]
	case arrivalOut <- arrival:
		s.arrivals = s.arrivals[1:]
	}
	return true
}

// head returns the first of a queue and the channel to send it on; with nothing to send the channel is nil.
func head[T any](queue []T, out chan<- T) (first T, ch chan<- T) {
	if len(queue) == 0 {
		return first, nil
	}
	return queue[0], out
}

func (s *session) found(f finding) {
	now := time.Now()
	switch {
	case !f.arrival:
		s.notes.checked(f, now)
	case f.digest != "" && !f.changed && !f.writers.open && !utf8.ValidString(f.name):
		s.nameless(f, now)
	default:
		s.tracker.checked(f, now)
	}
}

// takeBack deals with files that the consumer has finished with.
func (s *session) takeBack(now time.Time) {
	for _, r := range s.w.takeReturned() {
		if r.done {
			s.tracker.done(r.name, now)
			s.w.forget(r.name)
		} else {
			s.tracker.release(r.name, now)
		}
		if s.pursuit.follows(r.name) {
			s.pursuit.refresh(r.name, now)
		} else {
			s.refreshArrival(r.name, false, now)
		}
	}
}

// touch deals with a name to which something has happened, whatever it was.
func (s *session) touch(name string, now time.Time) {
	info, err := s.v.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.lost(name, now)
	case err == nil && info.IsDir():
		s.scanBelow(name, now)
	default:
		s.meet(name, info, err, true, now)
	}
}

// lost deals with a file or a folder that is gone.
func (s *session) lost(name string, now time.Time) {
	if s.v.filter.inImport(name) {
		for known := range s.tracker.files {
			if vault.Within(known, name) {
				s.tracker.vanish(known, now)
			}
		}
	}
	if _, known := s.notes.known[name]; known || s.notes.pending[name] != nil {
		s.notes.hint(name, now)
	} else {
		s.notes.hintBelow(name, now)
	}
	s.v.index.remove(name)
}

// meet deals with a file that is there. event means that something happened to it, besides what info shows.
func (s *session) meet(name string, info fs.FileInfo, err error, event bool, now time.Time) {
	if s.v.filter.inImport(name) {
		s.meetArrival(name, info, err, event, now)
	}
	if err != nil || !s.v.indexable(name, fs.FileInfoToDirEntry(info)) {
		return
	}
	s.v.index.add(name)
	switch {
	case s.v.filter.inImport(name):
	case isConflictCopy(name):
		s.tellOnce(name, Report{
			Code: "conflict_copy", Name: name, Message: "a sync program left a second version of a file; it triggers nothing",
			Hint: "merge the two versions and remove this one",
		})
	case event:
		s.notes.hint(name, now)
	default:
		if info, ok := s.v.described(name, info); ok {
			s.notes.see(name, snap(info), now)
		}
	}
}

// described returns the description of a file, of the one behind it for a link.
func (f *folder) described(name string, info fs.FileInfo) (fs.FileInfo, bool) {
	if info.Mode()&fs.ModeSymlink == 0 {
		return info, true
	}
	info, err := f.root.Stat(name)
	return info, err == nil
}

func (s *session) meetArrival(name string, info fs.FileInfo, err error, event bool, now time.Time) {
	switch s.v.filter.arrival(name) {
	case take:
		if err != nil {
			s.tracker.block(name, inWords(err), now)
			return
		}
		if s.tracker.files[name] == nil {
			s.health.found(name, s.events, now)
		}
		s.tracker.see(name, snap(info), event, now)
	case placeholder:
		s.tracker.hold(name, "iCloud has not downloaded this file to this computer yet", now)
	case conflicted:
		s.tracker.hold(name, "a sync program left this second version of a file; rename the one to import, remove the other", now)
	case ignore:
	}
}

// refreshArrival looks at one file of the import folder now.
func (s *session) refreshArrival(name string, event bool, now time.Time) {
	info, err := s.v.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		s.tracker.vanish(name, now)
		return
	}
	s.meetArrival(name, info, err, event, now)
}

func (s *session) tellOnce(key string, r Report) {
	if !s.told[key] {
		s.told[key] = true
		s.w.report(r)
	}
}

// nameless deals with a file that is ready but for its name.
func (s *session) nameless(f finding, now time.Time) {
	name, err := s.v.straighten(f.name)
	if err != nil {
		f.err = err
		s.tracker.checked(f, now)
		return
	}
	s.w.report(Report{Code: "renamed", Name: name, Message: fmt.Sprintf("the name %q was not text (UTF-8)", f.name)})
	s.lost(f.name, now)
	s.touch(name, now)
}
