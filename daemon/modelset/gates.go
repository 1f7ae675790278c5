package modelset

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/settings"
)

// defaultConcurrency is the number of parallel calls to a service when the settings name none.
const defaultConcurrency = 4

// Services are the services that the vaults of a process ask, so that each is asked within its limits by all together. Make it with
// [NewServices]. It is safe for concurrent use.
type Services struct {
	mu   sync.Mutex
	made map[service]*llm.Service // guarded by mu
}

// service identifies a service and the account there. Keys are kept as a digest.
type service [sha256.Size]byte

func serviceOf(p settings.Provider) service {
	where := []string{AddressOf(p), string(p.Key), p.Profile, string(p.AccessKeyID), p.Project, p.Location, p.CredentialsFile}
	if where[0] == "" {
		where[0] = p.Kind
	}
	for _, name := range slices.Sorted(maps.Keys(p.Headers)) {
		where = append(where, name, string(p.Headers[name]))
	}
	return sha256.Sum256(fmt.Appendf(nil, "%q", where))
}

// NewServices returns services that nobody has asked yet.
func NewServices() *Services { return &Services{made: map[service]*llm.Service{}} }

// gate opens a gate to a service.
func (s *Services) gate(p settings.Provider) *llm.Gate {
	limits := llm.Limits{Calls: p.MaxConcurrency, RequestsPerMinute: p.RequestsPerMinute, TokensPerMinute: p.TokensPerMinute}
	if limits.Calls == 0 {
		limits.Calls = defaultConcurrency
	}
	if p.Kind == settings.Offline { // each vault has its own
		return llm.NewGate(limits)
	}
	key := serviceOf(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made[key] == nil {
		s.made[key] = llm.NewService()
	}
	return s.made[key].Gate(limits)
}

// gates are the gates of one vault, by provider. Runs and text recognition share them. It is safe for concurrent use.
type gates struct {
	services *Services
	mu       sync.Mutex
	made     map[string]*llm.Gate // by provider; guarded by mu
}

// Gate returns the one gate of a provider.
func (m *Set) Gate(name string, p settings.Provider) *llm.Gate {
	g := &m.gates
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.made[name] == nil {
		g.made[name] = g.services.gate(p)
	}
	return g.made[name]
}

// Close closes the gates.
func (m *Set) Close() {
	m.gates.mu.Lock()
	defer m.gates.mu.Unlock()
	for _, gate := range m.gates.made {
		gate.Close()
	}
}
