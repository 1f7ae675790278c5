package llm

import (
	"context"
	"encoding/json"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/policy"
)

// Provider answers one request. Implementations are safe for concurrent use.
//
// Generate returns when the answer is complete. While it arrives, progress (which may be nil) gets each piece of its text,
// but no reasoning, in order and from one goroutine. A failure of the service is an *Error; after the context ends the
// error wraps ctx.Err(). Generate sends the request once; Retry repeats it.
type Provider interface {
	Generate(ctx context.Context, request Request, progress func(delta string)) (*Response, error)
}

// Role is the author of a message.
type Role string

// The roles. System text is in Request.System.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn. Raw, on an assistant's turn, is Response.Raw of an earlier answer: its provider gets it back
// unchanged; another provider or model gets Blocks, without reasoning. Blocks must always hold the turn's
// content.ToolCall blocks. The user's turn after it must hold one content.ToolResult for each of them.
type Message struct {
	Role   Role
	Blocks []content.Block
	Raw    json.RawMessage
}

// Request is one question to a model. The order of Blocks is the author's and is kept on the wire.
type Request struct {
	Model           string // the provider's own name for the model
	System          string
	Messages        []Message
	MaxOutputTokens int      // 0: the adapter's default
	Temperature     *float64 // nil: the provider's default
	Thinking        string   // "" the provider's default, "off", "low", "medium", "high", or a number of tokens
	ContextWindow   int      // tokens; 0: unknown. Ollama reserves this many (num_ctx)
	Media           Loader   // nil: every medium is sent as its fallback text

	// Changed is the place of the first message, from 1, that is not what it was when the turns after it were answered; 0: none.
	// Reasoning that a model binds to what was before it does not go back from there on. With 1, none does.
	Changed int

	Delivery *policy.Delivery // where media go; nil: as the tables have it for the service and model

	Citations bool // request citations of documents, unless Schema is set; ignored for services without them

	Cache  bool            // more requests will begin like this one: request prefix caching where the service does not do it by itself
	Tools  []Tool          // what the model may call: content.ToolCall in the response, content.ToolResult in the next user turn
	Schema json.RawMessage // a JSON Schema for the answer; nil: free text. Adapters send it if the provider has structured output
}

// Tool is something that a model may call.
type Tool struct {
	Name        string          // letters, digits and _
	Description string          // for the model
	Parameters  json.RawMessage // JSON Schema of an object
}

// Stop is the reason why an answer ended.
type Stop string

// The reasons. An answer with StopLength is cut off and must not be treated as complete.
const (
	StopEnd     Stop = "end"
	StopLength  Stop = "length"
	StopRefusal Stop = "refusal"
	StopToolUse Stop = "tool_use"
	StopOther   Stop = "other"
)

// Response is a model's answer. Text may be empty even with StopEnd: the caller decides whether that is a failure.
type Response struct {
	Text      string          // the answer; never a refusal
	Refusal   string          // the model's explanation for declining, if any
	Blocks    []content.Block // text, reasoning and tool calls, in order
	Citations []Citation      // in the order of the text; only with Request.Citations
	Raw       json.RawMessage // for Message.Raw; opaque
	Stop      Stop
	Usage     cost.Usage
	Model     string   // the model that answered, as the provider names it
	Omitted   []string // names of media sent as fallback text: no bytes, or not accepted by the service
	Unseen    []string // names of media that were sent and that the model cannot have seen, see rewrite.Sighted

	Rewritten *Request `json:"-"` // the request that was answered, if it was changed on the way; else nil
}

// Citation links a part of an answer to a passage of a document in the request.
type Citation struct {
	Start, End int    // the part of Response.Text, in bytes; End is exclusive
	Document   string // the document's name in the vault
	From, To   int    // pages of the document in the vault, from 1, inclusive; 0: unknown
	Text       string // the passage as the service quotes it: untrusted, of any length, possibly empty
}

// Secret is a key or token. It prints as *** in every verb, in JSON and in log records; string(s) is the value.
type Secret string
