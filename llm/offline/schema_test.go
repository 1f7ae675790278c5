package offline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/offline"
)

// answer asks with a schema, which the answer must fit.
func answer(t *testing.T, schema string, blocks ...content.Block) string {
	t.Helper()
	r := request(blocks...)
	r.Schema = json.RawMessage(schema)
	got, err := offline.New().Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("mem:schema", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("mem:schema")
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(got.Text))
	if err != nil {
		t.Fatalf("%s: the answer is not JSON: %v\n%s", schema, err, got.Text)
	}
	if err := compiled.Validate(value); err != nil {
		t.Errorf("%s: the answer does not fit: %v\n%s", schema, err, got.Text)
	}
	return got.Text
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var v json.RawMessage = []byte(text)
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

const workbook = "Find the chapters.\n\n<input-9f3a path=\"Imported/Workbook/index.md\" trust=\"import\">\n[shown: pages 1-4 of 4]\n[page 1 of 4]\n# Chapter 1: Roots\nWords come from old Rome. More.\n" +
	"[page 2 of 4]\nThe second page speaks of roots.\n[page 3 of 4, printed as iii]\n# Chapter 2: Stems\nStems grow out of roots, until 2026-12-01.\n- [ ] Do exercise 4\n</input-9f3a>\n"

func TestGenerate_schemaIsFilledFromThePrompt(t *testing.T) {
	t.Parallel()
	page := content.Image{Name: "Scan.pdf", Source: content.SourcePage, Page: 7, SHA256: strings.Repeat("ab", 32)}
	photo := content.Image{Name: "Photos/oak-tree_garden.jpg", Alt: "An old oak"}
	for _, c := range []struct {
		name, schema, want string
		blocks             []content.Block
	}{
		{
			"chapters with pages", `{"type":"object","required":["chapters"],"additionalProperties":false,"properties":{"chapters":{"type":"array","minItems":1,"items":{"type":"object","required":["title","first_page","last_page"],"additionalProperties":false,"properties":{"title":{"type":"string"},"first_page":{"type":"integer","minimum":1},"last_page":{"type":"integer","minimum":1},"confidence":{"type":"number","minimum":0,"maximum":1}}}}}}`,
			`{"chapters":[{"title":"Chapter 1: Roots","first_page":1,"last_page":2,"confidence":0},{"title":"Chapter 2: Stems","first_page":3,"last_page":3,"confidence":0}]}`,
			[]content.Block{content.Text{Value: workbook}},
		},
		{
			"pages", `{"type":"array","items":{"type":"object","properties":{"page":{"type":"integer"},"heading":{"type":"string"},"text":{"type":"string","maxLength":20},"done":{"type":"boolean"}},"required":["page"]}}`,
			`[{"page":1,"heading":"Chapter 1: Roots","text":"Words come from old ","done":false},{"page":2,"heading":"The second page speaks of roots.","text":"The second page spea","done":false},{"page":3,"heading":"Chapter 2: Stems","text":"Stems grow out of ro","done":false}]`,
			[]content.Block{content.Text{Value: strings.Replace(workbook, "Find the chapters.", "Read the pages.", 1)}},
		},
		{
			"texts that fit a pattern", `{"type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^page_[0-9]{4}$"}}`, `["page_0003","page_0007"]`,
			[]content.Block{content.Text{Value: "Weak ones?\n<input-1 path=\"manifest.json\">\n{\"pages\":[\n{\"image\":\"pages/page_0003.png\",\"text\":\"text/page_0003.md\"},\n{\"image\":\"pages/page_0007.png\"}]}\n</input-1>\n"}},
		},
		{
			"a page as a picture", `{"type":"object","required":["pages"],"properties":{"pages":{"type":"array","items":{"type":"integer"}},"title":{"type":"string"}}}`,
			`{"pages":[7],"title":"Scan"}`,
			[]content.Block{content.Text{Value: "Read.\n<input-1 path=\"Scan.pdf\">\n"}, page, content.Text{Value: "</input-1>"}},
		},
		{
			"tags of a photo", `{"type":"object","required":["tags","caption","kind"],"properties":{"tags":{"type":"array","minItems":1,"maxItems":3,"uniqueItems":true,"items":{"type":"string","pattern":"^[a-z]+$"}},"caption":{"type":"string"},"kind":{"enum":["people","plants","places"]},"by":{"const":"offline"}}}`,
			`{"tags":["oak","tree","garden"],"caption":"Tag the plants on it.","kind":"plants","by":"offline"}`,
			[]content.Block{content.Text{Value: "Tag the plants on it."}, photo},
		},
		{
			"anything", `true`,
			`{"title":"Chapter 1: Roots","summary":"Words come from old Rome.","headings":["Chapter 1: Roots","Chapter 2: Stems"],"tasks":["Stems grow out of roots, until 2026-12-01.","Do exercise 4"],"tags":["chapter","roots"]}`,
			[]content.Block{content.Text{Value: strings.Replace(workbook, "until", "due", 1)}},
		},
	} {
		got := compact(t, answer(t, c.schema, c.blocks...))
		if c.name == "anything" {
			got = strings.Replace(got, "due", "until", 1)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestGenerate_schemaWithoutAnythingFound(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"type":"object","required":["a","b"],"properties":{"a":{"type":"string","minLength":5},"b":{"type":["null","integer"],"exclusiveMinimum":3,"multipleOf":4}}}`,
		`{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"string"}}`,
		`{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"integer"}}`,
		`{"type":"array","minItems":2,"items":{"type":"object","required":["x"],"properties":{"x":{"type":"number","exclusiveMaximum":-2.5}}}}`,
		`{"type":"object","required":["free"]}`,
		`{"anyOf":[{"type":"null"},{"type":"object","required":["d"],"properties":{"d":{"type":"string","format":"date"},"t":{"type":"string","format":"date-time"},"m":{"type":"string","format":"email"},"u":{"type":"string","format":"uri"},"i":{"type":"string","format":"uuid"}}}]}`,
		`{"allOf":[{"type":"object","required":["a"],"properties":{"a":{"type":"boolean"}}},{"required":["b"],"properties":{"b":{"type":"null"}}}]}`,
		`{"type":"object","required":["l"],"properties":{"l":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","required":["children"],"properties":{"children":{"type":"array","items":{"$ref":"#/$defs/node"}},"v":{"$ref":"#/$defs/v"}}},"v":{"enum":[2,1]}}}`,
		`{"type":"integer","minimum":10,"maximum":12}`, `{"type":"number","minimum":0.5,"maximum":0.7}`, `{"type":"null"}`, `{"enum":["x",null]}`, `{"const":{"a":[1]}}`, `{}`,
	} {
		answer(t, schema, content.Text{Value: "hm"})
		answer(t, schema, content.Text{Value: workbook})
	}
}

// randomSchema makes a schema of the simple kinds.
func randomSchema(r *rand.Rand, depth int) map[string]any {
	names := []string{"title", "page", "tags", "chapters", "summary", "last_page", "x", "date", "files", "count"}
	kind := r.IntN(8)
	if depth > 3 {
		kind = r.IntN(5)
	}
	switch kind {
	case 0:
		return map[string]any{"type": "string", "minLength": r.IntN(9), "maxLength": 9 + r.IntN(30)}
	case 1:
		return map[string]any{"type": "integer", "minimum": r.IntN(9) - 4, "maximum": 5 + r.IntN(9)}
	case 2:
		return map[string]any{"type": "number", "exclusiveMinimum": r.Float64() - 2, "exclusiveMaximum": 1 + r.Float64()}
	case 3:
		return map[string]any{"type": "boolean"}
	case 4:
		return map[string]any{"enum": []any{"plants", 3, nil, "roots"}}
	case 5:
		least := r.IntN(4)
		return map[string]any{"type": "array", "minItems": least, "maxItems": least + r.IntN(4), "items": randomSchema(r, depth+1)}
	}
	properties, required := map[string]any{}, []any{}
	for range 1 + r.IntN(5) {
		name := names[r.IntN(len(names))]
		if properties[name] == nil && r.IntN(2) == 0 {
			required = append(required, name)
		}
		properties[name] = randomSchema(r, depth+1)
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": r.IntN(2) == 0}
}

func TestGenerate_randomSchemas(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		schema, err := json.Marshal(randomSchema(r, 0))
		if err != nil {
			t.Fatal(err)
		}
		first := answer(t, string(schema), content.Text{Value: workbook})
		if second := answer(t, string(schema), content.Text{Value: workbook}); first != second {
			t.Fatalf("%s: two answers differ:\n%s\n%s", schema, first, second)
		}
	}
}

func TestGenerate_buildsOnJSON(t *testing.T) {
	t.Parallel()
	const chapters = `{"type":"object","required":["chapters"],"properties":{"chapters":{"type":"array","items":{"type":"object","properties":{"title":{"type":"string"},"start_page":{"type":"integer"},"end_page":{"type":"integer"}}}}}}`
	first := answer(t, chapters, content.Text{Value: workbook})
	for _, open := range []string{`variable="chapters"`, `path="Work/chapters.json"`} {
		second, err := offline.New().Generate(t.Context(), request(content.Text{Value: "Make a study plan.\n<input-2 " + open + ">\n" + first + "\n</input-2>"}), nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := "- [ ] Day 1: Chapter 1: Roots (pages 1–2)\n- [ ] Day 2: Chapter 2: Stems (page 3)\n"; !strings.Contains(second.Text, want) {
			t.Errorf("%s: the plan does not build on the JSON:\n%s", open, second.Text)
		}
	}
}

func TestGenerate_jsonInWords(t *testing.T) {
	t.Parallel()
	r := request(content.Text{Value: workbook})
	r.System = "Facts.\n\nAnswer with JSON only (no words around it, no code fence)."
	got, err := offline.New().Generate(t.Context(), r, nil)
	if err != nil || !json.Valid([]byte(got.Text)) || !strings.Contains(got.Text, "Chapter 2: Stems") {
		t.Errorf("got %v, %s", err, got.Text)
	}
}

func TestGenerate_refusesAnUnreadableSchema(t *testing.T) {
	t.Parallel()
	r := request(content.Text{Value: "x"})
	r.Schema = json.RawMessage(`{"type":7}`)
	_, err := offline.New().Generate(t.Context(), r, nil)
	if e, ok := llm.AsError(err); !ok || e.Class != llm.ClassParameter {
		t.Errorf("got %v, want a parameter error", err)
	}
}

func TestGenerate_readsDeferredChunksOnce(t *testing.T) {
	t.Parallel()
	r := request(content.Text{Value: "Summarize.\n<input-1 path=\"Long.md\">\n# Long\n[image 2: p.png, 640x480, deferred as c3: max_images 1 reached]\n[deferred as c5-c9: 5 texts; max_prompt_tokens reached]\n[note: deferred as nothing]\n</input-1>"})
	r.Tools = []llm.Tool{{Name: "read_chunks"}}
	var said []string
	first, err := offline.New().Generate(t.Context(), r, func(piece string) { said = append(said, piece) })
	if err != nil {
		t.Fatal(err)
	}
	call, ok := first.Blocks[len(first.Blocks)-1].(content.ToolCall)
	if !ok || first.Stop != llm.StopToolUse || call.ID == "" || call.Name != "read_chunks" || string(call.Input) != `{"ids":["c3","c5-c9"]}` {
		t.Fatalf("got %+v, stop %s", first.Blocks, first.Stop)
	}
	if !strings.Contains(first.Text, "reads the deferred parts c3, c5-c9 once") || strings.Join(said, "") != first.Text {
		t.Errorf("got %q, told %q", first.Text, said)
	}
	r.Messages = append(
		r.Messages, llm.Message{Role: llm.Assistant, Blocks: first.Blocks},
		llm.Message{Role: llm.User, Blocks: []content.Block{content.ToolResult{CallID: call.ID, Success: true, Blocks: []content.Block{
			content.Text{Value: "<input-1 path=\"Long.md\" chunk=\"c5\">\n## Far behind\nThis stood at the end. [deferred as c9: it did not fit]\n[deferred as c9: it did not fit]\n</input-1>\n"},
		}}}},
	)
	second, err := offline.New().Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"- Far behind", "## Read by read_chunks\n\n- c5\n", "This stood at the end."} {
		if !strings.Contains(second.Text, want) {
			t.Errorf("the answer lacks %q:\n%s", want, second.Text)
		}
	}
	if second.Stop != llm.StopEnd {
		t.Errorf("it asks again: %s", second.Stop)
	}
	r.Messages = r.Messages[:1]
	r.Tools = nil
	if got, err := offline.New().Generate(t.Context(), r, nil); err != nil || got.Stop != llm.StopEnd {
		t.Errorf("without the tool: %v, %+v", err, got)
	}
}

func ExampleProvider() {
	schema := `{"type":"object","required":["title","tags"],"properties":{"title":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}}}`
	answer, err := offline.New().Generate(context.Background(), llm.Request{
		Schema:   json.RawMessage(schema),
		Messages: []llm.Message{{Role: llm.User, Blocks: []content.Block{content.Text{Value: "<input-1 path=\"Oak.md\">\n# Old oaks\n</input-1>"}}}},
	}, nil)
	fmt.Println(answer.Text, err)
	// Output:
	// {
	//   "title": "Old oaks",
	//   "tags": [
	//     "oaks"
	//   ]
	// } <nil>
}
