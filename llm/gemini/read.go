package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

var errNotUnderstood = errors.New("the answer is not what generateContent sends")

type chunk struct {
	Error      json.RawMessage `json:"error"`
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []map[string]json.RawMessage `json:"parts"`
		} `json:"content"`
		Finish  string `json:"finishReason"`
		Message string `json:"finishMessage"`
	} `json:"candidates"`
	Feedback struct {
		Block   string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *usage `json:"usageMetadata"`
	Model string `json:"modelVersion"`
}

type usage struct {
	Prompt     int `json:"promptTokenCount"` // the cached ones too
	Tools      int `json:"toolUsePromptTokenCount"`
	Candidates int `json:"candidatesTokenCount"` // thoughts are counted apart
	Thoughts   int `json:"thoughtsTokenCount"`
	Cached     int `json:"cachedContentTokenCount"`

	Details []struct { // of the prompt
		Modality string `json:"modality"`
		Tokens   int    `json:"tokenCount"`
	} `json:"promptTokensDetails"`
}

func (u *usage) total() cost.Usage {
	if u == nil {
		return cost.Usage{CostUnknown: true}
	}
	total := cost.Usage{
		InputTokens: max(u.Prompt, 0) + max(u.Tools, 0), OutputTokens: max(u.Candidates, 0) + max(u.Thoughts, 0),
		CachedTokens: max(u.Cached, 0), ThinkingTokens: max(u.Thoughts, 0), CostUnknown: true,
	}
	for _, d := range u.Details {
		n := max(d.Tokens, 0)
		switch d.Modality {
		case "TEXT":
			total.TextTokens += n
		case "IMAGE":
			total.ImageTokens += n
		case "DOCUMENT":
			total.DocumentTokens += n
		case "AUDIO":
			total.AudioTokens += n
		case "VIDEO":
			total.VideoTokens += n
		}
	}
	return total
}

// reader collects one answer.
type reader struct {
	model   string
	finish  string
	why     string // as the service names it
	blocked bool
	usage   *usage
	parts   parts
}

func read(answer *wire.Answer, request llm.Request, progress func(string)) (*llm.Response, error) {
	answer.Tell(progress)
	r := &reader{}
	for e, err := range wire.ServerEvents(answer.Body) {
		if err != nil {
			return nil, answer.Broken(err)
		}
		if err := r.take(answer, e.Data); err != nil {
			return nil, err
		}
	}
	if r.finish == "" && !r.blocked {
		return nil, answer.Broken(io.ErrUnexpectedEOF)
	}
	return r.response(answer, request)
}

// take adds one chunk. Each holds the counts so far.
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
	if c.Usage != nil {
		r.usage = c.Usage
	}
	if c.Feedback.Block != "" {
		r.blocked, r.finish, r.why = true, c.Feedback.Block, c.Feedback.Message
	}
	for _, candidate := range c.Candidates {
		if candidate.Index != 0 {
			continue // one answer was requested
		}
		for _, p := range candidate.Content.Parts {
			answer.Say(r.parts.add(p))
		}
		if candidate.Finish != "" {
			r.finish, r.why = candidate.Finish, candidate.Message
		}
	}
	return nil
}

func (r *reader) response(answer *wire.Answer, request llm.Request) (*llm.Response, error) {
	out := &llm.Response{Text: answer.Text(), Stop: stops(r.finish), Usage: r.usage.total(), Model: r.model}
	if r.blocked {
		out.Stop = llm.StopRefusal
	}
	if out.Stop == llm.StopRefusal {
		out.Refusal = r.finish
		if r.why != "" {
			out.Refusal += ": " + r.why
		}
	}
	var calls int
	out.Blocks, calls = r.parts.blocks(func(place int) string {
		return wire.ForeignCallID(fmt.Sprintf("call %d.%d", len(request.Messages), place), 16)
	})
	if calls > 0 && out.Stop == llm.StopEnd {
		out.Stop = llm.StopToolUse
	}
	if out.Text != "" || calls > 0 {
		out.Raw = wire.PackRaw(wireName, request.Model, r.parts.raw())
	}
	return wire.Settle(out, answer, request)
}

// stops maps the reasons why an answer ended. From the reference of FinishReason, read in November 2026.
func stops(reason string) llm.Stop {
	switch reason {
	case "STOP":
		return llm.StopEnd
	case "MAX_TOKENS":
		return llm.StopLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return llm.StopRefusal
	}
	return llm.StopOther
}
