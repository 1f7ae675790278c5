package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/policy"
)

func TestLookup_modelsOnClouds(t *testing.T) {
	t.Parallel()
	const (
		vision, pdf, thinking, citations = policy.Vision, policy.PDF, policy.Thinking, policy.Citations
		tools, structured, caching       = policy.Tools, policy.StructuredOutput, policy.PromptCaching
	)
	for _, c := range []struct {
		provider, model string
		want            []policy.Capability
	}{
		{"bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", []policy.Capability{vision, pdf, thinking, citations, tools, structured, caching}},
		{"bedrock", "anthropic.claude-3-haiku-20240307-v1:0", []policy.Capability{vision, pdf, tools}},
		{"bedrock", "us.amazon.nova-micro-v1:0", []policy.Capability{tools, caching}},
		{"bedrock", "us.amazon.nova-2-lite-v1:0", []policy.Capability{vision, pdf, thinking, policy.VideoInput, tools}},
		{"bedrock", "us.amazon.nova-pro-v1:0", []policy.Capability{vision, pdf, policy.VideoInput, tools, caching}},
		{"bedrock", "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.meta.llama4-scout-17b-instruct-v1:0", []policy.Capability{vision, pdf, tools}},
		{"bedrock", "meta.llama3-1-70b-instruct-v1:0", []policy.Capability{tools}},
		{"bedrock", "openai.gpt-oss-120b-1:0", []policy.Capability{thinking, tools}},
		{"bedrock", "us.deepseek.r1-v1:0", []policy.Capability{thinking}},
		{"bedrock", "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123", nil},
		{"bedrock", "us.anthropic.claude-sonnet-5-5", []policy.Capability{vision, pdf, thinking, citations, tools, caching}},
		{"bedrock", "global.anthropic.claude-opus-4-8", []policy.Capability{vision, pdf, thinking, citations, tools, structured, caching}},
		{"vertex", "claude-sonnet-5-5", []policy.Capability{vision, pdf, thinking, citations, tools, structured, caching}},
		{"vertex", "claude-sonnet-4-5@20250929", []policy.Capability{vision, pdf, thinking, citations, tools, structured, caching}},
		{"vertex", "gemini-3-pro", []policy.Capability{vision, pdf, thinking, policy.AudioInput, policy.VideoInput, tools, structured, caching}},
	} {
		got := policy.Lookup(c.provider, c.model, nil, nil).List()
		if diff := cmp.Diff(append([]policy.Capability{policy.Text}, c.want...), got); diff != "" {
			t.Errorf("%s on %s (-want +got):\n%s", c.model, c.provider, diff)
		}
	}
}

func TestLimits_documentsOnBedrock(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]int64{
		"eu.anthropic.claude-sonnet-4-5-20250929-v1:0": 0, "anthropic.claude-3-7-sonnet-20250219-v1:0": 4718592, "us.amazon.nova-pro-v1:0": 4718592,
	} {
		if l := policy.Limits("bedrock", model); l.MaxPDFBytes != want || l.MaxImages != 20 {
			t.Errorf("%s: %d bytes of a PDF, %d images", model, l.MaxPDFBytes, l.MaxImages)
		}
	}
}
