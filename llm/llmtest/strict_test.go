package llmtest_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// aPNG is the beginning of a PNG, enough to be sniffed.
const aPNG = "iVBORw0KGgo="

func headers() http.Header {
	h := make(http.Header)
	h.Set("X-Api-Key", llmtest.Key)
	h.Set("Anthropic-Version", "2023-06-01")
	h.Set("Authorization", "Bearer "+llmtest.Key)
	return h
}

func TestWires_readInOrder(t *testing.T) {
	t.Parallel()
	picture := llmtest.Part{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
	for name, c := range map[string]struct {
		wire llmtest.Wire
		body string
		want []llmtest.Part
	}{
		"anthropic": {llmtest.Anthropic{}, `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + aPNG + `"}}]}]}`, []llmtest.Part{{Text: "a"}, picture}},
		"openai":    {llmtest.OpenAI{}, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + aPNG + `"}},{"type":"text","text":"a"}]}]}`, []llmtest.Part{picture, {Text: "a"}}},
		// The trap itself: a message's pictures come before its text.
		"ollama": {llmtest.Ollama{}, `{"model":"m","truncate":false,"shift":false,"messages":[{"role":"user","content":"a","images":["` + aPNG + `"]}]}`, []llmtest.Part{picture, {Text: "a"}}},
	} {
		got, err := c.wire.Read(headers(), []byte(c.body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWires_refuse(t *testing.T) {
	t.Parallel()
	const a, o, l = `{"model":"m","max_tokens":9,"stream":true,"messages":[`, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[`, `{"model":"m","truncate":false,"shift":false,"messages":[`
	const (
		hi          = `{"role":"user","content":[{"type":"text","text":"a"}]}`
		saysTool    = `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"look","input":{}}]}`
		answersTool = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}`
		tools       = `,"tools":[{"name":"look","input_schema":{"type":"object"}}]`
		held        = `,"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}}}`
		paper       = `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0x"}`
		citedPaper  = paper + `,"citations":{"enabled":true}}`
		functions   = `,"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}]`
		calls       = `{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"look","arguments":"{}"}}]}`
		first       = `{"role":"tool","tool_call_id":"c1","content":"x"}`
		second      = `{"role":"tool","tool_call_id":"c2","content":"y"}`
	)
	for _, good := range []struct { // what the refused requests would be without their fault
		wire llmtest.Wire
		body string
	}{
		{llmtest.Anthropic{}, a + hi + `,` + saysTool + `,` + answersTool + `]` + tools + `}`},
		{llmtest.Anthropic{}, a + hi + `],"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}}}}`},
		{llmtest.Anthropic{}, a + `{"role":"user","content":[` + citedPaper + `,` + paper + `,"title":"a1b2c3-2","citations":{"enabled":true}}]}]}`},
		{llmtest.Anthropic{}, a + `{"role":"user","content":[` + paper + `},` + paper + `,"citations":{"enabled":false}}]}]` + held + `}`},
		{llmtest.OpenAI{}, o + calls + `,` + first + `,` + second + `,{"role":"user","content":"x"}]` + functions + `}`},
		{llmtest.OpenAI{}, o + `{"role":"user","content":"a"}],"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object"}}}}`},
		{llmtest.OpenAI{}, o + `{"role":"user","content":[{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0x"}}]}]}`},
		{llmtest.OpenAI{Kind: "mistral"}, `{"model":"m","stream":true,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"abcdefghi","content":"x"},{"role":"assistant","content":"OK"},{"role":"user","content":"b"}]` + functions + `}`},
		{llmtest.Ollama{}, l + `{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{}}}]},{"role":"tool","tool_name":"look","content":"x"}]` + functions + `,"format":{"type":"object"}}`},
	} {
		if _, err := good.wire.Read(headers(), []byte(good.body)); err != nil {
			t.Errorf("%s was refused: %v", good.body, err)
		}
	}
	for _, c := range []struct {
		name string
		wire llmtest.Wire
		body string
	}{
		{"unknown member", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"text","text":"a"}]}],"seed":1}`},
		{"blank text", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"text","text":" \n"}]}]}`},
		{"wrong media type", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"` + aPNG + `"}}]}]}`},
		{"no picture", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}`},
		{"empty content", llmtest.Anthropic{}, a + `{"role":"user","content":[]}]}`},
		{"assistant first", llmtest.Anthropic{}, a + `{"role":"assistant","content":[{"type":"text","text":"a"}]}]}`},
		{"picture of an assistant", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"image"}]}]}`},
		{"no bound", llmtest.Anthropic{}, `{"model":"m","stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`},
		{"budget above the bound", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"text","text":"a"}]}],"thinking":{"type":"enabled","budget_tokens":2048}}`},
		{"citations of some documents", llmtest.Anthropic{}, a + `{"role":"user","content":[` + citedPaper + `,` + paper + `}]}]}`},
		{"a file's own name", llmtest.Anthropic{}, a + `{"role":"user","content":[` + paper + `,"title":"Report.pdf"}]}]}`},
		{"citations beside a schema", llmtest.Anthropic{}, a + `{"role":"user","content":[` + citedPaper + `]}]` + held + `}`},
		{"citations of a picture", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + aPNG + `"},"citations":{"enabled":true}}]}]}`},
		{"citations as answers have them", llmtest.Anthropic{}, a + hi + `,{"role":"assistant","content":[{"type":"text","text":"a","citations":[{"type":"page_location","cited_text":"b","document_index":0,"document_title":null,"start_page_number":1,"end_page_number":2,"file_id":null}]}]},` + hi + `]}`},
		{"two requests", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"text","text":"a"}]}]}{}`},
		{"unknown part", llmtest.OpenAI{}, o + `{"role":"user","content":[{"type":"image","image":"x"}]}]}`},
		{"bare base64", llmtest.OpenAI{}, o + `{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + aPNG + `"}}]}]}`},
		{"picture of the system", llmtest.OpenAI{}, o + `{"role":"system","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + aPNG + `"}}]}]}`},
		{"old bound", llmtest.OpenAI{}, o + `{"role":"user","content":"a"}],"max_tokens":4}`},
		{"mistral and stream options", llmtest.OpenAI{Kind: "mistral"}, o + `{"role":"user","content":"a"}]}`},
		{"data URI", llmtest.Ollama{}, l + `{"role":"user","content":"","images":["data:image/png;base64,` + aPNG + `"]}]}`},
		{"picture mark", llmtest.Ollama{}, l + `{"role":"user","content":"see [img-3]"}]}`},
		{"silent truncation", llmtest.Ollama{}, `{"model":"m","shift":false,"messages":[{"role":"user","content":"a"}]}`},
		{"result of no call", llmtest.Anthropic{}, a + hi + `,` + saysTool + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"x"}]}]` + tools + `}`},
		{"result missing", llmtest.Anthropic{}, a + hi + `,` + saysTool + `,{"role":"user","content":[{"type":"text","text":"x"}]}]` + tools + `}`},
		{"text before a result", llmtest.Anthropic{}, a + hi + `,` + saysTool + `,{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"t1","content":"x"}]}]` + tools + `}`},
		{"calls at the end", llmtest.Anthropic{}, a + hi + `,` + saysTool + `]` + tools + `}`},
		{"calls without tools", llmtest.Anthropic{}, a + hi + `,` + saysTool + `,` + answersTool + `]}`},
		{"empty result", llmtest.Anthropic{}, a + hi + `,` + saysTool + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[]}]}]` + tools + `}`},
		{"input that is no object", llmtest.Anthropic{}, a + hi + `,{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"look","input":"x"}]},` + answersTool + `]` + tools + `}`},
		{"a tool twice", llmtest.Anthropic{}, a + hi + `],"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"a","input_schema":{"type":"object"}}]}`},
		{"a tool without a schema", llmtest.Anthropic{}, a + hi + `],"tools":[{"name":"a"}]}`},
		{"a tool's bad schema", llmtest.Anthropic{}, a + hi + `],"tools":[{"name":"a","input_schema":{"type":"object","required":7}}]}`},
		{"a tool's name with a blank", llmtest.Anthropic{}, a + hi + `],"tools":[{"name":"a b","input_schema":{"type":"object"}}]}`},
		{"an open schema", llmtest.Anthropic{}, a + hi + `],"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"string"}}}}}}`},
		{"a bound in a schema", llmtest.Anthropic{}, a + hi + `],"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"integer","minimum":1}},"additionalProperties":false}}}}`},
		{"a picture as a document", llmtest.Anthropic{}, a + `{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + aPNG + `"}}]}]}`},
		{"index in a call", llmtest.OpenAI{}, o + `{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}]` + functions + `}`},
		{"a picture in a result", llmtest.OpenAI{}, o + calls + `,{"role":"tool","tool_call_id":"c1","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + aPNG + `"}}]},` + second + `]` + functions + `}`},
		{"interleaved results", llmtest.OpenAI{}, o + calls + `,` + first + `,{"role":"user","content":"x"},` + second + `]` + functions + `}`},
		{"result missing", llmtest.OpenAI{}, o + calls + `,` + first + `]` + functions + `}`},
		{"calls without tools", llmtest.OpenAI{}, o + calls + `,` + first + `,` + second + `]}`},
		{"arguments that are no JSON", llmtest.OpenAI{}, o + `{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"look","arguments":"{"}}]},{"role":"tool","tool_call_id":"c","content":"x"}]` + functions + `}`},
		{"a format without a name", llmtest.OpenAI{}, o + `{"role":"user","content":"a"}],"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object"}}}}`},
		{"a list as format", llmtest.OpenAI{}, o + `{"role":"user","content":"a"}],"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"array"}}}}`},
		{"strict, and not all required", llmtest.OpenAI{}, o + `{"role":"user","content":"a"}],"response_format":{"type":"json_schema","json_schema":{"name":"x","strict":true,"schema":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}}}}`},
		{"a schema where there is none", llmtest.OpenAI{Kind: "groq"}, o + `{"role":"user","content":"a"}],"response_format":{"type":"json_object"}}`},
		{"a schema for DeepSeek", llmtest.OpenAI{Kind: "deepseek"}, o + `{"role":"user","content":"a"}],"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object"}}}}`},
		{"a file without a name", llmtest.OpenAI{}, o + `{"role":"user","content":[{"type":"file","file":{"file_data":"data:application/pdf;base64,JVBERi0x"}}]}]}`},
		{"a file of another type", llmtest.OpenAI{}, o + `{"role":"user","content":[{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,` + aPNG + `"}}]}]}`},
		{"a file for xAI", llmtest.Responses{XAI: true}, `{"model":"m","stream":true,"store":false,"input":[{"type":"message","role":"user","content":[{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0x"}]}]}`},
		{"instructions for xAI", llmtest.Responses{XAI: true}, `{"model":"m","stream":true,"store":false,"instructions":"a","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}]}`},
		{"a picture in a result for xAI", llmtest.Responses{XAI: true}, `{"model":"m","stream":true,"store":false,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"function_call","call_id":"c","name":"look","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:image/png;base64,` + aPNG + `","detail":"auto"}]}],"tools":[{"type":"function","name":"look","parameters":{"type":"object"}}]}`},
		{"user after tool on Mistral", llmtest.OpenAI{Kind: "mistral"}, `{"model":"m","stream":true,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"abcdefghi","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"abcdefghi","content":"x"},{"role":"user","content":"b"}]` + functions + `}`},
		{"a long id on Mistral", llmtest.OpenAI{Kind: "mistral"}, `{"model":"m","stream":true,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"x"}]` + functions + `}`},
		{"arguments in a string", llmtest.Ollama{}, l + `{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_name":"look","content":"x"}]` + functions + `}`},
		{"a result of another tool", llmtest.Ollama{}, l + `{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{}}}]},{"role":"tool","tool_name":"list","content":"x"}]` + functions + `}`},
		{"a picture in a result", llmtest.Ollama{}, l + `{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{}}}]},{"role":"tool","tool_name":"look","content":"x","images":["` + aPNG + `"]}]` + functions + `}`},
		{"a result missing", llmtest.Ollama{}, l + `{"role":"user","content":"a"},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{}}}]},{"role":"user","content":"x"}]` + functions + `}`},
		{"a bad schema", llmtest.Ollama{}, l + `{"role":"user","content":"a"}],"format":{"type":7}}`},
	} {
		if parts, err := c.wire.Read(headers(), []byte(c.body)); err == nil {
			t.Errorf("%s was accepted: %+v", c.name, parts)
		}
	}
	if _, err := (llmtest.Anthropic{}).Read(make(http.Header), []byte(a+`{"role":"user","content":[{"type":"text","text":"a"}]}]}`)); err == nil {
		t.Error("a request without a key was accepted")
	}
}
