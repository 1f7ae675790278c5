package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Capability is something a model can take or do.
type Capability string

// The capabilities.
const (
	Text             Capability = "text"
	Vision           Capability = "vision"
	PDF              Capability = "pdf"
	Thinking         Capability = "thinking"
	Citations        Capability = "citations"
	AudioInput       Capability = "audio_input"
	VideoInput       Capability = "video_input"
	Tools            Capability = "tools"
	StructuredOutput Capability = "structured_output"
	PromptCaching    Capability = "prompt_caching"
)

// AllCapabilities lists them in display order.
func AllCapabilities() []Capability {
	return []Capability{Text, Vision, PDF, Thinking, Citations, AudioInput, VideoInput, Tools, StructuredOutput, PromptCaching}
}

// Origin is where a fact about a model comes from.
type Origin string

// The origins, in order of precedence.
const (
	FromSettings Origin = "settings"
	FromProbe    Origin = "probe"
	FromTable    Origin = "table"
	FromDefault  Origin = "default"
)

// Learned is whether a model has a capability, and the source of this.
type Learned struct {
	Has     bool   `json:"has"`
	From    Origin `json:"from"`
	Source  string `json:"source,omitempty"`  // of the table's row, or the server that was asked
	Checked string `json:"checked,omitempty"` // month when the source was read, or day when the server was asked
}

// Capabilities holds an entry for every capability.
type Capabilities map[Capability]Learned

// Has reports whether the model has the capability. Every model has Text.
func (c Capabilities) Has(want Capability) bool { return want == Text || c[want].Has }

// Without returns the capabilities except one.
func (c Capabilities) Without(one Capability) Capabilities {
	c = maps.Clone(c)
	delete(c, one)
	return c
}

// List returns the model's capabilities, in the order of AllCapabilities.
func (c Capabilities) List() []Capability {
	var list []Capability
	for _, one := range AllCapabilities() {
		if c.Has(one) {
			list = append(list, one)
		}
	}
	return list
}

// Override holds an alias's capabilities from the settings. A list is the exact set (text is always included); a map sets
// single flags and leaves the others to detection.
type Override struct {
	Exact []Capability        `json:"exact,omitempty"`
	Flags map[Capability]bool `json:"flags,omitempty"`
	exact bool                // the list may be empty
}

// ExactOverride returns the override of a list. Names must be known.
func ExactOverride(names []string) (*Override, error) {
	o := &Override{exact: true}
	for _, name := range names {
		c, err := capability(name)
		if err != nil {
			return nil, err
		}
		o.Exact = append(o.Exact, c)
	}
	return o, nil
}

// FlagOverride returns the override of a map. Names must be known; text cannot be turned off.
func FlagOverride(flags map[string]bool) (*Override, error) {
	o := &Override{Flags: map[Capability]bool{}}
	names := make([]string, 0, len(flags))
	for name := range flags {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c, err := capability(name)
		if err != nil {
			return nil, err
		}
		if c == Text && !flags[name] {
			return nil, fmt.Errorf("capability text cannot be turned off")
		}
		o.Flags[c] = flags[name]
	}
	return o, nil
}

func capability(name string) (Capability, error) {
	c := Capability(strings.ToLower(strings.TrimSpace(name)))
	all := AllCapabilities()
	if !slices.Contains(all, c) {
		return "", fmt.Errorf("unknown capability %q; known are %v", name, all)
	}
	return c, nil
}

// says returns the override's decision about a capability, if any.
func (o *Override) says(c Capability) (has, decided bool) {
	switch {
	case o == nil:
		return false, false
	case o.exact || len(o.Exact) > 0:
		return slices.Contains(o.Exact, c), true
	}
	has, decided = o.Flags[c]
	return has, decided
}

// Probe is what a server reported about a model: flags, and the size of its context window in tokens (0 if unknown).
type Probe struct {
	Flags         map[Capability]bool `json:"flags,omitempty"`
	ContextWindow int                 `json:"context_window,omitempty"`
	Source        string              `json:"source,omitempty"`  // the address that was asked
	Checked       string              `json:"checked,omitempty"` // the day, 2026-11-30
}

// firstParty holds the families whose models read pictures unless the table says otherwise. Local and compatible servers can
// run any model, so they start with text.
var firstParty = map[string]bool{"anthropic": true, "openai": true, "openai_responses": true, "google": true, "vertex": true}

// Lookup returns a model's capabilities. For each, the first source that knows decides: settings, probe, table by provider
// and model name, default. provider is the provider's name in the tables (anthropic, openai, ollama, openai_chat for a
// compatible server, …), model the provider's own id.
func Lookup(provider, model string, override *Override, probe *Probe) Capabilities {
	provider = strings.ToLower(provider)
	row := capabilityRow(provider, model)
	caps := Capabilities{}
	for _, c := range AllCapabilities() {
		from := row
		if adding := addingRow(provider, model, c); adding != nil {
			from = adding
		}
		caps[c] = learn(c, provider, from, override, probe)
	}
	return caps
}

func learn(c Capability, provider string, row *modelRow, override *Override, probe *Probe) Learned {
	if c == Text {
		return Learned{Has: true, From: FromDefault}
	}
	if has, decided := override.says(c); decided {
		return Learned{Has: has, From: FromSettings}
	}
	if probe != nil {
		if has, decided := probe.Flags[c]; decided {
			return Learned{Has: has, From: FromProbe, Source: probe.Source, Checked: probe.Checked}
		}
	}
	if row != nil {
		return Learned{Has: slices.Contains(row.Flags, c), From: FromTable, Source: row.Source, Checked: row.Checked}
	}
	return Learned{Has: c == Vision && firstParty[provider], From: FromDefault}
}
