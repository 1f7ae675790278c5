package llmtest_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

func TestBedrock_refuses(t *testing.T) {
	t.Parallel()
	const (
		pdf    = "JVBERi0xLjQK"
		tools  = `,"toolConfig":{"tools":[{"toolSpec":{"name":"look","inputSchema":{"json":{"type":"object"}}}}]}`
		schema = `,"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":"{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}"}}}}`
	)
	user := func(blocks ...string) string { return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}` }
	said := func(blocks ...string) string {
		return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
	}
	body := func(rest string, messages ...string) string {
		return `{"messages":[` + strings.Join(messages, ",") + `]` + rest + `}`
	}
	document := func(name, rest string) string {
		return `{"document":{"format":"pdf","name":"` + name + `","source":{"bytes":"` + pdf + `"}` + rest + `}}`
	}
	image := func(format string) string {
		return `{"image":{"format":"` + format + `","source":{"bytes":"` + aPNG + `"}}}`
	}
	use := func(id string) string { return `{"toolUse":{"toolUseId":"` + id + `","name":"look","input":{}}}` }
	result := func(id string, content ...string) string {
		return `{"toolResult":{"toolUseId":"` + id + `","content":[` + strings.Join(content, ",") + `]}}`
	}
	const text, cited, point = `{"text":"a"}`, `,"citations":{"enabled":true}`, `{"cachePoint":{"type":"default"}}`
	called := []string{user(text), said(use("a"), use("b"))}
	with := func(rest string, last ...string) string { return body(rest, append(called[:2:2], last...)...) }
	llama := llmtest.Bedrock{Family: "llama"}
	for _, good := range []struct { // what the refused requests would be without their fault
		wire llmtest.Bedrock
		body string
	}{
		{llmtest.Bedrock{}, body("", user(text, document("a1", cited), document("a1-2", cited), image("png")))},
		{llmtest.Bedrock{}, body(schema, user(text))},
		{llmtest.Bedrock{}, body(strings.Replace(tools, `]}`, `,`+point+`]}`, 1)+`,"system":[{"text":"a"},`+point+`]`, user(text, point))},
		{llama, body("", user(text, document("a1", "")))},
		{llmtest.Bedrock{}, with(tools, user(result("a", text, image("png")), result("b", `{"json":{"n":1}}`), text, document("a1", cited)))},
		{llama, with(tools, user(result("a", text, document("a1", "")), result("b", text)))},
		{llmtest.Bedrock{Family: "mistral"}, with(tools, user(result("a", `{"json":{}}`), result("b", `{"json":{"output":"x"}}`)))},
	} {
		if _, err := good.wire.Read(headers(), []byte(good.body)); err != nil {
			t.Errorf("%s: %v", good.body, err)
		}
	}
	for _, c := range []struct {
		name string
		wire llmtest.Bedrock
		body string
	}{
		{"an unknown field", llmtest.Bedrock{}, body(`,"stream":true`, user(text))},
		{"a model in the body", llmtest.Bedrock{}, body(`,"modelId":"m"`, user(text))},
		{"two members of a union", llmtest.Bedrock{}, body("", user(`{"text":"a","cachePoint":{"type":"default"}}`))},
		{"a blank text", llmtest.Bedrock{}, body("", user(`{"text":" "}`))},
		{"the assistant first", llmtest.Bedrock{}, body("", said(text), user(text))},
		{"two turns of the user", llmtest.Bedrock{}, body("", user(text), user(text))},
		{"a media type for a format", llmtest.Bedrock{}, body("", user(image("image/png")))},
		{"another format than the bytes", llmtest.Bedrock{}, body("", user(image("jpeg")))},
		{"a picture of the assistant", llmtest.Bedrock{}, body("", user(text), said(image("png")))},
		{"a document without a text", llmtest.Bedrock{}, body("", user(document("a1", cited)))},
		{"a document in a bad name", llmtest.Bedrock{}, body("", user(text, document("a/b_1", cited)))},
		{"a file's own name", llmtest.Bedrock{}, body("", user(text, document("Report.pdf", cited)))},
		{"two blanks in a name", llmtest.Bedrock{}, body("", user(text, document("a  b", cited)))},
		{"one name twice", llmtest.Bedrock{}, body("", user(text, document("a1", cited), document("a1", cited)))},
		{"six documents", llama, body("", user(text, document("1", ""), document("2", ""), document("3", ""), document("4", ""), document("5", ""), document("6", "")))},
		{"a document that Claude does not see", llmtest.Bedrock{}, body("", user(text, document("a1", "")))},
		{"citations of some documents", llmtest.Bedrock{}, body("", user(text, document("a1", cited), document("a2", `,"citations":{"enabled":false}`)))},
		{"citations beside a schema", llmtest.Bedrock{}, body(schema, user(text, document("a1", cited)))},
		{"citations of another family", llama, body("", user(text, document("a1", cited)))},
		{"a document in a result of Claude's", llmtest.Bedrock{}, with(tools, user(result("a", text, document("a1", cited)), result("b", text), text))},
		{"a video for Claude", llmtest.Bedrock{}, body("", user(text, `{"video":{"format":"mp4","source":{"bytes":"AAAAGGZ0eXBpc29t"}}}`))},
		{"a text in a result of Mistral's", llmtest.Bedrock{Family: "mistral"}, with(tools, user(result("a", text), result("b", text)))},
		{"words beside results for Writer", llmtest.Bedrock{Family: "writer"}, with(tools, user(result("a", text), result("b", text), text))},
		{"JSON that is no object", llmtest.Bedrock{}, with(tools, user(result("a", `{"json":[1]}`), result("b", text)))},
		{"a status of another family", llama, with(tools, user(`{"toolResult":{"toolUseId":"a","content":[`+text+`],"status":"success"}}`, result("b", text)))},
		{"a result missing", llmtest.Bedrock{}, with(tools, user(result("a", text)))},
		{"a text between results", llmtest.Bedrock{}, with(tools, user(result("a", text), text, result("b", text)))},
		{"results in two turns", llmtest.Bedrock{}, with(tools, user(result("a", text)), said(text), user(result("b", text)))},
		{"an empty result", llmtest.Bedrock{}, with(tools, user(result("a"), result("b", text)))},
		{"calls without tools", llmtest.Bedrock{}, with("", user(result("a", text), result("b", text)))},
		{"a bad id", llmtest.Bedrock{}, body(tools, user(text), said(use("a b")), user(result("a b", text)))},
		{"arguments in a text", llmtest.Bedrock{}, body(tools, user(text), said(`{"toolUse":{"toolUseId":"a","name":"look","input":"{}"}}`), user(result("a", text)))},
		{"a turn of reasoning alone", llmtest.Bedrock{}, body("", user(text), said(`{"reasoningContent":{"reasoningText":{"text":"hm"}}}`), user(text))},
		{"reasoning for DeepSeek", llmtest.Bedrock{Family: "deepseek"}, body("", user(text), said(`{"reasoningContent":{"reasoningText":{"text":"hm"}}}`, text), user(text))},
		{"a budget above the bound", llmtest.Bedrock{}, body(`,"inferenceConfig":{"maxTokens":1024},"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":1024}}`, user(text))},
		{"another family's words", llama, body(`,"additionalModelRequestFields":{"thinking":{"type":"adaptive"}}`, user(text))},
		{"five cache points", llmtest.Bedrock{}, body("", user(text, point, point, point, point, point))},
		{"a cache point for Llama", llama, body("", user(text, point))},
		{"a cache point among Nova's tools", llmtest.Bedrock{Family: "nova"}, body(strings.Replace(tools, `]}`, `,`+point+`]}`, 1), user(text))},
		{"too warm", llmtest.Bedrock{}, body(`,"inferenceConfig":{"temperature":1.5}`, user(text))},
		{"an open schema", llmtest.Bedrock{}, body(strings.Replace(schema, `,\"additionalProperties\":false`, "", 1), user(text))},
	} {
		if parts, err := c.wire.Read(headers(), []byte(c.body)); err == nil {
			t.Errorf("%s was accepted: %+v", c.name, parts)
		}
	}
}
