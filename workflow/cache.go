package workflow

import (
	"crypto/sha256"
	"io/fs"
	"slices"
	"sync"
)

// maxKept is how many bytes of notes a cache keeps the plans of. A plan takes several times its note.
const maxKept = 8 << 20

// Cache keeps the plans of notes, so that only changed ones are parsed again. Every note is read each time and compared by its
// digest, because a file can change and keep its size and time. Plans of notes that are gone are dropped, and so are those beyond 8 MiB
// of notes. Its zero value is empty; it is safe for concurrent use.
type Cache struct {
	mu   sync.Mutex
	kept map[string]parsed // by the note's name; guarded by mu
}

// parsed is what a note says. It is never changed.
type parsed struct {
	name   string // of the workflow
	digest [sha256.Size]byte
	size   int
	loaded Loaded
}

// Load is [Load]. The plans belong to the caller, except for what their steps and metadata point to.
func (c *Cache) Load(fsys fs.FS, dir string) ([]Loaded, error) {
	seen, size := map[string]parsed{}, 0
	all, err := load(fsys, dir, func(name, file string, src []byte) Loaded {
		p := c.parse(name, file, src)
		if size += p.size; size <= maxKept {
			seen[file] = p
		}
		return p.loaded.own()
	})
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.kept = seen
	}
	return all, err
}

func (c *Cache) parse(name, file string, src []byte) parsed {
	digest := sha256.Sum256(src)
	c.mu.Lock()
	p, known := c.kept[file]
	c.mu.Unlock()
	if known && p.digest == digest && p.name == name {
		return p
	}
	plan, list := Parse(name, file, src)
	return parsed{name, digest, len(src), Loaded{plan, list}}
}

// own returns a copy that can be changed: runs change the models of steps, and checks add diagnostics.
func (l Loaded) own() Loaded {
	plan := *l.Plan
	plan.Steps = slices.Clone(plan.Steps)
	return Loaded{&plan, slices.Clone(l.Diagnostics)}
}
