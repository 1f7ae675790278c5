package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/step"
)

// modelSet makes models of the settings' aliases. One client serves all aliases of a provider. It is safe for concurrent use.
type modelSet struct {
	settings *settings.Settings
	log      *slog.Logger

	mu      sync.Mutex
	clients map[string]llm.Provider // by provider name; guarded by mu
	gates   gates
	probes  map[string]*probed      // by what was asked, see probeKey; guarded by mu
	tried   map[string]time.Time    // when an alias was last probed, well or badly; guarded by mu
	kept    string                  // path of the file that keeps what was learned by `models --probe`
	refusal func(what string) error // why no service may be asked; nil: all may
}

func newModelSet(s *settings.Settings, log *slog.Logger, stateDir string) *modelSet {
	m := &modelSet{settings: s, log: log, clients: map[string]llm.Provider{}, tried: map[string]time.Time{}, kept: filepath.Join(stateDir, probeFile)}
	m.probes = m.readProbes()
	return m
}

// How local servers are probed.
const (
	probeAgain = 10 * time.Minute // a server may be restarted with another model
	// localWindow is the context that is reserved on an Ollama server when the settings name none: what models can take
	// may be more than the machine's memory holds, and the server's own default of 4096 is too small for pictures.
	localWindow = 16384
)

// probing are models about to be asked: what a local server says of its model goes before the table.
type probing struct{ *modelSet }

// Model implements step.Models. A server that does not answer leaves the table's word.
func (p probing) Model(ctx context.Context, alias string) (step.Model, error) {
	if a, provider, _ := p.settings.Alias(alias); provider.Kind == "ollama" && a.Model != "" && p.due(alias) {
		if _, err := p.probe(ctx, alias); err != nil {
			p.log.Debug("model not probed", "model", alias, "err", err)
		}
	}
	return p.modelSet.Model(ctx, alias)
}

// due tells whether an alias was not probed for a while, and takes it as probed now.
func (m *modelSet) due(alias string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if now.Sub(m.tried[alias]) < probeAgain {
		return false
	}
	m.tried[alias] = now
	return true
}

// Model implements step.Models. It makes no call: an Ollama server that was not probed is taken from the table.
func (m *modelSet) Model(_ context.Context, alias string) (step.Model, error) {
	a, p, ok := m.settings.Alias(alias)
	if _, _, waits := m.settings.Withheld(alias); !ok && waits {
		return step.Model{}, engine.Fail(engine.CodePermission, "`vaultflow trust` shows what it would reach, and asks you", "the model %q waits for your yes", alias)
	}
	if !ok {
		known := m.settings.AliasNames()
		hint := "there are: " + strings.Join(known, ", ")
		if near := directives.Nearest(alias, known); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return step.Model{}, engine.Fail(engine.CodeUnknownModel, hint, "no model alias %q in the settings", alias)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.probes[probeKey(a, p)]
	probe := known.probe()
	override, err := overrideOf(a.Capabilities)
	if err != nil {
		return step.Model{}, engine.Fail(engine.CodeInvalidSettings, "", "models.aliases.%s.capabilities: %v", alias, err)
	}
	model := step.Model{
		Alias: alias, ID: a.Model, Limits: policy.OwnLimits(a.Limits), ProviderName: a.Provider, Kind: limitsOf(p), ContextWindow: a.ContextWindow, MaxOutput: a.MaxOutputTokens,
		Temperature: a.Temperature, Thinking: a.Thinking, Citations: a.Citations, Capabilities: policy.Lookup(limitsOf(p), a.Model, override, probe),
	}
	if model.ContextWindow == 0 {
		model.ContextWindow = p.NumCtx
	}
	if model.ContextWindow == 0 && p.Kind == "ollama" {
		model.ContextWindow = localWindow
		if probe != nil && probe.ContextWindow > 0 {
			model.ContextWindow = min(localWindow, probe.ContextWindow)
		}
	}
	if model.ContextWindow == 0 && probe != nil {
		model.ContextWindow = probe.ContextWindow
	}
	price := priceOf(a, p)
	model.Price, model.Dearest = price, m.dearest()
	if price == nil && known != nil {
		model.Price = known.Price // for bounds on costs; what a call has cost, the service says itself
	}
	model.Retry = llm.RetryPolicy{Notify: func(e llm.RetryEvent) {
		m.log.Warn("request repeated", "provider", a.Provider, "attempt", e.Attempt, "err", e.Err)
	}}
	client, err := m.client(a.Provider, p)
	if err != nil {
		return model, err
	}
	model.Client = llm.Priced(client, price)
	return model, nil
}

// limitsOf is whose limits and capabilities a provider has: OpenAI's own address is OpenAI, others that speak its format
// are servers of which nothing is known.
func limitsOf(p settings.Provider) string {
	if p.Kind == "openai_chat" && strings.HasPrefix(string(p.BaseURL), "https://api.openai.com/") {
		return "openai"
	}
	return p.Kind
}

func overrideOf(c settings.Capabilities) (*policy.Override, error) {
	switch {
	case c.IsExact:
		return policy.ExactOverride(c.Exact)
	case len(c.Flags) > 0:
		return policy.FlagOverride(c.Flags)
	}
	return nil, nil //nolint:nilnil // nothing was said
}

// priceOf is what an alias costs: what the settings say, and nothing for the built-in model. It is nil when not known.
func priceOf(a settings.Alias, p settings.Provider) *llm.Price {
	switch {
	case a.Price.Known():
		price := &llm.Price{Input: *a.Price.Input, Output: *a.Price.Output}
		if a.Price.Cached != nil {
			price.Cached = *a.Price.Cached
		}
		if a.Price.CacheWrite != nil {
			price.CacheWrite = *a.Price.CacheWrite
		}
		return price
	case p.Kind == "offline":
		return &llm.Price{}
	}
	return nil
}

// refused says why a provider is not asked: the vault is not trusted, and the provider is not the built-in one.
func (m *modelSet) refused(name string, p settings.Provider) error {
	if m.refusal == nil || p.Kind == settings.Offline {
		return nil
	}
	return m.refusal("only the offline model runs, and nothing is sent to " + name)
}

// dearest holds the highest prices of any alias; it is nil when the settings know no price of a model that costs anything.
func (m *modelSet) dearest() *llm.Price {
	var top *llm.Price
	for _, alias := range m.settings.AliasNames() {
		a, p, ok := m.settings.Alias(alias)
		price := priceOf(a, p)
		if !ok || price == nil || *price == (llm.Price{}) {
			continue
		}
		if top == nil {
			top = &llm.Price{}
		}
		top.Input, top.Output = max(top.Input, price.Input, price.CacheWrite), max(top.Output, price.Output)
	}
	return top
}

// client is the one client of a provider, with its limits. It does not repeat calls: how often they are is the step's
// matter.
func (m *modelSet) client(name string, p settings.Provider) (llm.Provider, error) {
	if err := m.refused(name, p); err != nil {
		return nil, err
	}
	if c, ok := m.clients[name]; ok {
		return c, nil
	}
	raw, err := newProvider(name, p)
	if err != nil {
		return nil, err
	}
	c := m.gates.of(name, p).Wrap(raw)
	m.clients[name] = c
	return c, nil
}
