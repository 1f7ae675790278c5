package llmtest_test

// edit is a change to a good request that the service must refuse.
type edit struct {
	name string
	do   func(body any)
}

func say(role, text string) map[string]any { return map[string]any{"role": role, "content": text} }

// chatEdits are of Chat Completions: system, user, assistant, two tools, (a bridge,) user.
func chatEdits() []edit {
	const png = "data:image/png;base64,"
	return []edit{
		{"a picture in a tool's message", func(b any) { setAt(b, []any{at(b, "messages", 1, "content", 1)}, "messages", 3, "content") }},
		{"a picture of the assistant", func(b any) { setAt(b, []any{at(b, "messages", 1, "content", 1)}, "messages", 2, "content") }},
		{"a picture of the system", func(b any) { setAt(b, []any{at(b, "messages", 1, "content", 1)}, "messages", 0, "content") }},
		{"a user between results", func(b any) { insertAt(b, say("user", "x"), 4, "messages") }},
		{"a result missing", func(b any) { remove(b, 4, "messages") }},
		{"a result twice", func(b any) { insertAt(b, at(b, "messages", 4), 4, "messages") }},
		{"a type that is not that of the bytes", func(b any) { rewrite(b, "url", png, "data:image/jpeg;base64,") }},
		{"base64 that is none", func(b any) { rewrite(b, "url", png, png+"*") }},
		{"an unknown role", func(b any) { setAt(b, "robot", "messages", 1, "role") }},
	}
}

// edits are, by subject, changes that the service answers with a refusal.
func edits() map[string][]edit {
	all := map[string][]edit{
		"anthropic": {
			{"a picture of the assistant", func(b any) { insertAt(b, at(b, "messages", 0, "content", 1), 0, "messages", 1, "content") }},
			{"a text between results", func(b any) { insertAt(b, at(b, "messages", 2, "content", -1), 1, "messages", 2, "content") }},
			{"a result missing", func(b any) { remove(b, 1, "messages", 2, "content") }},
			{"a result twice", func(b any) { insertAt(b, at(b, "messages", 2, "content", 0), 0, "messages", 2, "content") }},
			{"a type that is not that of the bytes", func(b any) { rewrite(b, "media_type", "image/png", "image/jpeg") }},
			{"a data URI", func(b any) { rewrite(b, "data", "", "data:image/png;base64,") }},
			{"a picture as a document", func(b any) { setAt(b, "document", "messages", 0, "content", 1, "type") }},
			{"an unknown type", func(b any) { setAt(b, "picture", "messages", 0, "content", 1, "type") }},
			{"an unknown effort", func(b any) { setAt(b, map[string]any{"effort": "utmost"}, "output_config") }},
		},
		"responses": {
			{"a picture of the assistant", func(b any) { setAt(b, []any{at(b, "input", 0, "content", 1)}, "input", 1, "content") }},
			{"a message between results", func(b any) { insertAt(b, at(b, "input", -1), 5, "input") }},
			{"a result missing", func(b any) { remove(b, 5, "input") }},
			{"a type that is not that of the bytes", func(b any) { rewrite(b, "image_url", "data:image/png", "data:image/webp") }},
			{"a bare base64", func(b any) { rewrite(b, "image_url", "data:image/png;base64,", "") }},
			{"a picture without its detail", func(b any) { delete(at(b, "input", 0, "content", 1).(map[string]any), "detail") }},
			{"chat's image_url", func(b any) { setAt(b, "image_url", "input", 0, "content", 1, "type") }},
		},
		"gemini": {
			{"fewer responses than calls", func(b any) { remove(b, 1, "contents", 2, "parts") }},
			{"more responses than calls", func(b any) { insertAt(b, at(b, "contents", 2, "parts", 0), 0, "contents", 2, "parts") }},
			{"a text among responses", func(b any) { insertAt(b, map[string]any{"text": "x"}, 1, "contents", 2, "parts") }},
			{"a picture among responses", func(b any) { insertAt(b, at(b, "contents", 0, "parts", 1), 2, "contents", 2, "parts") }},
			{"a picture of the model", func(b any) { setAt(b, []any{at(b, "contents", 0, "parts", 1)}, "contents", 1, "parts") }},
			{"two kinds in one part", func(b any) { setAt(b, "x", "contents", 0, "parts", 1, "text") }},
			{"a type that is not that of the bytes", func(b any) { rewrite(b, "mimeType", "image/png", "image/webp") }},
			{"a data URI", func(b any) { rewrite(b, "data", "", "data:image/png;base64,") }},
			{"an address in a response", func(b any) {
				setAt(b, map[string]any{"fileData": map[string]any{"fileUri": "x", "mimeType": "image/png"}}, "contents", 2, "parts", 0, "functionResponse", "parts", 0)
			}},
			{"a level in small letters", func(b any) {
				setAt(b, map[string]any{"thinkingConfig": map[string]any{"thinkingLevel": "low"}}, "generationConfig")
			}},
		},
		"ollama": {
			{"a data URI", func(b any) {
				setAt(b, "data:image/png;base64,"+at(b, "messages", 2, "images", 0).(string), "messages", 2, "images", 0)
			}},
			{"a picture of the assistant", func(b any) { setAt(b, at(b, "messages", 2, "images"), "messages", 3, "images") }},
			{"a picture in a result", func(b any) { setAt(b, at(b, "messages", 2, "images"), "messages", 4, "images") }},
			{"a user between results", func(b any) { insertAt(b, say("user", "x"), 5, "messages") }},
			{"a result missing", func(b any) { remove(b, 5, "messages") }},
			{"bytes that are no picture", func(b any) { setAt(b, "AAAA", "messages", 2, "images", 0) }},
			{"parts in place of a text", func(b any) { setAt(b, []any{map[string]any{"type": "text", "text": "x"}}, "messages", 1, "content") }},
		},
		"bedrock": {
			{"a document without a text", func(b any) { setAt(b, []any{at(b, "messages", 0, "content", -1)}, "messages", 0, "content") }},
			{"a picture of the assistant", func(b any) { insertAt(b, at(b, "messages", 0, "content", 1), 0, "messages", 1, "content") }},
			{"a text between results", func(b any) { insertAt(b, map[string]any{"text": "x"}, 1, "messages", 2, "content") }},
			{"a result missing", func(b any) { remove(b, 1, "messages", 2, "content") }},
			{"a format that is not that of the bytes", func(b any) { rewrite(b, "format", "png", "jpeg") }},
			{"a MIME type as format", func(b any) { rewrite(b, "format", "png", "image/png") }},
			{"a data URI", func(b any) { rewrite(b, "bytes", "", "data:image/png;base64,") }},
			{"the vault's name", func(b any) { rewrite(b, "name", "", "my_file.pdf ") }},
		},
		"mistral": append(
			chatEdits(),
			edit{"stream_options", func(b any) { setAt(b, map[string]any{"include_usage": true}, "stream_options") }},
			edit{"a user behind a tool", func(b any) { remove(b, 5, "messages") }},
			edit{"a long id", func(b any) { setAt(b, "call_1_0_and_more", "messages", 2, "tool_calls", 0, "id") }},
			edit{"OpenAI's file", func(b any) {
				setAt(b, map[string]any{"type": "file", "file": map[string]any{"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0x"}}, "messages", 1, "content", 2)
			}},
		),
		"openrouter": append(chatEdits(), edit{"the old member for usage", func(b any) { setAt(b, map[string]any{"include": true}, "usage") }}),
	}
	for _, kind := range []string{"openai_chat", "openai_compatible", "groq"} {
		all[kind] = chatEdits()
	}
	all["openai_chat"] = append(
		all["openai_chat"],
		edit{"another service's reasoning", func(b any) { setAt(b, "hm", "messages", 2, "reasoning_content") }},
		edit{"a detail that chat does not know", func(b any) { setAt(b, "utmost", "messages", 1, "content", 1, "image_url", "detail") }},
	)
	return all
}
