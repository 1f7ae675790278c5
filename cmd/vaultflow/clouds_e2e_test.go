package main

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// TestModels_clouds asks models of clouds through the real command line, with the keys that only they have.
func TestModels_clouds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wire            llmtest.Wire
		model, provider string
	}{
		"bedrock":          {llmtest.Bedrock{}, "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "kind: bedrock, region: eu-central-1"},
		"gemini on vertex": {llmtest.Gemini{Vertex: true}, "gemini-3-flash", "kind: vertex, project: notes-1"},
		"claude on vertex": {llmtest.Anthropic{Vertex: true}, "claude-sonnet-4-5@20250929", "kind: vertex, project: notes-1, location: global"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, adapter{kind: "offline", wire: c.wire}, "", llmtest.Reply{Answer: llmtest.Answer{Text: "Seen.", Input: 1000, Output: 5}})
			b.write("settings.yaml", "models: {default: seer, aliases: {seer: {provider: lab, model: '"+c.model+"'}}}\n"+
				"providers: {lab: {"+c.provider+", base_url: '"+b.server.URL+"', api_key_env: LAB_KEY}}\n")
			b.paint("a.png", 3)
			b.write("Note.md", "Before ![[a.png]] after\n")
			b.write("Workflows/Look.md", lookAll)
			out, _ := b.run(exitDone, "models")
			if !strings.Contains(out, "ready") || !strings.Contains(out, "vision (table)") || !strings.Contains(out, "pdf (table)") {
				t.Errorf("models says:\n%s", out)
			}
			b.run(exitDone, "run", "Look")
			if parts := b.onlyRequest(); images(parts) != 1 || !strings.Contains(texts(parts), "What is there?") {
				t.Errorf("parts %+v", parts)
			}
			b.holds("Out.md", "Seen.\n")
			b.finish()
		})
	}
}

// TestModels_cloudsWithoutAnAccount says what to add; nothing is asked.
func TestModels_cloudsWithoutAnAccount(t *testing.T) {
	t.Parallel()
	for provider, want := range map[string]string{
		"kind: bedrock, region: eu-central-1":                      "AWS_BEARER_TOKEN_BEDROCK",
		"kind: bedrock, api_key_env: LAB_KEY":                      "region",
		"kind: vertex, api_key_env: LAB_KEY":                       "project",
		"kind: bedrock, region: eu-central-1, access_key_id: some": "set access_key_id and secret_access_key together",
	} {
		b := newBench(t, adapter{kind: "offline", wire: llmtest.Bedrock{}}, "")
		b.write("settings.yaml", "models: {default: seer, aliases: {seer: {provider: lab, model: m}}}\nproviders: {lab: {"+provider+"}}\n")
		b.write("Workflows/Ask.md", "## Ask\n@output file: Out\n\nHi\n")
		if _, said := b.run(exitInvalid, "run", "Ask"); !strings.Contains(said, want) {
			t.Errorf("%s: vaultflow does not speak of %q: %s", provider, want, said)
		}
	}
}
