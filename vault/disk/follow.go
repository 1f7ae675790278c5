package disk

import (
	"errors"
	"io/fs"
	"time"
)

// mostFollowed is how long a followed file is waited for beyond its time, as long as somebody has it open for writing.
const mostFollowed = 24 * time.Hour

// pursued is a file that was taken from the import folder and lies elsewhere now.
type pursued struct {
	name   string
	digest string
	until  time.Time
}

// Follow keeps an eye on a file that was taken from the import folder with these bytes and lies elsewhere now: a program
// that has it open goes on writing to it under its new name. Other bytes are news like those of a file of the import
// folder, ready when they have been still; Arrival.Followed is then set. It ends at a time, or, while somebody has the file open
// for writing, up to a day later. It never blocks.
func (w *Watcher) Follow(name, sha256 string, until time.Time) {
	w.mu.Lock()
	w.toFollow = append(w.toFollow, pursued{name, sha256, until})
	w.mu.Unlock()
	w.rouse()
}

func (w *Watcher) takeFollowed() []pursued {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.toFollow
	w.toFollow = nil
	return out
}

// beginFollowing takes up what was given to Follow.
func (s *session) beginFollowing(now time.Time) {
	for _, f := range s.w.takeFollowed() {
		info, err := s.v.root.Lstat(f.name)
		if err != nil || !info.Mode().IsRegular() {
			continue // a person was faster
		}
		s.followed[f.name] = f.until
		s.tracker.keep(f.name, snap(info), f.digest, now)
		s.nextFollow = now.Add(s.followEvery())
	}
}

// followEvery is how long to wait between looks at the followed files. No event is relied on: they are few.
func (s *session) followEvery() time.Duration {
	return s.w.opt.Quiet * time.Duration(1+len(s.followed)/1000)
}

// lookAfter looks at all followed files, and lets go of those whose time is over.
func (s *session) lookAfter(now time.Time) {
	s.nextFollow = now.Add(s.followEvery())
	for name, until := range s.followed {
		f := s.tracker.files[name]
		switch {
		case f == nil:
			delete(s.followed, name)
		case now.After(until.Add(mostFollowed)), now.After(until) && f.phase == settled:
			s.tracker.drop(name, now)
			delete(s.followed, name)
		default:
			s.refreshFollowed(name, now)
		}
	}
}

func (s *session) refreshFollowed(name string, now time.Time) {
	info, err := s.v.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.tracker.vanish(name, now)
	case err == nil:
		s.tracker.see(name, snap(info), false, now)
	}
}
