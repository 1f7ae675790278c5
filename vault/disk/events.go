package disk

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/vaultflow/vaultflow/vault"

	"github.com/fsnotify/fsnotify"
)

// events is the system's way to tell about changes: one watch for each folder.
type events struct {
	system *fsnotify.Watcher
	dirs   map[string]bool // names of watched folders
}

// channels returns the streams of a source; without one they are nil and never ready.
func (e *events) channels() (<-chan fsnotify.Event, <-chan error) {
	if e == nil {
		return nil, nil
	}
	return e.system.Events, e.system.Errors
}

func (e *events) close() {
	if e != nil {
		_ = e.system.Close() // nothing of it is used any more
	}
}

const (
	modeEvents = "events"
	modePoll   = "poll"

	limitHint = "sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512"
)

// open chooses between events and polling.
func (s *session) open() {
	s.w.setMode(modeEvents, "")
	if s.w.opt.Poll {
		s.poll(Report{Code: "polling", Message: "polling was chosen in the settings"})
		return
	}
	for _, dir := range []string{".", s.v.opt.ImportDir} {
		if kind := networkFS(filepath.Join(s.v.path, filepath.FromSlash(dir))); kind != "" {
			s.poll(Report{Code: "polling", Name: dir, Message: "the folder is on " + kind + ", which does not report changes"})
			return
		}
	}
	system, err := fsnotify.NewWatcher()
	if err != nil {
		s.poll(limitReport(err))
		return
	}
	s.events = &events{system: system, dirs: map[string]bool{}}
}

// poll stops listening for events.
func (s *session) poll(r Report) {
	s.events.close()
	s.events = nil
	s.w.setMode(modePoll, r.Message)
	s.nextScan = time.Now().Add(s.interval(0))
	s.w.report(r)
}

func limitReport(err error) Report {
	if isErrno(err, syscall.ENOSPC, syscall.EMFILE, syscall.ENFILE) {
		return Report{
			Code: "watch_limit", Hint: limitHint,
			Message: "the system's limit of watched folders is reached; the vault is scanned instead, which is slower",
		}
	}
	return Report{Code: "watch_error", Message: fmt.Sprintf("folders cannot be watched: %v; the vault is scanned instead", err)}
}

// watch asks for the events of a folder, once.
func (s *session) watch(name string) {
	if s.events == nil || s.events.dirs[name] {
		return
	}
	if s.w.opt.deaf {
		s.events.dirs[name] = true
		return
	}
	err := s.events.system.Add(filepath.Join(s.v.path, filepath.FromSlash(name)))
	switch {
	case err == nil:
		s.events.dirs[name] = true
	case ignoreMissing(err) == nil:
	case isPermission(err):
		s.tellOnce(name, Report{Code: "unreadable", Name: name, Message: "this folder may not be watched", Hint: "check its permissions"})
	default:
		s.poll(limitReport(err))
	}
}

// unwatch forgets a folder that was removed or renamed, with those below it: the system would continue to report their old
// names.
func (s *session) unwatch(name string) {
	if s.events == nil || !s.events.dirs[name] {
		return
	}
	for dir := range s.events.dirs {
		if vault.Within(dir, name) {
			delete(s.events.dirs, dir)
			_ = s.events.system.Remove(filepath.Join(s.v.path, filepath.FromSlash(dir))) // it may be gone already
		}
	}
}

// event deals with one of the system's hints.
func (s *session) event(e fsnotify.Event) {
	rel, err := filepath.Rel(s.v.path, e.Name)
	if err != nil {
		return
	}
	name := filepath.ToSlash(rel)
	s.health.heard(name)
	if e.Op == fsnotify.Chmod || name == "." || strings.HasPrefix(name, "..") || (clutter(name) && !s.v.filter.inImport(name)) {
		return
	}
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		s.unwatch(name)
	}
	s.touch(name, time.Now())
}

// fault deals with an error of the system's stream.
func (s *session) fault(err error) {
	if errors.Is(err, fsnotify.ErrEventOverflow) {
		s.v.log.Info("events were lost, scanning", "err", err)
		s.health.lossy = true
	} else {
		s.w.report(Report{Code: "watch_error", Message: err.Error()})
	}
	s.nextScan = time.Now()
}

// listen is called before a full scan. It stops listening when no event ever came for a file that an earlier scan found.
func (s *session) listen(first bool, now time.Time) {
	h := &s.health
	if h.unheard == nil || h.lossy {
		h.unheard = map[string]time.Time{}
	}
	for name, since := range h.unheard {
		if now.Sub(since) >= s.w.opt.deafAfter {
			h.unheard = nil
			s.poll(Report{
				Code: "deaf", Name: name, Message: fmt.Sprintf("the system did not report the new file %q; the vault is polled from now on", name),
				Hint: "when its folder lies on a network or in a container, set vault.watch: poll in settings.yaml",
			})
			break
		}
	}
	if h.lossy && s.events != nil {
		s.events.dirs = map[string]bool{} // ask for every folder's events again
	}
	h.scanning, h.lossy = s.events != nil && !first && !h.lossy, false
}
