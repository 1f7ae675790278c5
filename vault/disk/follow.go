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
// that has it open continues to write to it under its new name. Other bytes are news like those of a file of the import
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

// pursuit looks at the files that were given to Follow. It belongs to the goroutine of Run.
type pursuit struct {
	folder  *folder
	tracker *tracker
	quiet   time.Duration

	until map[string]time.Time // by name, until when a file is looked at
	next  time.Time            // of the next look
}

// begin adds files to those that are followed.
func (p *pursuit) begin(files []pursued, now time.Time) {
	for _, f := range files {
		info, err := p.folder.root.Lstat(f.name)
		if err != nil || !info.Mode().IsRegular() {
			continue // a person was faster
		}
		p.until[f.name] = f.until
		p.tracker.keep(f.name, snap(info), f.digest, now)
		p.next = now.Add(p.every())
	}
}

// every is the time between looks. No event is relied on: the files are few.
func (p *pursuit) every() time.Duration {
	return p.quiet * time.Duration(1+len(p.until)/1000)
}

// due returns the time of the next look, zero for never.
func (p *pursuit) due() time.Time {
	if len(p.until) == 0 {
		return time.Time{}
	}
	return p.next
}

// follows reports whether a file is followed.
func (p *pursuit) follows(name string) bool {
	_, is := p.until[name]
	return is
}

// look looks at all followed files when it is time to, and drops those that have expired.
func (p *pursuit) look(now time.Time) {
	if due := p.due(); due.IsZero() || now.Before(due) {
		return
	}
	p.next = now.Add(p.every())
	for name, until := range p.until {
		f := p.tracker.files[name]
		switch {
		case f == nil:
			delete(p.until, name)
		case now.After(until.Add(mostFollowed)), now.After(until) && f.phase == settled:
			p.tracker.drop(name, now)
			delete(p.until, name)
		default:
			p.refresh(name, now)
		}
	}
}

func (p *pursuit) refresh(name string, now time.Time) {
	info, err := p.folder.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.tracker.vanish(name, now)
	case err == nil:
		p.tracker.see(name, snap(info), false, now)
	}
}
