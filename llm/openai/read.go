package openai

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

var errNotUnderstood = errors.New("the answer is not what Chat Completions sends")

type chunk struct {
	Model string          `json:"model"`
	Error json.RawMessage `json:"error"`
	Usage *usage          `json:"usage"`
	Groq  struct {
		Usage *usage `json:"usage"`
	} `json:"x_groq"`
	Choices []struct {
		Index   int                        `json:"index"`
		Delta   map[string]json.RawMessage `json:"delta"`
		Message map[string]json.RawMessage `json:"message"` // when the server does not stream
		Finish  string                     `json:"finish_reason"`
	} `json:"choices"`
}

type usage struct {
	Prompt        int      `json:"prompt_tokens"`
	Completion    int      `json:"completion_tokens"`
	Cost          *float64 `json:"cost"`
	PromptDetails struct {
		Cached int `json:"cached_tokens"`
		Text   int `json:"text_tokens"` // with the others, of models that hear
		Image  int `json:"image_tokens"`
		Audio  int `json:"audio_tokens"`
		Video  int `json:"video_tokens"` // OpenRouter's
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *usage) total() cost.Usage {
	if u == nil {
		return cost.Usage{CostUnknown: true}
	}
	total := cost.Usage{
		InputTokens: max(u.Prompt, 0), OutputTokens: max(u.Completion, 0), CachedTokens: max(u.PromptDetails.Cached, 0),
		ThinkingTokens: max(u.CompletionDetails.Reasoning, 0), CostUnknown: u.Cost == nil,
		TextTokens: max(u.PromptDetails.Text, 0), ImageTokens: max(u.PromptDetails.Image, 0), AudioTokens: max(u.PromptDetails.Audio, 0),
		VideoTokens: max(u.PromptDetails.Video, 0),
	}
	if u.Cost != nil {
		total.CostUSD = *u.Cost
	}
	return total
}

// reader collects one answer.
type reader struct {
	model    string
	finish   string
	usage    *usage
	message  *turn
	thinking strings.Builder
	refusal  strings.Builder
}

func (p *Provider) read(answer *wire.Answer, request llm.Request, progress func(string)) (*llm.Response, error) {
	answer.Tell(progress)
	r := &reader{message: newTurn()}
	var err error
	if answer.MediaType == "application/json" {
		err = r.readWhole(answer)
	} else {
		err = r.readEvents(answer)
	}
	if err != nil {
		return nil, err
	}
	if r.finish == "" {
		return nil, answer.Broken(io.ErrUnexpectedEOF)
	}
	return p.response(r, answer, request)
}

// readWhole reads an answer that was not streamed although streaming was requested.
func (r *reader) readWhole(answer *wire.Answer) error {
	var all []byte
	for line, err := range wire.Lines(answer.Body) {
		if err != nil {
			return answer.Broken(err)
		}
		all = append(append(all, line...), '\n')
	}
	return r.take(answer, all)
}

func (r *reader) readEvents(answer *wire.Answer) error {
	for e, err := range wire.ServerEvents(answer.Body) {
		if err != nil {
			return answer.Broken(err)
		}
		if string(e.Data) == "[DONE]" {
			return nil
		}
		if err := r.take(answer, e.Data); err != nil {
			return err
		}
	}
	return nil
}

// take adds one chunk. Usage comes in the last one, after the finish.
func (r *reader) take(answer *wire.Answer, data []byte) error {
	var c chunk
	if json.Unmarshal(data, &c) != nil {
		return answer.Broken(errNotUnderstood)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return answer.Failed(wire.ParseFailure(data))
	}
	if c.Model != "" {
		r.model = c.Model
	}
	for _, u := range []*usage{c.Usage, c.Groq.Usage} {
		if u != nil {
			r.usage = u
		}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // one answer was requested
		}
		for _, delta := range []map[string]json.RawMessage{choice.Delta, choice.Message} {
			r.message.merge(delta)
			r.say(answer, delta)
		}
		if r.message.tooLong() {
			return answer.Broken(wire.ErrTooLong)
		}
		if choice.Finish != "" {
			r.finish = choice.Finish
		}
	}
	return nil
}

// say passes on what the delta adds to the answer.
func (r *reader) say(answer *wire.Answer, delta map[string]json.RawMessage) {
	r.refusal.WriteString(text(delta["refusal"]))
	for _, name := range []string{"reasoning_content", "reasoning"} { // the services' names for one thing
		if piece := text(delta[name]); piece != "" {
			r.thinking.WriteString(piece)
			break
		}
	}
	said, thinking := parts(delta["content"])
	r.thinking.WriteString(thinking)
	answer.Say(said)
}

func (p *Provider) response(r *reader, answer *wire.Answer, request llm.Request) (*llm.Response, error) {
	response := &llm.Response{Text: answer.Text(), Refusal: r.refusal.String(), Stop: stops(r.finish), Usage: r.usage.total(), Model: r.model}
	if response.Refusal != "" {
		response.Stop = llm.StopRefusal
	}
	if r.finish == "error" { // OpenRouter: the upstream broke, without a word why
		return nil, answer.Failed(wire.Failure{Code: "server_error", Message: "the upstream provider reported an error"})
	}
	if r.thinking.Len() > 0 {
		response.Blocks = append(response.Blocks, content.Thinking{Value: r.thinking.String()})
	}
	if response.Text != "" {
		response.Blocks = append(response.Blocks, content.Text{Value: response.Text})
	}
	calls := r.message.calls(func(place int) string {
		return wire.ForeignCallID(fmt.Sprintf("call %d.%d", len(request.Messages), place), foreignID)
	})
	response.Blocks = append(response.Blocks, calls...)
	if len(calls) > 0 && response.Stop == llm.StopEnd { // some servers say "stop" whatever was said
		response.Stop = llm.StopToolUse
	}
	if response.Text != "" || len(calls) > 0 {
		response.Raw = wire.PackRaw(p.endpoint.Kind(), request.Model, r.message.raw())
	}
	return wire.Settle(response, answer, request)
}

func stops(reason string) llm.Stop {
	switch reason {
	case "stop", "eos":
		return llm.StopEnd
	case "length", "model_length":
		return llm.StopLength
	case "content_filter":
		return llm.StopRefusal
	case "tool_calls", "function_call":
		return llm.StopToolUse
	}
	return llm.StopOther
}
