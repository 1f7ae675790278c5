// Package modelset makes models of the aliases and providers in the settings: it knows every adapter, what services said
// about their models, and the limits of each provider.
package modelset

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/step"
)

// Set makes a model of each alias in the settings. All aliases of a provider share one client. It is safe for concurrent use.
type Set struct {
	settings *settings.Settings
	log      *slog.Logger
	kept     string                  // path of the file with the answers to `models --probe`
	refusal  func(what string) error // reports why no service may be asked

	mu      sync.Mutex
	clients map[string]llm.Provider // by provider name; guarded by mu
	probes  map[string]*Probed      // by question, see probeKey; guarded by mu
	learned map[string]bool         // the questions that this process asked; guarded by mu
	tried   map[string]time.Time    // when an alias was last probed, successfully or not; guarded by mu
	gates   gates
}

// New returns the models of the settings, with what was learned about them earlier. refusal returns an error where no
// service may be asked, as in a vault that is not trusted. The limits of services hold for all sets with these services together; close
// the set when it is no longer used.
func New(s *settings.Settings, log *slog.Logger, stateDir string, services *Services, refusal func(what string) error) *Set {
	m := &Set{
		settings: s, log: log, kept: filepath.Join(stateDir, probeFile), refusal: refusal,
		clients: map[string]llm.Provider{}, learned: map[string]bool{}, tried: map[string]time.Time{}, gates: gates{services: services, made: map[string]*llm.Gate{}},
	}
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

// Probing is the models of runs: a local server is asked about its model first, and its answer overrides the table. What it says is
// kept for later, when it does not answer.
type Probing struct{ Set *Set }

var _ step.Models = Probing{}

// Model implements step.Models. Without an answer the table decides.
func (p Probing) Model(ctx context.Context, alias string) (step.Model, error) {
	m := p.Set
	if a, provider, _ := m.settings.Alias(alias); provider.Kind == "ollama" && a.Model != "" && m.due(alias) {
		before := m.Known(alias)
		_, err := m.Probe(ctx, alias)
		if after := m.Known(alias); err == nil && !reflect.DeepEqual(before, after) {
			err = m.Keep()
		}
		if err != nil {
			m.log.Debug("model not probed, or the answer not kept", "model", alias, "err", err)
		}
	}
	return m.Model(ctx, alias)
}

// Unasked is the models of a preview, which calls none of them: a model without a key will do. A local server is asked as for a run.
type Unasked struct{ Set *Set }

var _ step.Models = Unasked{}

// Model implements step.Models.
func (u Unasked) Model(ctx context.Context, alias string) (step.Model, error) {
	model, err := Probing(u).Model(ctx, alias)
	if model.ID != "" {
		return model, nil
	}
	return model, err
}

// due reports whether an alias was not probed for a while, and marks it as probed now.
func (m *Set) due(alias string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if now.Sub(m.tried[alias]) < probeAgain {
		return false
	}
	m.tried[alias] = now
	return true
}

var _ step.Models = (*Set)(nil)

// Model implements step.Models. It makes no call: the table describes an Ollama server that was not probed.
func (m *Set) Model(_ context.Context, alias string) (step.Model, error) {
	a, p, ok := m.settings.Alias(alias)
	if keys := m.settings.ModelWaits(alias); !ok && len(keys) > 0 {
		return step.Model{}, failure.New(failure.Permission, "`vaultflow trust` shows what it would reach, and asks you",
			"the model %q waits for your approval: %s", cmp.Or(alias, m.settings.Models.Default), strings.Join(keys, ", "))
	}
	if !ok {
		known := m.settings.AliasNames()
		hint := "there are: " + strings.Join(known, ", ")
		if near := diag.Nearest(alias, known); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return step.Model{}, failure.New(failure.UnknownModel, hint, "no model alias %q in the settings", alias)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.probes[probeKey(a, p)]
	probe := known.policy()
	override, err := overrideOf(a.Capabilities)
	if err != nil {
		return step.Model{}, failure.New(failure.InvalidSettings, "", "models.aliases.%s.capabilities: %v", alias, err)
	}
	model := step.Model{
		Alias: alias, ID: a.Model, Limits: a.Limits, ProviderName: a.Provider, Kind: limitsOf(p), Service: placeOf(AddressOf(p)), ContextWindow: a.ContextWindow, MaxOutput: a.MaxOutputTokens,
		Temperature: a.Temperature, Thinking: a.Thinking, Citations: a.Citations, Capabilities: policy.Lookup(limitsOf(p), a.Model, override, probe),
	}
	if model.ContextWindow == 0 {
		model.ContextWindow = p.NumCtx
	}
	if model.ContextWindow == 0 && p.Kind == "ollama" {
		model.ContextWindow = localWindow
		switch {
		case probe == nil:
			model.WindowGuess = "the server did not answer"
		case probe.ContextWindow == 0:
			model.WindowGuess = "the server does not say"
		default:
			model.ContextWindow = min(localWindow, probe.ContextWindow)
		}
	}
	if model.ContextWindow == 0 && probe != nil {
		model.ContextWindow = probe.ContextWindow
	}
	price := priceOf(a, p).Amounts
	model.Price, model.Dearest = price, m.Dearest()
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

// limitsOf returns the kind whose limits and capabilities a provider has. OpenAI's own address is OpenAI; nothing is known
// about other servers that speak its format.
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

// refused returns an error when a provider may not be asked. The built-in one always may.
func (m *Set) refused(name string, p settings.Provider) error {
	if p.Kind == settings.Offline {
		return nil
	}
	return m.refusal("only the offline model runs, and nothing is sent to " + name)
}

// Dearest returns the highest prices of any alias in the settings, or nil when they have none above zero. Prices that ship with
// vaultflow say nothing about a model that the user chose, which may cost more.
func (m *Set) Dearest() *cost.Price {
	var top *cost.Price
	for _, alias := range m.settings.AliasNames() {
		a, _, ok := m.settings.Alias(alias)
		price := ownPrice(a)
		if !ok || price == nil || *price == (cost.Price{}) {
			continue
		}
		if top == nil {
			top = &cost.Price{}
		}
		top.Input, top.Output = max(top.Input, price.Input, price.CacheWrite), max(top.Output, price.Output)
	}
	return top
}

// client returns the one client of a provider, with its limits. It does not retry: the step decides about that. mu is held.
func (m *Set) client(name string, p settings.Provider) (llm.Provider, error) {
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
	c := m.Gate(name, p).Wrap(raw)
	m.clients[name] = c
	return c, nil
}
