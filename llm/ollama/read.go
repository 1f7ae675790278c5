package ollama

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

var errNotUnderstood = errors.New("the answer is not what /api/chat sends")

type chunk struct {
	Model   string `json:"model"`
	Error   string `json:"error"`
	Message struct {
		Content   string            `json:"content"`
		Thinking  string            `json:"thinking"`
		ToolCalls []json.RawMessage `json:"tool_calls"`
	} `json:"message"`
	Done        bool   `json:"done"`
	DoneReason  string `json:"done_reason"`
	PromptCount int    `json:"prompt_eval_count"`
	AnswerCount int    `json:"eval_count"`
}

// reader collects one answer.
type reader struct {
	answer   *wire.Answer
	thinking strings.Builder
	calls    []json.RawMessage
	last     chunk
}

func (p *Provider) read(answer *wire.Answer, request llm.Request, progress func(string)) (*llm.Response, error) {
	answer.Tell(progress)
	r := &reader{answer: answer}
	for line, err := range wire.Lines(answer.Body) {
		if err != nil {
			return nil, answer.Broken(err)
		}
		var c chunk
		if json.Unmarshal(line, &c) != nil {
			return nil, answer.Broken(errNotUnderstood)
		}
		if c.Error != "" {
			return nil, answer.Failed(wire.ParseFailure(line))
		}
		r.take(c)
		if c.Done {
			break
		}
	}
	if !r.last.Done {
		return nil, answer.Broken(io.ErrUnexpectedEOF)
	}
	if window := request.ContextWindow; window > 0 && r.last.PromptCount >= window {
		// A server too old for truncate has cut the prompt and answered nevertheless.
		return nil, answer.Partial(&llm.Error{
			Class: llm.ClassContextTokens, Provider: p.endpoint.Provider(), Actual: int64(r.last.PromptCount), Limit: int64(window),
			Message: "the prompt fills the whole context window", Usage: r.usage(),
		})
	}
	return wire.Settle(r.response(request), answer, request)
}

func (r *reader) take(c chunk) {
	r.thinking.WriteString(c.Message.Thinking)
	r.calls = append(r.calls, c.Message.ToolCalls...)
	r.last = c
	r.answer.Say(c.Message.Content)
}

func (r *reader) usage() cost.Usage {
	return cost.Usage{InputTokens: max(r.last.PromptCount, 0), OutputTokens: max(r.last.AnswerCount, 0), CostUnknown: true}
}

func (r *reader) response(request llm.Request) *llm.Response {
	response := &llm.Response{Text: r.answer.Text(), Stop: stops(r.last.DoneReason), Usage: r.usage(), Model: r.last.Model}
	if r.thinking.Len() > 0 {
		response.Blocks = append(response.Blocks, content.Thinking{Value: r.thinking.String()})
	}
	if response.Text != "" {
		response.Blocks = append(response.Blocks, content.Text{Value: response.Text})
	}
	ids := map[string]bool{}
	for i, raw := range r.calls {
		call := toolCall(raw)
		if call.ID == "" || ids[call.ID] { // older servers send calls without ids
			call.ID = fmt.Sprintf("call_%d_%d", len(request.Messages), i)
		}
		ids[call.ID] = true
		response.Blocks = append(response.Blocks, call)
	}
	if len(r.calls) > 0 && response.Stop == llm.StopEnd {
		response.Stop = llm.StopToolUse
	}
	if len(response.Blocks) == 0 {
		return response
	}
	echo := struct {
		Role      string            `json:"role"`
		Content   string            `json:"content"`
		Thinking  string            `json:"thinking,omitempty"`
		ToolCalls []json.RawMessage `json:"tool_calls,omitempty"`
	}{"assistant", response.Text, r.thinking.String(), r.calls}
	if data, err := json.Marshal(echo); err == nil {
		response.Raw = wire.PackRaw(wireName, request.Model, data)
	}
	return response
}

func toolCall(raw json.RawMessage) content.ToolCall {
	var call struct {
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
	_ = json.Unmarshal(raw, &call) // a call that is not understood has no name, and no tool answers to that
	return content.ToolCall{ID: call.ID, Name: call.Function.Name, Input: wire.CallInput(string(call.Function.Arguments))}
}

func stops(reason string) llm.Stop {
	switch reason {
	case "stop", "":
		return llm.StopEnd
	case "length":
		return llm.StopLength
	}
	return llm.StopOther
}
