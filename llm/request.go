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
// Generate returns when the answer is complete. While it arrives, progress (which may be nil) gets each piece of its
// text, from one goroutine, in order; reasoning is not passed. A failure of the model's side is an *Error; an ended
// context gives an error that wraps ctx.Err(). Generate sends the request once: repeating is Retry's work.
type Provider interface {
	Generate(ctx context.Context, request Request, progress func(delta string)) (*Response, error)
}

// Role says who speaks in a message.
type Role string

// The roles. System text stands in Request.System.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn. Raw, on an assistant's turn, is Response.Raw of an earlier answer: the provider that gave it gets
// it back unchanged; another provider or model gets Blocks, without reasoning. Blocks must hold the turn's content.ToolCall
// blocks in any case. The user's turn behind it must hold one content.ToolResult for each of them.
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
	ContextWindow   int      // tokens; 0: not known. Ollama reserves this many (num_ctx)
	Media           Loader   // nil: every medium is sent as its fallback text

	Delivery *policy.Delivery // where media go; nil: what the tables say of the adapter's service and the model

	Citations bool // have the service say which passages of documents an answer rests on; not beside a schema. Adapters of services that cannot ignore it

	Cache  bool            // more requests will begin like this one: have the service keep its beginning, where that must be asked for
	Tools  []Tool          // what the model may call; content.ToolCall blocks in the response, content.ToolResult in the next user turn
	Schema json.RawMessage // a JSON Schema that the answer must fit; nil: free text. An adapter sends it where the provider has structured output
}

// Tool is something that a model may call.
type Tool struct {
	Name        string          // letters, digits and _
	Description string          // for the model
	Parameters  json.RawMessage // JSON Schema of an object
}

// Stop says why an answer ended.
type Stop string

// The reasons. An answer with StopLength is cut off and must not be taken for a whole one.
const (
	StopEnd     Stop = "end"
	StopLength  Stop = "length"
	StopRefusal Stop = "refusal"
	StopToolUse Stop = "tool_use"
	StopOther   Stop = "other"
)

// Response is a model's answer. Text may be empty, also with StopEnd: the caller decides whether that is a failure.
type Response struct {
	Text      string          // the answer; never the words of a refusal
	Refusal   string          // the model's own words for declining, when it has some
	Blocks    []content.Block // text, reasoning and tool calls, in order
	Citations []Citation      // in the order of the text; only when Request.Citations asked for them
	Raw       json.RawMessage // for Message.Raw; opaque
	Stop      Stop
	Usage     cost.Usage
	Model     string   // the model that answered, as the provider names it
	Omitted   []string // names of pictures and documents that were sent as fallback text: no bytes, or the service takes none
	Unseen    []string // by Sighted: names of media that were sent and that the model cannot have seen when it answered

	Rewritten *Request `json:"-"` // the request that was answered, if it was changed on the way; else nil
}

// Citation says what a part of an answer rests on: a passage of a document that was sent with the request.
type Citation struct {
	Start, End int    // the part of Response.Text, in bytes; the end is behind it
	Document   string // the document's name in the vault
	From, To   int    // pages of the document in the vault, from 1, both of them included; 0: not told
	Text       string // the passage, as the service quotes it: untrusted, of any length, maybe empty
}

// Secret is a key or token. It prints as *** in every verb, in JSON and in log records; string(s) gives the value.
type Secret string
