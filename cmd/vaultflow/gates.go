package main

import (
	"sync"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/settings"
)

// defaultConcurrency is how many calls a provider gets at once when the settings say nothing.
const defaultConcurrency = 4

// gates hold the limits of providers over all that is asked of them: runs, and imports that have text recognised. The zero
// value has none yet; it is safe for concurrent use.
type gates struct {
	mu   sync.Mutex
	made map[string]*llm.Gate // by provider; guarded by mu
}

// of is the one gate of a provider.
func (g *gates) of(name string, p settings.Provider) *llm.Gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	if gate, ok := g.made[name]; ok {
		return gate
	}
	limits := llm.Limits{Calls: p.MaxConcurrency, RequestsPerMinute: p.RequestsPerMinute, TokensPerMinute: p.TokensPerMinute}
	if limits.Calls == 0 {
		limits.Calls = defaultConcurrency
	}
	if g.made == nil {
		g.made = map[string]*llm.Gate{}
	}
	g.made[name] = llm.NewGate(limits)
	return g.made[name]
}
