package modelset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm/ollama"
	"github.com/vaultflow/vaultflow/llm/openai"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings"
)

// probeFile is the name of the file, in the state directory, that keeps what services said about their models.
const probeFile = "models.json"

// probeTimeout bounds one question about models.
const probeTimeout = 20 * time.Second

// Probed is what a service said about a model, and when.
type Probed struct {
	policy.Probe
	Price *cost.Price `json:"price,omitempty"` // nil: unknown
}

// policy returns the part that capabilities depend on, nil for nil.
func (p *Probed) policy() *policy.Probe {
	if p == nil {
		return nil
	}
	return &p.Probe
}

// probeKey identifies a question: another address or model is another question.
func probeKey(a settings.Alias, p settings.Provider) string {
	return p.Kind + " " + string(p.BaseURL) + " " + a.Model
}

// readProbes reads what was kept. A file that cannot be read counts as none.
func (m *Set) readProbes() map[string]*Probed {
	kept := map[string]*Probed{}
	data, err := os.ReadFile(m.kept)
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.log.Warn("what services said about models cannot be read; ask again with `vaultflow models --probe`", "err", err)
		return map[string]*Probed{}
	}
	for key, p := range kept {
		if p == nil {
			delete(kept, key)
		}
	}
	return kept
}

// Keep writes what services have said to the state directory. What other processes learned meanwhile stays.
func (m *Set) Keep() error {
	all := m.readProbes()
	m.mu.Lock()
	for key := range m.learned {
		all[key] = m.probes[key]
	}
	m.mu.Unlock()
	data, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(m.kept), 0o700)
	}
	if err != nil {
		return fmt.Errorf("keep what services said about models: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(m.kept), probeFile+"-*")
	if err != nil {
		return fmt.Errorf("keep what services said about models: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), m.kept)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep what services said about models: %w", err), os.Remove(f.Name()))
	}
	return nil
}

// Known returns what a service said about an alias's model, or nil when it was not asked.
func (m *Set) Known(alias string) *Probed {
	a, p, _ := m.settings.Alias(alias)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.probes[probeKey(a, p)]
}

// Probe asks a service what one of its models can do. asked is false for services that do not say: all but Ollama and
// OpenRouter.
func (m *Set) Probe(ctx context.Context, alias string) (asked bool, err error) {
	a, p, ok := m.settings.Alias(alias)
	if !ok {
		return false, nil
	}
	tells := p.Kind == "ollama" || p.Kind == "openrouter"
	if err := m.refused(a.Provider, p); tells && err != nil {
		return true, err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var got *Probed
	switch p.Kind {
	case "ollama":
		got, err = askOllama(ctx, a, p)
	case "openrouter":
		got, err = askOpenRouter(ctx, a, p)
	default:
		return false, nil
	}
	if err != nil {
		return true, err
	}
	got.Checked = time.Now().Format(time.DateOnly)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.probes[probeKey(a, p)], m.learned[probeKey(a, p)] = got, true
	return true, nil
}

// askOllama asks a local server, which lists all capabilities of a model: one that it does not name is missing.
func askOllama(ctx context.Context, a settings.Alias, p settings.Provider) (*Probed, error) {
	c, err := ConfigOf(a.Provider, p)
	if err != nil {
		return nil, err
	}
	shown, err := ollama.New(c).Show(ctx, a.Model)
	if err != nil {
		return nil, err
	}
	got := &Probed{Probe: policy.Probe{Flags: map[policy.Capability]bool{}, ContextWindow: shown.ContextLength, Source: "Ollama's /api/show"}}
	for _, c := range policy.AllCapabilities() {
		got.Flags[c] = c == policy.Text || shown.Has(string(c))
	}
	got.Flags[policy.AudioInput] = shown.Has("audio")
	got.Flags[policy.StructuredOutput] = shown.Has("completion") // Ollama holds every model that writes text to a grammar (the member `format`)
	return got, nil
}

// askOpenRouter looks a model up in OpenRouter's list, which does not mention citations.
func askOpenRouter(ctx context.Context, a settings.Alias, p settings.Provider) (*Probed, error) {
	c, err := ConfigOf(a.Provider, p)
	if err != nil {
		return nil, err
	}
	list, err := openai.New(c).Models(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(list, func(l openai.Listed) bool { return l.ID == a.Model })
	if i < 0 {
		return nil, fmt.Errorf("%s lists no model %q among its %d", a.Provider, a.Model, len(list))
	}
	l := list[i]
	got := &Probed{Price: l.Price, Probe: policy.Probe{ContextWindow: l.ContextLength, Source: "OpenRouter's /models", Flags: map[policy.Capability]bool{
		policy.Vision: l.Takes("image"), policy.PDF: l.Takes("file"), policy.AudioInput: l.Takes("audio"), policy.VideoInput: l.Takes("video"),
		policy.Tools: l.Allows("tools"), policy.StructuredOutput: l.Allows("structured_outputs"), policy.Thinking: l.Allows("reasoning"),
	}}}
	if l.Price != nil && l.Price.Cached > 0 {
		got.Flags[policy.PromptCaching] = true
	}
	return got, nil
}
