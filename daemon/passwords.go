package daemon

import (
	"slices"
	"sync"
)

// passwords are those that encrypted documents are tried with: what commands gave to this process, then those of the
// settings. They go to the worker in a frame, and nowhere else.
func (a *Workspace) passwords() []string {
	out := a.Given.List()
	for _, secret := range a.Settings.Ingestion.Passwords {
		if secret != "" {
			out = append(out, string(secret))
		}
	}
	return out
}

// maxGiven is how many passwords of commands a process remembers, the newest.
const maxGiven = 20

// GivenPasswords are passwords that commands brought. They live as long as the process, in memory alone: an import that waits
// or is tried again finds them, and no record holds them. It is safe for concurrent use.
type GivenPasswords struct {
	mu  sync.Mutex
	all []string // the newest first
}

func (g *GivenPasswords) Add(passwords ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range passwords {
		if p != "" && !slices.Contains(g.all, p) {
			g.all = slices.Insert(g.all, 0, p)
		}
	}
	g.all = g.all[:min(len(g.all), maxGiven)]
}

func (g *GivenPasswords) List() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.all)
}
