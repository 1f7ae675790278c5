package llm

import (
	"os"
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
	if len(rows) < 87 {
		t.Fatalf("got %d rows, want all of them", len(rows))
	}
	for _, line := range rows[1:] {
		row := strings.Split(line, "\t")
		status, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatalf("row %v: %v", row, err)
		}
		class, actual, limit := Classify(Failure{Status: status, Code: row[2], Message: row[6]})
		got := []string{string(class), strconv.FormatInt(actual, 10), strconv.FormatInt(limit, 10)}
		for i, want := range row[3:6] {
			if got[i] != want {
				t.Errorf("%s %d %q: got %v, want %v", row[0], status, row[6], got, row[3:6])
				break
			}
		}
	}
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
