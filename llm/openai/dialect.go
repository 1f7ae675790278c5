package openai

import (
	"maps"
	"regexp"
	"slices"
)

// dialect is what one service does differently. Read from the services' documentation, November 2026.
type dialect struct {
	baseURL       string
	maxTokens     string         // the member that bounds the answer
	streamOptions bool           // ask for usage in the stream; Mistral's schema forbids the member
	effort        string         // how to request reasoning: "reasoning_effort", "reasoning" (an object), "" not at all
	document      string         // how a PDF is sent: "file", "document_url"; "" not at all
	schema        string         // response_format with a schema: "json_schema", "json_object" (any JSON), "" none while streaming
	cacheKey      string         // how to request prefix caching: "prompt_cache_key", "cache_control" for models of Anthropic, "" not at all
	tellSchema    bool           // the service enforces the schema by a grammar that the model does not see
	callID        *regexp.Regexp // ids of tool calls that it accepts
}

// Compatible is the kind for any other server (LM Studio, llama.cpp, vLLM, a gateway): the least common shape.
const Compatible = "openai_compatible"

// dialects by kind.
var dialects = map[string]dialect{
	"openai_chat": {baseURL: "https://api.openai.com/v1", maxTokens: "max_completion_tokens", streamOptions: true, effort: "reasoning_effort", document: "file", schema: "json_schema", cacheKey: "prompt_cache_key"},
	Compatible:    {baseURL: "http://localhost:8000/v1", maxTokens: "max_tokens", streamOptions: true, document: "file", schema: "json_schema", tellSchema: true},
	"lmstudio":    {baseURL: "http://localhost:1234/v1", maxTokens: "max_tokens", streamOptions: true, schema: "json_schema", tellSchema: true},
	"llamacpp":    {baseURL: "http://localhost:8080/v1", maxTokens: "max_tokens", streamOptions: true, schema: "json_schema", tellSchema: true},
	"vllm":        {baseURL: "http://localhost:8000/v1", maxTokens: "max_tokens", streamOptions: true, schema: "json_schema", tellSchema: true},
	"mistral":     {baseURL: "https://api.mistral.ai/v1", maxTokens: "max_tokens", document: "document_url", schema: "json_schema", cacheKey: "prompt_cache_key", callID: mistralCallID},
	"groq":        {baseURL: "https://api.groq.com/openai/v1", maxTokens: "max_completion_tokens", streamOptions: true, effort: "reasoning_effort"},
	"openrouter":  {baseURL: "https://openrouter.ai/api/v1", maxTokens: "max_tokens", streamOptions: true, effort: "reasoning", document: "file", schema: "json_schema", cacheKey: "cache_control"},
	"deepseek":    {baseURL: "https://api.deepseek.com/v1", maxTokens: "max_tokens", streamOptions: true, schema: "json_object"},
}

// Kinds lists the dialects by name, sorted. Any other kind is spoken to as Compatible.
func Kinds() []string { return slices.Sorted(maps.Keys(dialects)) }
