package disk

import (
	"path"
	"time"

	"github.com/vaultflow/vaultflow/vault"
)

// watchHealth notices when the system stops telling of changes without a word: a folder was unmounted and mounted again, a
// container or a network layer swallows events. A file that a scan finds new in a watched folder, and of which no event
// is reported in time, proves it. Nothing is written to find out.
type watchHealth struct {
	scanning bool                 // a scan is under way whose finds count
	lossy    bool                 // events were lost: what the next scan finds proves nothing
	unheard  map[string]time.Time // when a scan found files without an event
}

// deafAfter is how late an event may be: they come within milliseconds, but a machine may be busy.
const deafAfter = 5 * time.Second

// found takes a file that was not known before.
func (h *watchHealth) found(name string, e *events, now time.Time) {
	if h.scanning && e != nil && e.dirs[path.Dir(name)] {
		h.unheard[name] = now
	}
}

// heard records that an event came for a file, or for a folder above it.
func (h *watchHealth) heard(name string) {
	for file := range h.unheard {
		if vault.Within(file, name) {
			delete(h.unheard, file)
		}
	}
}
