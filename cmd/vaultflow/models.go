package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/activity"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/ollama"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings"
)

// defaultConcurrency is how many calls a provider gets at once when the settings say nothing.
const defaultConcurrency = 4

// modelSet makes models of the settings' aliases. One client serves all aliases of a provider, so that its limit on
// calls holds over all of them. It is safe for concurrent use.
type modelSet struct {
	settings *settings.Settings
	log      *slog.Logger

	mu      sync.Mutex
	clients map[string]llm.Provider  // by provider name; guarded by mu
	probes  map[string]*policy.Probe // by alias; guarded by mu
	tried   map[string]time.Time     // when an alias was last probed, well or badly; guarded by mu
}

func newModelSet(s *settings.Settings, log *slog.Logger) *modelSet {
	return &modelSet{settings: s, log: log, clients: map[string]llm.Provider{}, probes: map[string]*policy.Probe{}, tried: map[string]time.Time{}}
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

// Model implements activity.Models. A server that does not answer leaves the table's word.
func (p probing) Model(ctx context.Context, alias string) (activity.Model, error) {
	if p.due(alias) {
		if err := p.probe(ctx, alias); err != nil {
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

// Model implements activity.Models. It makes no call: an Ollama server that was not probed is taken from the table.
func (m *modelSet) Model(_ context.Context, alias string) (activity.Model, error) {
	a, p, ok := m.settings.Alias(alias)
	if !ok {
		known := m.settings.AliasNames()
		hint := "there are: " + strings.Join(known, ", ")
		if near := directives.Nearest(alias, known); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return activity.Model{}, engine.Fail(engine.CodeUnknownModel, hint, "no model alias %q in the settings", alias)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	probe := m.probes[alias]
	override, err := overrideOf(a.Capabilities)
	if err != nil {
		return activity.Model{}, engine.Fail(engine.CodeInvalidSettings, "", "models.aliases.%s.capabilities: %v", alias, err)
	}
	model := activity.Model{
		Alias: alias, ID: a.Model, ProviderName: a.Provider, Kind: limitsOf(p), ContextWindow: a.ContextWindow, MaxOutput: a.MaxOutputTokens,
		Temperature: a.Temperature, Thinking: a.Thinking, Capabilities: policy.Lookup(limitsOf(p), a.Model, override, probe),
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
	model.Price, model.Dearest = priceOf(a, p), m.dearest()
	model.Retry = llm.RetryPolicy{Notify: func(e llm.RetryEvent) {
		m.log.Warn("request repeated", "provider", a.Provider, "attempt", e.Attempt, "err", e.Err)
	}}
	client, err := m.client(a.Provider, p)
	if err != nil {
		return model, err
	}
	model.Client = llm.Priced(client, model.Price)
	return model, nil
}

// limitsOf is whose limits and capabilities a provider has: OpenAI's own address is OpenAI, others that speak its format
// are servers of which nothing is known.
func limitsOf(p settings.Provider) string {
	if p.Kind == "openai_chat" && strings.HasPrefix(p.BaseURL, "https://api.openai.com/") {
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
		return &llm.Price{Input: *a.Price.Input, Output: *a.Price.Output}
	case p.Kind == "offline":
		return &llm.Price{}
	}
	return nil
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
		top.Input, top.Output = max(top.Input, price.Input), max(top.Output, price.Output)
	}
	return top
}

// client is the one client of a provider, with its limit on calls at the same time. It does not repeat calls: how often
// they are is the step's matter.
func (m *modelSet) client(name string, p settings.Provider) (llm.Provider, error) {
	if c, ok := m.clients[name]; ok {
		return c, nil
	}
	raw, err := newProvider(name, p)
	if err != nil {
		return nil, err
	}
	limit := p.MaxConcurrency
	if limit == 0 {
		limit = defaultConcurrency
	}
	c := llm.Limit(raw, limit)
	m.clients[name] = c
	return c, nil
}

// probe asks local servers what their models can do.
func (m *modelSet) probe(ctx context.Context, alias string) error {
	a, p, ok := m.settings.Alias(alias)
	if !ok || p.Kind != "ollama" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	shown, err := ollama.New(llm.Config{Name: a.Provider, BaseURL: p.BaseURL}).Show(ctx, a.Model)
	if err != nil {
		return err
	}
	probe := &policy.Probe{Flags: map[policy.Capability]bool{}, ContextWindow: shown.ContextLength}
	for _, c := range policy.AllCapabilities() {
		probe.Flags[c] = c == policy.Text
	}
	for _, c := range shown.Capabilities {
		probe.Flags[policy.Capability(c)] = true
		if c == "completion" { // Ollama holds every model that writes text to a grammar (the member `format`)
			probe.Flags[policy.StructuredOutput] = true
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.probes[alias] = probe
	return nil
}

// modelLine is a model as `models` prints it.
type modelLine struct {
	Type         string              `json:"type"`
	Alias        string              `json:"alias"`
	Default      bool                `json:"default"`
	Provider     string              `json:"provider"`
	Model        string              `json:"model"`
	Ready        bool                `json:"ready"`
	Problem      string              `json:"problem,omitempty"`
	Capabilities policy.Capabilities `json:"capabilities"`
}

func newModels(g *globals) *cobra.Command {
	var probe bool
	cmd := &cobra.Command{
		Use: "models", Short: "List model aliases with their capabilities and where each was learned", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := g.open()
			if err != nil {
				return err
			}
			defer a.close()
			for _, alias := range a.settings.AliasNames() {
				if err := g.print2(a.modelLine(cmd.Context(), alias, probe)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&probe, "probe", false, "ask local servers what their models can do")
	return cmd
}

func (a *app) modelLine(ctx context.Context, alias string, probe bool) modelLine {
	said, p, _ := a.settings.Alias(alias)
	line := modelLine{Type: "model", Alias: alias, Default: alias == a.settings.Models.Default, Provider: said.Provider, Model: said.Model}
	if probe {
		if err := a.models.probe(ctx, alias); err != nil {
			line.Problem = "not probed: " + err.Error()
		}
	}
	model, err := a.models.Model(ctx, alias)
	line.Ready, line.Capabilities = err == nil, model.Capabilities
	if err != nil {
		line.Problem = err.Error()
		if p.APIKeyEnv != "" && p.Key == "" {
			line.Problem += " (" + p.APIKeyEnv + " is not set)"
		}
	}
	return line
}

// print2 prints a model for people as two lines: what it is, and what it can do.
func (g *globals) print2(l modelLine) error {
	return g.print(l, func(w io.Writer) {
		mark, state := " ", "ready"
		if l.Default {
			mark = "*"
		}
		if !l.Ready {
			state = l.Problem
		} else if l.Problem != "" {
			state += ", " + l.Problem
		}
		fmt.Fprintf(w, "%s %-12s %s/%s  %s\n", mark, l.Alias, l.Provider, l.Model, state)
		var can []string
		for _, c := range l.Capabilities.List() {
			can = append(can, fmt.Sprintf("%s (%s)", c, l.Capabilities[c].From))
		}
		fmt.Fprintf(w, "               %s\n", strings.Join(can, ", "))
	})
}
