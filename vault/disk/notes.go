package disk

import (
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/vault"
)

// hashLimit is the largest note or picture, in bytes, whose digest a Change carries.
const hashLimit = 256 << 20

// notes decides when a changed file outside the import folder is reported: when it has rested. Like tracker it is a pure
// state machine of one goroutine.
type notes struct {
	debounce time.Duration
	known    map[string]noted
	pending  map[string]*pendingNote
	news     []vault.Change
	gen      int
}

type noted struct {
	snap   snapshot
	digest string // empty until it was needed
}

type pendingNote struct {
	since time.Time
	gen   int // of the request that is out, 0 for none
}

func newNotes(debounce time.Duration) *notes {
	return &notes{debounce: debounce, known: map[string]noted{}, pending: map[string]*pendingNote{}}
}

// seed takes a file that was there when watching began: nothing fires because it was found.
func (n *notes) seed(name string, s snapshot) { n.known[name] = noted{snap: s} }

// hint takes that something happened to a name.
func (n *notes) hint(name string, now time.Time) { n.pending[name] = &pendingNote{since: now} }

// hintBelow takes that something happened to a folder: it may be gone with all that was in it.
func (n *notes) hintBelow(dir string, now time.Time) {
	for name := range n.known {
		if strings.HasPrefix(name, dir+"/") {
			n.hint(name, now)
		}
	}
}

// see takes what a scan found under a name.
func (n *notes) see(name string, s snapshot, now time.Time) {
	if k, ok := n.known[name]; ok && k.snap.same(s) || n.pending[name] != nil {
		return
	}
	n.hint(name, now)
}

// missing takes that a full scan did not see some files, except below folders that could not be read.
func (n *notes) missing(seen map[string]bool, unread []string, now time.Time) {
	for name := range n.known {
		if !seen[name] && n.pending[name] == nil && !anyWithin(name, unread) {
			n.hint(name, now)
		}
	}
}

// tick returns the looks that are due.
func (n *notes) tick(now time.Time) []request {
	var out []request
	for name, p := range n.pending {
		if p.since.After(now) {
			p.since = now
		}
		if p.gen != 0 || now.Sub(p.since) < n.debounce {
			continue
		}
		n.gen++
		p.gen = n.gen
		out = append(out, request{name: name, gen: p.gen, force: true, limit: hashLimit})
	}
	return out
}

// next is when tick has something to do, zero for never.
func (n *notes) next() time.Time {
	var next time.Time
	for _, p := range n.pending {
		if due := p.since.Add(n.debounce); p.gen == 0 && (next.IsZero() || due.Before(next)) {
			next = due
		}
	}
	return next
}

// checked takes the answer to a request.
func (n *notes) checked(r finding, now time.Time) {
	p := n.pending[r.name]
	if p == nil || p.gen != r.gen {
		return // another event came meanwhile; it has its own look
	}
	k, existed := n.known[r.name]
	switch {
	case r.changed:
		n.hint(r.name, now)
		return
	case r.gone && existed:
		delete(n.known, r.name)
		n.news = append(n.news, vault.Change{File: vault.File{Name: r.name}, Op: vault.OpRemove})
	case r.gone, r.err != nil:
		// Never seen, or not readable: a scan comes back to it, since it is not known in this state.
	case existed && k.digest != "" && k.digest == r.digest:
		n.known[r.name] = noted{snap: r.found, digest: r.digest}
	default:
		n.known[r.name] = noted{snap: r.found, digest: r.digest}
		op := vault.OpCreate
		if existed {
			op = vault.OpModify
		}
		file := vault.File{Name: r.name, SHA256: r.digest, Size: r.found.size, Modified: r.found.mod}
		n.news = append(n.news, vault.Change{File: file, Op: op})
	}
	delete(n.pending, r.name)
}

// take returns the changes since the last call.
func (n *notes) take() []vault.Change {
	out := n.news
	n.news = nil
	return out
}
