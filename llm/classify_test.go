package llm

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
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

func TestClasses_eachHasAHint(t *testing.T) {
	t.Parallel()
	for class := range hints {
		e := &Error{Class: class, Limit: 5}
		if e.Hint() == "" {
			t.Errorf("%s has no hint", class)
		}
	}
	if got := (&Error{Class: ClassOther}).Hint(); got != "" {
		t.Errorf("other: got hint %q, want none", got)
	}
	if got, want := (&Error{Class: ClassImageCount, Actual: 25, Limit: 20}).Hint(), "lower the budget max_images (sent 25, allowed 20)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClassify_toolsAndSchemas(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]Class{
		"registry.ollama.ai/library/gemma3:4b does not support tools":                                            ClassParameter,
		"invalid JSON schema in format":                                                                          ClassParameter,
		"output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false": ClassParameter,
		"Invalid schema for response_format 'answer': schema must be a JSON Schema of 'type: \"object\"'.":       ClassParameter,
		"tools.0.custom.input_schema: JSON schema is invalid":                                                    ClassParameter,
		"`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1":                      ClassPairing,
		"An assistant message with 'tool_calls' must be followed by tool messages responding to each call":       ClassPairing,
	} {
		if got, _, _ := Classify(Failure{Status: 400, Code: "invalid_request_error", Message: message}); got != want {
			t.Errorf("%s: got %s, want %s", message, got, want)
		}
	}
}
