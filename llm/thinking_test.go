package llm_test

import (
	"testing"

	"github.com/vaultflow/vaultflow/llm"
)

func TestClaudeThinking(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model, level string
		tokens       int
		effort       string
	}{
		{"claude-sonnet-4-5", "low", 4096, ""},
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "high", 24576, ""},
		{"claude-opus-4-1@20250805", "medium", 10240, ""},
		{"claude-3-7-sonnet@20250219", "12", 1024, ""},
		{"anthropic.claude-opus-4-6-v1", "high", 0, "high"},
		{"anthropic.claude-opus-4-6-v1", "3000", 3000, ""},
		{"claude-opus-4-7", "3000", 0, "low"},
		{"claude-opus-4-7", "5000", 0, "medium"},
		{"claude-sonnet-5", "50000", 0, "high"},
		{"claude-sonnet-5", "off", 0, ""},
		{"claude-sonnet-5", "", 0, ""},
		{"claude-sonnet-4-5", "lots", 0, ""},
		{"claude-sonnet-4-5", "-3", 0, ""},
	} {
		if tokens, effort := llm.ClaudeThinking(c.model, c.level); tokens != c.tokens || effort != c.effort {
			t.Errorf("%s at %q: got %d, %q, want %d, %q", c.model, c.level, tokens, effort, c.tokens, c.effort)
		}
	}
}

func TestClaude_familiesSince5(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model        string
		unasked      bool
		kind, effort string // of "off"
		binds        bool
	}{
		{"claude-sonnet-4-5", false, "disabled", "", false},
		{"eu.anthropic.claude-opus-4-8", false, "disabled", "", false},
		{"claude-sonnet-5", true, "disabled", "", false},
		{"claude-sonnet-5@20260630", true, "disabled", "", false},
		{"claude-haiku-5-5", true, "disabled", "", true},
		{"claude-sonnet-5-5", true, "between_tools", "", true},
		{"us.anthropic.claude-sonnet-5-5", true, "between_tools", "", true},
		{"claude-opus-5", true, "disabled", "", false},
		{"claude-opus-5-5", true, "", "low", true},
		{"claude-fable-5", true, "", "low", false},
		{"claude-fable-5-1", true, "", "low", true},
	} {
		kind, effort := llm.ClaudeOff(c.model)
		if kind != c.kind || effort != c.effort || llm.ClaudeThinksUnasked(c.model) != c.unasked || llm.ClaudeBindsThinking(c.model) != c.binds {
			t.Errorf("%s: off is %q %q, thinks %v, binds %v", c.model, kind, effort, llm.ClaudeThinksUnasked(c.model), llm.ClaudeBindsThinking(c.model))
		}
	}
}

func TestThinkingRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model, level string
		want         int
	}{
		{"claude-sonnet-4-5", "", 0},
		{"claude-sonnet-4-5", "3", 1024},
		{"claude-sonnet-4-5", "high", 24576},
		{"claude-sonnet-5-5", "", 10240},
		{"claude-sonnet-5-5", "off", 0},
		{"claude-sonnet-5-5", "low", 4096},
		{"claude-sonnet-5-5", "600", 600},
		{"claude-opus-5-5", "off", 4096},
		{"gpt-5", "", 0},
		{"gpt-5", "on", 10240},
		{"gpt-5", "lots", 24576},
	} {
		if got := llm.ThinkingRoom(c.model, c.level); got != c.want {
			t.Errorf("%s at %q: %d, want %d", c.model, c.level, got, c.want)
		}
	}
}

func TestClaudeTemperature(t *testing.T) {
	t.Parallel()
	half := 0.5
	for model, takes := range map[string]bool{
		"claude-sonnet-4-5": true, "claude-3-haiku-20240307": true, "claude-opus-4-6": true, "eu.anthropic.claude-opus-4-6-v1": true,
		"claude-opus-4-7": false, "claude-opus-4-8": false, "claude-sonnet-5": false,
	} {
		if got := llm.ClaudeTemperature(model, &half); (got != nil) != takes {
			t.Errorf("%s: got %v, want it sent: %v", model, got, takes)
		}
	}
}
