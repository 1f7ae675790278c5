package bedrock

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

var errNotUnderstood = errors.New("the answer is not what ConverseStream sends")

// event is the payload of any event; which members it has depends on its kind.
type event struct {
	Index int `json:"contentBlockIndex"`
	Start struct {
		ToolUse map[string]json.RawMessage `json:"toolUse"`
	} `json:"start"`
	Delta delta  `json:"delta"`
	Stop  string `json:"stopReason"`
	Usage *usage `json:"usage"`
}

// usage counts cached input apart: the whole input is the sum of three. From AWS's page on prompt caching.
type usage struct {
	Input      int `json:"inputTokens"`
	Output     int `json:"outputTokens"`
	CacheRead  int `json:"cacheReadInputTokens"`
	CacheWrite int `json:"cacheWriteInputTokens"`
}

func (u *usage) total() cost.Usage {
	if u == nil {
		return cost.Usage{CostUnknown: true}
	}
	read, written := max(u.CacheRead, 0), max(u.CacheWrite, 0)
	return cost.Usage{
		InputTokens: max(u.Input, 0) + read + written, OutputTokens: max(u.Output, 0),
		CachedTokens: read, CacheWriteTokens: written, CostUnknown: true,
	}
}

// reader collects one answer.
type reader struct {
	answer *wire.Answer
	body   *wire.Body
	stop   string
	usage  *usage
	blocks map[int]*block
	order  []int // indexes of blocks as they came
	said   int   // bytes of the answer's text so far
}

func read(answer *wire.Answer, body *wire.Body, request llm.Request, progress func(string)) (*llm.Response, error) {
	answer.Tell(progress)
	r := &reader{answer: answer, body: body, blocks: map[int]*block{}}
	for f, err := range frames(answer.Body) {
		switch {
		case err != nil:
			return nil, answer.Broken(err)
		case f.failed:
			return nil, answer.Failed(f.failure())
		}
		if err := r.take(f); err != nil {
			return nil, answer.Broken(err)
		}
	}
	if r.stop == "" {
		return nil, answer.Broken(io.ErrUnexpectedEOF)
	}
	return r.response(request)
}

// take adds one event. It skips unknown kinds.
func (r *reader) take(f frame) error {
	if !slices.Contains([]string{"contentBlockStart", "contentBlockDelta", "messageStop", "metadata"}, f.kind) {
		return nil
	}
	var e event
	if json.Unmarshal(f.payload, &e) != nil {
		return errNotUnderstood
	}
	switch f.kind {
	case "contentBlockStart":
		r.block(e.Index).call = e.Start.ToolUse
	case "contentBlockDelta":
		b := r.block(e.Index)
		b.add(e.Delta)
		if e.Delta.Text != "" {
			r.answer.Say(e.Delta.Text)
			r.said += len(e.Delta.Text)
			b.to = r.said
		}
	case "messageStop":
		r.stop = e.Stop
	case "metadata":
		r.usage = e.Usage
	}
	return nil
}

// block returns the block with an index. A text starts without an event of its own.
func (r *reader) block(index int) *block {
	if r.blocks[index] == nil {
		r.blocks[index] = &block{from: r.said}
		r.order = append(r.order, index)
	}
	return r.blocks[index]
}

func (r *reader) response(request llm.Request) (*llm.Response, error) {
	out := &llm.Response{Text: r.answer.Text(), Stop: stops(r.stop), Usage: r.usage.total(), Model: request.Model}
	var turn []any
	ids := map[string]bool{} // of calls
	for _, i := range r.order {
		raw, known := r.blocks[i].finished()
		if known == nil {
			continue
		}
		if call, ok := known.(content.ToolCall); ok {
			if ids[call.ID] || !acceptedID.MatchString(call.ID) {
				return nil, r.answer.Broken(errNotUnderstood)
			}
			ids[call.ID] = true
		}
		turn, out.Blocks = append(turn, raw), append(out.Blocks, known)
	}
	if len(ids) > 0 && out.Stop == llm.StopEnd {
		out.Stop = llm.StopToolUse
	}
	if data, err := json.Marshal(turn); err == nil && (len(ids) > 0 || out.Text != "") {
		out.Raw = wire.PackRaw(wireName, request.Model, data)
	}
	if out.Stop == llm.StopRefusal {
		out.Text, out.Refusal = "", out.Text
	} else if request.Citations && len(request.Schema) == 0 {
		out.Citations = r.body.Cite(r.quotes())
	}
	return wire.Settle(out, r.answer, request)
}

// stops maps the service model's StopReason. A guardrail of the account that steps in answers in the model's place.
func stops(reason string) llm.Stop {
	switch reason {
	case "end_turn", "stop_sequence":
		return llm.StopEnd
	case "max_tokens", "model_context_window_exceeded":
		return llm.StopLength
	case "guardrail_intervened", "content_filtered", "refusal":
		return llm.StopRefusal
	case "tool_use":
		return llm.StopToolUse
	}
	return llm.StopOther
}

// statuses are those of the exceptions that end a stream, as the service model has them for answers that never began.
var statuses = map[string]int{
	"internalServerException": http.StatusInternalServerError, "modelStreamErrorException": http.StatusFailedDependency,
	"validationException": http.StatusBadRequest, "throttlingException": http.StatusTooManyRequests,
	"serviceUnavailableException": http.StatusServiceUnavailable, "modelTimeoutException": http.StatusRequestTimeout,
}

// failure returns the failure in a frame that ends the answer.
func (f frame) failure() wire.Failure {
	said := wire.ParseFailure(f.payload)
	if said.Message == "" {
		said.Message = f.words
	}
	if said.Message == "" {
		said.Message = f.kind
	}
	said.Code, said.Status = f.kind, statuses[f.kind]
	return said
}
