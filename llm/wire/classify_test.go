package wire

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm"
)

func TestClassify_realSentences(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/provider_errors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if len(rows) < 96 {
		t.Fatalf("got %d rows, want all of them", len(rows))
	}
	t.Logf("%d rows", len(rows)-1)
	for _, line := range rows[1:] {
		row := strings.Split(line, "\t")
		status, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatalf("row %v: %v", row, err)
		}
		for way, f := range map[string]Failure{"itself": {Status: status, Code: row[2], Message: row[6]}, "a gateway": throughGateway(t, status, row[2], row[6])} {
			class, actual, limit := Classify(f)
			got := []string{string(class), strconv.FormatInt(actual, 10), strconv.FormatInt(limit, 10)}
			if !slices.Equal(got, row[3:6]) {
				t.Errorf("%s by %s, %d %q: got %v, want %v", row[0], way, status, row[6], got, row[3:6])
			}
		}
	}
}

// throughGateway is the same failure as OpenRouter passes it on: the service's own answer, as a text, below metadata.raw.
func throughGateway(t *testing.T, status int, code, message string) Failure {
	t.Helper()
	if message == "" {
		return Failure{Status: status, Code: code}
	}
	inner, err := json.Marshal(map[string]any{"error": map[string]any{"message": message, "code": code}})
	if err != nil {
		t.Fatal(err)
	}
	outer, err := json.Marshal(map[string]any{"error": map[string]any{
		"code": status, "message": "Provider returned error", "metadata": map[string]any{"raw": string(inner), "provider_name": "Lab"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	f := ParseFailure(outer)
	f.Status = status
	return f
}

func TestClassify_toolsAndSchemas(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]llm.Class{
		"registry.ollama.ai/library/gemma3:4b does not support tools":                                            llm.ClassParameter,
		"invalid JSON schema in format":                                                                          llm.ClassParameter,
		"output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false": llm.ClassParameter,
		"Invalid schema for response_format 'answer': schema must be a JSON Schema of 'type: \"object\"'.":       llm.ClassParameter,
		"tools.0.custom.input_schema: JSON schema is invalid":                                                    llm.ClassParameter,
		"`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1":                      llm.ClassPairing,
		"An assistant message with 'tool_calls' must be followed by tool messages responding to each call":       llm.ClassPairing,
	} {
		if got, _, _ := Classify(Failure{Status: 400, Code: "invalid_request_error", Message: message}); got != want {
			t.Errorf("%s: got %s, want %s", message, got, want)
		}
	}
}
