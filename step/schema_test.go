package step

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/content/conform"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

const chapters = `{"type":"object","required":["chapters"],"properties":{"chapters":{"type":"array","items":{"type":"object",` +
	`"properties":{"title":{"type":"string","minLength":1},"page":{"type":"integer","minimum":1},"a/b~c":{"type":"null"}},"required":["title","page"],"additionalProperties":false}},` +
	`"kind":{"anyOf":[{"const":"book"},{"type":"object","required":["x","y"]}]},"on":{"type":"string","format":"date"}}}`

func TestValidate_problems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer string
		want         []string
	}{
		{"good", `{"chapters":[{"title":"A","page":1}]}`, nil},
		{"good, in a fence", "```json\n{\"chapters\":[]}\n```", nil},
		{"good, in a fence with words", "Sure:\n\n```\n{\"chapters\":[]}\n```\nDone.", nil},
		{"missing property", `{}`, []string{"at the top: missing property 'chapters'"}},
		{"deep", `{"chapters":[{"title":"A","page":1},{"title":"","page":"2"}]}`, []string{
			"at /chapters/1/page: got string, want integer", "at /chapters/1/title: minLength: got 0, want 1",
		}},
		{"pointer escapes", `{"chapters":[{"title":"A","page":1,"a/b~c":1}]}`, []string{"at /chapters/0/a~1b~0c: got number, want null"}},
		{"unknown property", `{"chapters":[{"title":"A","page":1,"extra":1}]}`, []string{"at /chapters/0: additional properties 'extra' not allowed"}},
		{"alternatives", `{"chapters":[],"kind":"note"}`, []string{"at /kind: it fits none of the 2 alternatives", "at /kind: value must be 'book'"}},
		{"format", `{"chapters":[],"on":"tomorrow"}`, []string{"at /on: 'tomorrow' is not valid date: parsing time \"tomorrow\" as \"2006-01-02\": cannot parse \"tomorrow\" as \"2006\""}},
		{"not JSON", "Sure.\n{\"a\": }", []string{"the answer is not JSON: line 1, column 1: invalid character 'S' looking for beginning of value"}},
		{"broken JSON", "{\n  \"a\": oops\n}", []string{"the answer is not JSON: line 2, column 8: invalid character 'o' looking for beginning of value"}},
		{"two values", `{"chapters":[]} {}`, []string{"the answer is not JSON: line 1, column 17: invalid character '{' after top-level value"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, workflow.Step{Prompt: "x", Set: directives.Set{Schema: &directives.Schema{Inline: json.RawMessage(chapters)}}})
			ref := w.ref()
			prompt := w.assembled(ref).Prompt
			got, err := w.steps().Validator.Validate(t.Context(), engine.ValidateIn{StepRef: ref, Prompt: prompt, Answer: w.put(tt.answer)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Problems); diff != "" {
				t.Error(diff)
			}
			if (got.Answer == "") == (len(tt.want) == 0) || (got.Reply == "") != (len(tt.want) == 0) {
				t.Errorf("got %+v", got)
			}
			if got.Answer != "" && !json.Valid([]byte(w.text(got.Answer))) {
				t.Errorf("the answer taken is %q", w.text(got.Answer))
			}
			if got.Reply != "" {
				blocks, err := content.UnmarshalBlocks([]byte(w.text(got.Reply)))
				if err != nil || !strings.Contains(content.Join(blocks), "- "+tt.want[0]) || !strings.Contains(content.Join(blocks), "JSON only") {
					t.Errorf("the model is told %q, %v", content.Join(blocks), err)
				}
			}
			last, err := w.steps().Validator.Validate(t.Context(), engine.ValidateIn{StepRef: ref, Prompt: prompt, Answer: w.put(tt.answer), Last: true})
			if err != nil || last.Reply != "" || len(last.Problems) != len(tt.want) {
				t.Errorf("the last time: %+v, %v", last, err)
			}
		})
	}
}

func TestValidate_manyProblemsAreCounted(t *testing.T) {
	t.Parallel()
	d := demand{JSON: true, Schema: json.RawMessage(`{"items":{"type":"string"}}`)}
	got, err := d.problems(t.Context(), "["+strings.Repeat("1,", 49)+"1]")
	if err != nil || len(got) != maxProblems+1 || got[maxProblems] != "and 30 more" {
		t.Errorf("%d problems, the last one %q, %v", len(got), got[len(got)-1], err)
	}
}

func TestDemand_schemaIsPinned(t *testing.T) {
	t.Parallel()
	target := fileTarget("Schemas/plan.yaml")
	w := newWorld(t, map[string]string{"Schemas/plan.yaml": "type: object\nrequired: [b, a]\n"}, workflow.Step{Prompt: "x", Set: directives.Set{Schema: &directives.Schema{Target: &target}}})
	ref := w.ref()
	out := w.assembled(ref)
	w.vault.Put("Schemas/plan.yaml", "type: string\n")
	got, err := w.steps().Validator.Validate(t.Context(), engine.ValidateIn{StepRef: ref, Prompt: out.Prompt, Answer: w.put(`{"a":1,"b":2}`)})
	if err != nil || len(got.Problems) > 0 {
		t.Errorf("against the schema of the start: %v, %v", got.Problems, err)
	}
	if text := w.promptText(out); !strings.Contains(text, `{"type":"object","required":["b","a"]}`) {
		t.Errorf("the prompt does not hold the schema, in its order:\n%s", text)
	}
}

func TestDemand_files(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"s.json": `{"type":"object"}`, "s.yaml": "type: object\nproperties:\n  on: {type: string, const: 2026-01-01}\n",
		"note.md": "---\na: 1\n---\nMy schema:\n\n```yaml\ntype: object\n```\n", "broken.json": `{"type":`, "wrong.json": `{"type":"nothing"}`,
		"list.json": `[1]`, "web.json": `{"$ref":"https://example.org/other.json"}`, "disk.json": `{"$ref":"file:///etc/passwd"}`,
		"beside.json": `{"$ref":"s.json"}`, "inside.json": `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`, "draft7.json": `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`,
		"empty.yaml": "", "looks.json": `{"pattern":"(?=a)b"}`,
	}
	for name, want := range map[string]failure.Code{
		"s.json": "", "s.yaml": "", "note": "", "inside.json": "", "draft7.json": "", "[[note]]": "",
		"broken.json": failure.Input, "missing.json": failure.Input, "wrong.json": failure.InvalidWorkflow, "list.json": failure.InvalidWorkflow,
		"web.json": failure.InvalidWorkflow, "disk.json": failure.InvalidWorkflow, "beside.json": failure.InvalidWorkflow, "empty.yaml": failure.Input,
		"looks.json": failure.InvalidWorkflow, "*.json": failure.Input,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := fileTarget(strings.Trim(name, "[]"))
			target.Link = strings.HasPrefix(name, "[[")
			w := newWorld(t, files, workflow.Step{Prompt: "x", Set: directives.Set{Schema: &directives.Schema{Target: &target}}})
			ref := w.ref()
			_, err := w.steps().Assembler.Assemble(t.Context(), engine.AssembleIn{StepRef: ref})
			if code(err) != want {
				t.Errorf("got %v, want code %q", err, want)
			}
			if err != nil && strings.Contains(err.Error(), "vault:///") {
				t.Errorf("the message %q names what nobody wrote", err)
			}
		})
	}
}

func TestDemand_instruction(t *testing.T) {
	t.Parallel()
	native, err := policy.ExactOverride([]string{"text", "structured_output"})
	if err != nil {
		t.Fatal(err)
	}
	schema := &directives.Schema{Inline: json.RawMessage(`{"type":"object","title":"MARK"}`)}
	jsonOut := []directives.Output{{Target: variableTarget("x"), Format: "json"}}
	tests := []struct {
		name   string
		step   workflow.Step
		native bool
		want   string
		schema bool // goes natively
	}{
		{"schema, instructed", workflow.Step{Set: directives.Set{Schema: schema}}, false, "JSON Schema:\n" + `{"type":"object","title":"MARK"}`, false},
		{"schema, native", workflow.Step{Set: directives.Set{Schema: schema}}, true, "fits the schema", true},
		{"JSON output", workflow.Step{Set: directives.Set{Outputs: jsonOut}}, true, "Answer with JSON only", false},
		{"properties", workflow.Step{Set: directives.Set{Outputs: []directives.Output{{Target: fileTarget("n")}}, WriteMode: directives.WriteMode{Mode: "frontmatter"}}}, false, "one JSON object", false},
		{"nothing", workflow.Step{Set: directives.Set{Outputs: []directives.Output{{Target: fileTarget("n")}}}}, true, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.step.Prompt = "x"
			w := newWorld(t, nil, tt.step)
			if tt.native {
				m := w.models["seer"]
				m.Capabilities = policy.Lookup("openai_chat", "seer-1", native, nil)
				w.models["seer"] = m
			}
			w.Reply = steptest.Says(`{}`)
			ref := w.ref()
			out := w.assembled(ref)
			text := w.promptText(out)
			if !strings.Contains(text, tt.want) || tt.want == "" && strings.Contains(text, "JSON") || tt.schema == strings.Contains(text, "MARK") && len(tt.want) > 0 && tt.step.Schema != nil {
				t.Errorf("the prompt says\n%s\nwant %q", text, tt.want)
			}
			if _, err := w.steps().Generator.Generate(t.Context(), engine.GenerateIn{StepRef: ref, Prompt: out.Prompt, Model: out.Model}); err != nil {
				t.Fatal(err)
			}
			if got := len(w.Requests[0].Schema) > 0; got != tt.schema {
				t.Errorf("schema in the request: %t, want %t", got, tt.schema)
			}
		})
	}
}

func TestFormatted(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer, format, want string
		code                       failure.Code
	}{
		{"markdown as it is", "```json\n{}\n```", "", "```json\n{}\n```", ""},
		{"JSON", "```json\n{\"b\": 1}\n```", "json", "{\"b\": 1}", ""},
		{"no JSON", "hm", "json", "", failure.InvalidAnswer},
		{"YAML", "```yaml\na: 1\n```", "yaml", "a: 1", ""},
		{"JSON as YAML", `{"b": [1, "x: y"], "a": {"c": "two\nlines"}, "d": []}`, "yaml", "b:\n  - 1\n  - \"x: y\"\na:\n  c: |-\n    two\n    lines\nd: []", ""},
		{"JSON list as YAML", `[1, {"a": 2, "b": 3}]`, "yaml", "- 1\n- a: 2\n  b: 3", ""},
		{"no YAML", "a: [", "yaml", "", failure.InvalidAnswer},
		{"nothing", "", "yaml", "", failure.InvalidAnswer},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := formatted(tt.answer, tt.format)
			if got != tt.want || code(err) != tt.code {
				t.Errorf("formatted(%q, %s) = %q, %v, want %q, %s", tt.answer, tt.format, got, err, tt.want, tt.code)
			}
		})
	}
}

// A schema whose parts refer to each other twice at each level would never be done with: it is refused when the workflow is
// checked, and before its step asks a model.
func TestCheckSchema_doubling(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"$ref": "#/$defs/d0", "$defs": {`)
	for i := range 50 {
		fmt.Fprintf(&b, `"d%d": {"allOf": [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]}, `, i, i+1, i+1)
	}
	b.WriteString(`"d50": {}}}`)
	if err := CheckSchema("", []byte(b.String())); !errors.Is(err, conform.ErrTooMuch) {
		t.Errorf("CheckSchema = %v", err)
	}
	if err := CheckSchema("", []byte(`{"type": "object", "properties": {"a": {"$ref": "#"}}}`)); err != nil {
		t.Errorf("a schema that refers to itself: %v", err)
	}
}
