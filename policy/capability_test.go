package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/policy"
)

func TestLookup_knowsNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider, model string
		vision, pdf     bool
		from            policy.Origin
	}{
		{"anthropic", "claude-sonnet-4-5", true, true, policy.FromTable},
		{"anthropic", "claude-3-haiku-20240307", true, true, policy.FromTable},
		{"anthropic", "claude-2.1", false, false, policy.FromTable},
		{"bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", true, true, policy.FromTable},
		{"openrouter", "anthropic/claude-sonnet-4.5", true, true, policy.FromTable},
		{"openai", "gpt-4o-mini", true, true, policy.FromTable},
		{"openai", "gpt-4.1", true, true, policy.FromTable},
		{"openai", "gpt-5", true, true, policy.FromTable},
		{"openai", "o3", true, true, policy.FromTable},
		{"openai", "o3-mini", false, false, policy.FromTable},
		{"openai", "gpt-3.5-turbo", false, false, policy.FromTable},
		{"openai", "something-new", true, false, policy.FromDefault},
		{"openai_chat", "something-new", false, false, policy.FromDefault},
		{"google", "gemini-3-pro", true, true, policy.FromTable},
		{"ollama", "llava:13b", true, false, policy.FromTable},
		{"ollama", "bakllava", true, false, policy.FromTable},
		{"ollama", "moondream", true, false, policy.FromTable},
		{"ollama", "minicpm-v:8b", true, false, policy.FromTable},
		{"ollama", "gemma3:4b", true, false, policy.FromTable},
		{"ollama", "gemma3:1b", false, false, policy.FromTable},
		{"ollama", "llama3.2-vision", true, false, policy.FromTable},
		{"ollama", "llama3.2", false, false, policy.FromTable},
		{"ollama", "llama4:scout", true, false, policy.FromTable},
		{"ollama", "qwen2.5vl:7b", true, false, policy.FromTable},
		{"ollama", "qwen3-vl:8b", true, false, policy.FromTable},
		{"ollama", "qwen3:8b", false, false, policy.FromTable},
		{"ollama", "mistral-small3.2", true, false, policy.FromTable},
		{"ollama", "deepseek-r1:14b", false, false, policy.FromTable},
		{"mistral", "pixtral-12b-2409", true, false, policy.FromTable},
		{"openai_chat", "OpenGVLab/InternVL3-8B", true, false, policy.FromTable},
		{"xai", "grok-4", true, false, policy.FromTable},
		{"xai", "grok-2-vision-1212", true, false, policy.FromTable},
		{"xai", "grok-3", false, false, policy.FromTable},
		{"offline", "", true, true, policy.FromTable},
	} {
		caps := policy.Lookup(c.provider, c.model, nil, nil)
		got := caps[policy.Vision]
		if caps.Has(policy.Vision) != c.vision || caps.Has(policy.PDF) != c.pdf || got.From != c.from {
			t.Errorf("%s %s: vision %v pdf %v from %s; want %v %v %s", c.provider, c.model, got.Has, caps.Has(policy.PDF), got.From, c.vision, c.pdf, c.from)
		}
		if !caps.Has(policy.Text) {
			t.Errorf("%s %s has no text", c.provider, c.model)
		}
	}
	for _, model := range []string{"deepseek-r1", "qwq:32b", "qwen3:4b", "gpt-oss:20b"} {
		if !policy.Lookup("ollama", model, nil, nil).Has(policy.Thinking) {
			t.Errorf("ollama %s has no thinking", model)
		}
	}
}

func TestLookup_toolsAndStructuredOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider, model   string
		tools, structured bool
	}{
		{"anthropic", "claude-sonnet-4-5-20250929", true, true},
		{"anthropic", "claude-opus-4-7", true, true},
		{"anthropic", "claude-haiku-4-5", true, true},
		{"openrouter", "anthropic/claude-opus-4.5", true, true},
		{"anthropic", "claude-opus-4-1-20250805", true, false},
		{"anthropic", "claude-sonnet-4-20250514", true, false},
		{"anthropic", "claude-3-7-sonnet-latest", true, false},
		{"openai", "gpt-4o-mini", true, true},
		{"openai", "gpt-4o-2024-05-13", true, false},
		{"openai", "gpt-5-mini", true, true},
		{"mistral", "mistral-medium-latest", true, true},
		{"mistral", "pixtral-12b-2409", true, true},
		{"deepseek", "deepseek-chat", true, false},
		{"ollama", "llama3.2:3b", true, true},
		{"ollama", "llama3.2-vision", false, true},
		{"ollama", "tinyllama", false, true},
		{"llamacpp", "whatever.gguf", false, true},
		{"openai_chat", "whatever", false, false},
		{"xai", "grok-3", true, true},
		{"offline", "", true, true},
	} {
		caps := policy.Lookup(c.provider, c.model, nil, nil)
		if caps.Has(policy.Tools) != c.tools || caps.Has(policy.StructuredOutput) != c.structured {
			t.Errorf("%s %s: tools %v structured %v, want %v %v", c.provider, c.model, caps.Has(policy.Tools), caps.Has(policy.StructuredOutput), c.tools, c.structured)
		}
	}
}

func TestLookup_orderOfOrigins(t *testing.T) {
	t.Parallel()
	list, err := policy.ExactOverride([]string{"vision"})
	if err != nil {
		t.Fatal(err)
	}
	empty, err := policy.ExactOverride(nil)
	if err != nil {
		t.Fatal(err)
	}
	flags, err := policy.FlagOverride(map[string]bool{"vision": false})
	if err != nil {
		t.Fatal(err)
	}
	probe := &policy.Probe{Flags: map[policy.Capability]bool{policy.Vision: true}}
	for _, c := range []struct {
		name     string
		override *policy.Override
		probe    *policy.Probe
		want     []policy.Capability
		vision   policy.Origin
		tools    policy.Origin
	}{
		{"table", nil, nil, []policy.Capability{"text", "thinking", "tools", "structured_output"}, policy.FromTable, policy.FromTable},
		{"probe before table", nil, probe, []policy.Capability{"text", "vision", "thinking", "tools", "structured_output"}, policy.FromProbe, policy.FromTable},
		{"a map sets single flags", flags, probe, []policy.Capability{"text", "thinking", "tools", "structured_output"}, policy.FromSettings, policy.FromTable},
		{"a list is the exact set", list, probe, []policy.Capability{"text", "vision"}, policy.FromSettings, policy.FromSettings},
		{"an empty list is text alone", empty, probe, []policy.Capability{"text"}, policy.FromSettings, policy.FromSettings},
	} {
		caps := policy.Lookup("ollama", "qwen3:8b", c.override, c.probe)
		if diff := cmp.Diff(c.want, caps.List()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if caps[policy.Vision].From != c.vision || caps[policy.Tools].From != c.tools {
			t.Errorf("%s: vision from %s, tools from %s; want %s, %s", c.name, caps[policy.Vision].From, caps[policy.Tools].From, c.vision, c.tools)
		}
	}
}

func TestOverride_refusesUnknownNames(t *testing.T) {
	t.Parallel()
	if o, err := policy.ExactOverride([]string{"visoin"}); err == nil {
		t.Errorf("got %v, want an error", o)
	}
	if o, err := policy.FlagOverride(map[string]bool{"text": false}); err == nil {
		t.Errorf("got %v, want an error", o)
	}
}

// TestLookup_namesToKnow: what models of these names can do is known without asking anybody.
func TestLookup_namesToKnow(t *testing.T) {
	t.Parallel()
	for want, names := range map[policy.Capability][]string{
		policy.Vision: {
			"anthropic/claude-3-haiku-20240307", "anthropic/claude-3-5-sonnet-latest", "anthropic/claude-opus-4-1", "anthropic/claude-sonnet-4-5", "bedrock/eu.anthropic.claude-3-7-sonnet-20250219-v1:0",
			"openai/gpt-4o", "openai/gpt-4o-mini", "openai/gpt-4.1", "openai/gpt-5-mini", "openai/o1", "openai/o3", "openai/o4-mini", "google/gemini-2.5-pro", "google/gemini-3-pro-preview",
			"ollama/llava:7b", "ollama/bakllava", "ollama/moondream:latest", "ollama/minicpm-v:8b", "ollama/gemma3:4b", "ollama/llama3.2-vision:11b", "ollama/llama4:scout",
			"ollama/qwen2.5vl:7b", "ollama/qwen3-vl:8b", "ollama/mistral-small3.1", "mistral/pixtral-12b-2409", "vllm/internvl3-8b", "xai/grok-2-vision-1212", "xai/grok-4",
		},
		policy.PDF:        {"anthropic/claude-3-5-sonnet-latest", "anthropic/claude-sonnet-4-5", "openai/gpt-4o", "openai/gpt-4.1", "openai/gpt-5", "openai/o3", "google/gemini-2.0-flash"},
		policy.AudioInput: {"google/gemini-2.0-flash", "google/gemini-3-pro"},
		policy.VideoInput: {"google/gemini-2.0-flash", "google/gemini-3-pro"},
		policy.Thinking:   {"ollama/deepseek-r1:8b", "ollama/qwq", "ollama/qwen3:8b", "ollama/gpt-oss:20b", "ollama/qwen3-vl:8b", "xai/grok-4"},
	} {
		for _, name := range names {
			provider, model, _ := strings.Cut(name, "/")
			got := policy.Lookup(provider, model, nil, nil)[want]
			if !got.Has || got.From != policy.FromTable || got.Source == "" || got.Checked == "" {
				t.Errorf("%s has %s: %+v, want it from the table", name, want, got)
			}
		}
	}
	for _, name := range []string{"ollama/llama3", "lmstudio/some-model", "openai_chat/mystery"} {
		provider, model, _ := strings.Cut(name, "/")
		if got := policy.Lookup(provider, model, nil, nil)[policy.Vision]; got.Has {
			t.Errorf("%s sees: %+v", name, got)
		}
	}
	for _, name := range []string{"anthropic/new-family-1", "openai/new-family-1", "google/new-family-1"} {
		provider, model, _ := strings.Cut(name, "/")
		if got := policy.Lookup(provider, model, nil, nil)[policy.Vision]; !got.Has || got.From != policy.FromDefault {
			t.Errorf("%s: %+v, want vision by default", name, got)
		}
	}
}
