package anthropic

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	ContentBlock map[string]json.RawMessage `json:"content_block"`
	Delta        map[string]json.RawMessage `json:"delta"`
	Usage        usage                      `json:"usage"`
}

type usage struct {
	Input      *int `json:"input_tokens"`
	Output     *int `json:"output_tokens"`
	CacheRead  *int `json:"cache_read_input_tokens"`
	CacheWrite *int `json:"cache_creation_input_tokens"`
	Details    struct {
		Thinking *int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// over adopts the counts that are present: each is a total for the whole message.
func (u *usage) over(next usage) {
	for _, pair := range [][2]**int{
		{&u.Input, &next.Input},
		{&u.Output, &next.Output},
		{&u.CacheRead, &next.CacheRead},
		{&u.CacheWrite, &next.CacheWrite},
		{&u.Details.Thinking, &next.Details.Thinking},
	} {
		if *pair[1] != nil {
			*pair[0] = *pair[1]
		}
	}
}

// total converts the usage. The API counts cached input separately.
func (u *usage) total() cost.Usage {
	n := func(p *int) int {
		if p == nil || *p < 0 {
			return 0
		}
		return *p
	}
	return cost.Usage{
		InputTokens:  n(u.Input) + n(u.CacheRead) + n(u.CacheWrite),
		OutputTokens: n(u.Output), CachedTokens: n(u.CacheRead), CacheWriteTokens: n(u.CacheWrite),
		ThinkingTokens: n(u.Details.Thinking), CostUnknown: true,
	}
}

// reader collects one answer.
type reader struct {
	request llm.Request
	answer  *wire.Answer
	body    *wire.Body
	model   string
	stop    string
	ended   bool
	usage   usage
	blocks  []*block
	said    int // bytes of the answer's text so far
}

func read(answer *wire.Answer, body *wire.Body, request llm.Request, progress func(string)) (*llm.Response, error) {
	answer.Tell(progress)
	r := &reader{request: request, answer: answer, body: body}
	for e, err := range wire.ServerEvents(answer.Body) {
		if err != nil {
			return nil, answer.Broken(err)
		}
		failed, err := r.take(e.Data)
		switch {
		case err != nil:
			return nil, answer.Broken(err)
		case failed:
			return nil, answer.Failed(wire.ParseFailure(e.Data))
		}
		if r.ended {
			break
		}
	}
	if !r.ended {
		return nil, answer.Broken(io.ErrUnexpectedEOF)
	}
	return r.response()
}

// maxBlocks bounds the blocks of an answer: real ones have a few.
const maxBlocks = 4096

// take adds one event, and reports whether it is a failure. It skips unknown kinds (ping).
func (r *reader) take(data []byte) (failed bool, err error) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return false, errNotUnderstood
	}
	switch e.Type {
	case "message_start":
		r.model = e.Message.Model
		r.usage.over(e.Message.Usage)
	case "content_block_start":
		if e.Index != len(r.blocks) {
			return false, errNotUnderstood
		}
		if len(r.blocks) >= maxBlocks {
			return false, wire.ErrTooLong
		}
		b := newBlock(e.ContentBlock)
		b.from = r.said
		r.blocks = append(r.blocks, b)
		r.say(b, e.ContentBlock["type"], e.ContentBlock["text"])
	case "content_block_delta":
		if e.Index < 0 || e.Index >= len(r.blocks) {
			return false, errNotUnderstood
		}
		r.blocks[e.Index].add(e.Delta)
		r.say(r.blocks[e.Index], e.Delta["type"], e.Delta["text"])
	case "message_delta":
		r.usage.over(e.Usage)
		if stop := text(e.Delta["stop_reason"]); stop != "" {
			r.stop = stop
		}
	case "message_stop":
		r.ended = true
	case "error":
		return true, nil
	}
	return false, nil
}

// say passes on a piece of the answer's text.
func (r *reader) say(b *block, kind, piece json.RawMessage) {
	if k := text(kind); k != "text" && k != "text_delta" {
		return
	}
	said := text(piece)
	r.answer.Say(said)
	r.said += len(said)
	b.to = r.said
}

func (r *reader) response() (*llm.Response, error) {
	response := &llm.Response{Text: r.answer.Text(), Stop: stops(r.stop), Usage: r.usage.total(), Model: r.model}
	raw := make([]json.RawMessage, 0, len(r.blocks))
	ids := map[string]bool{} // of calls
	for _, b := range r.blocks {
		data, err := b.raw()
		if err != nil {
			return nil, r.answer.Broken(errNotUnderstood)
		}
		known := b.known()
		if said, ok := known.(content.Text); ok && strings.TrimSpace(said.Value) == "" {
			continue // the API refuses to get back an empty text that it sent
		}
		if call, ok := known.(content.ToolCall); ok {
			if ids[call.ID] || !acceptedID.MatchString(call.ID) {
				return nil, r.answer.Broken(errNotUnderstood)
			}
			ids[call.ID] = true
		}
		raw = append(raw, data)
		if known != nil {
			response.Blocks = append(response.Blocks, known)
		}
	}
	if turn, err := json.Marshal(raw); err == nil && len(raw) > 0 {
		response.Raw = wire.PackRaw(wireName, r.request.Model, turn)
	}
	if response.Stop == llm.StopRefusal {
		response.Text, response.Refusal = "", response.Text
	} else if cites(r.request) {
		response.Citations = r.body.Cite(r.quotes())
	}
	return wire.Settle(response, r.answer, r.request)
}

func stops(reason string) llm.Stop {
	switch reason {
	case "end_turn", "stop_sequence":
		return llm.StopEnd
	case "max_tokens", "model_context_window_exceeded":
		return llm.StopLength
	case "refusal":
		return llm.StopRefusal
	case "tool_use":
		return llm.StopToolUse
	}
	return llm.StopOther
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // anything else is no text
	return s
}
