package disk

import (
	"fmt"
	"path"
	"time"
)

// hearing notices when the system stops telling of changes without a word: a folder was unmounted and mounted again, a
// container or a network layer swallows events. A file that a scan finds new in a watched folder, and of which no event
// tells in good time, proves it. Nothing is written to find out.
type hearing struct {
	scanning bool                 // a scan is under way whose finds count
	lossy    bool                 // events were lost: what the next scan finds proves nothing
	unheard  map[string]time.Time // when a scan found files of which no event has told
}

// deafAfter is how late an event may be: they come within milliseconds, but a machine may be busy.
const deafAfter = 5 * time.Second

// found takes a file that was not known before.
func (h *hearing) found(name string, e *events, now time.Time) {
	if h.scanning && e != nil && e.dirs[path.Dir(name)] {
		h.unheard[name] = now
	}
}

// told takes that an event came for a file, or a folder above it.
func (h *hearing) told(name string) {
	for file := range h.unheard {
		if within(file, name) {
			delete(h.unheard, file)
		}
	}
}

// listen is called before a full scan. It gives up on events when they never told of a file that an earlier scan found.
func (s *session) listen(first bool, now time.Time) {
	h := &s.hearing
	if h.unheard == nil || h.lossy {
		h.unheard = map[string]time.Time{}
	}
	for name, since := range h.unheard {
		if now.Sub(since) >= s.w.opt.deafAfter {
			h.unheard = nil
			s.poll(Report{
				Code: "deaf", Name: name, Message: fmt.Sprintf("the system told nothing of %q, which appeared; the vault is polled from now on", name),
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
