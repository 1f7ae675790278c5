package modelset

import (
	"sync"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/settings"
)

// defaultConcurrency is the number of parallel calls to a provider when the settings name none.
const defaultConcurrency = 4

// gates limit the calls of each provider. Runs and text recognition share them. It is safe for concurrent use.
type gates struct {
	mu   sync.Mutex
	made map[string]*llm.Gate // by provider; guarded by mu
}

// Gate returns the one gate of a provider.
func (m *Set) Gate(name string, p settings.Provider) *llm.Gate {
	g := &m.gates
	g.mu.Lock()
	defer g.mu.Unlock()
	if gate, ok := g.made[name]; ok {
		return gate
	}
	limits := llm.Limits{Calls: p.MaxConcurrency, RequestsPerMinute: p.RequestsPerMinute, TokensPerMinute: p.TokensPerMinute}
	if limits.Calls == 0 {
		limits.Calls = defaultConcurrency
	}
	g.made[name] = llm.NewGate(limits)
	return g.made[name]
}
