package workers

import (
	"slices"
	"sync"

	"github.com/vaultflow/vaultflow/settings"
)

// maxGiven is how many passwords of commands a process remembers. The oldest are forgotten first.
const maxGiven = 20

// Passwords are tried on encrypted documents. Those that commands bring stay in memory while the process lives, for imports
// that wait or are retried. They are never recorded, and only the worker receives them. Safe for concurrent use.
type Passwords struct {
	set []settings.Secret // of the settings

	mu    sync.Mutex
	given []string // by commands, the newest first; guarded by mu
}

// NewPasswords returns the passwords of the settings.
func NewPasswords(set []settings.Secret) *Passwords { return &Passwords{set: set} }

// Add remembers passwords that a command brought.
func (p *Passwords) Add(passwords ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, password := range passwords {
		if password != "" && !slices.Contains(p.given, password) {
			p.given = slices.Insert(p.given, 0, password)
		}
	}
	p.given = p.given[:min(len(p.given), maxGiven)]
}

// Given returns the passwords that commands brought, the newest first.
func (p *Passwords) Given() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.given)
}

// All returns the passwords of commands, then those of the settings.
func (p *Passwords) All() []string {
	all := p.Given()
	for _, secret := range p.set {
		if secret != "" {
			all = append(all, string(secret))
		}
	}
	return all
}
