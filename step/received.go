package step

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm"
)

// Received keeps answers from their arrival until they are in the journal, so that a crash or a full disk does not lose a paid answer.
type Received interface {
	// Received opens the place for the answer to a question, before it is asked. held is an earlier answer that was never recorded.
	// keep stores an answer durably, in one write. shut closes the place.
	Received(ref engine.StepRef, question string) (held []byte, keep func(answer []byte) error, shut func() error, err error)
}

// receiver is a client that keeps each answer on arrival. Its first call returns an answer kept before, if there is one.
type receiver struct {
	client llm.Provider
	held   *receivedAnswer
	keep   func(answer []byte) error
	shut   func() error
	fault  error // of keeping the last answer
}

// has reports whether a kept answer was not returned yet. Then nothing is reserved: the reservation of the killed process counts at its
// estimate.
func (r *receiver) has() bool { return r.held != nil }

// close closes the place.
func (r *receiver) close(ctx context.Context) {
	if err := errors.Join(r.fault, r.shut()); err != nil {
		engine.Report(ctx, engine.Event{Kind: engine.EventWarning, Message: fmt.Sprintf("the answer could not be kept at once: %v", err)})
	}
}

// receiverOf returns a receiver around the client of a call's model.
func (c *call) receiverOf(client llm.Provider) (*receiver, error) {
	r := &receiver{client: client, keep: func([]byte) error { return nil }, shut: func() error { return nil }}
	if c.g.received == nil {
		return r, nil
	}
	question, err := json.Marshal(c.in)
	if err != nil {
		return nil, fmt.Errorf("name a question: %w", err)
	}
	sum := sha256.Sum256(question)
	var held []byte
	held, r.keep, r.shut, err = c.g.received.Received(c.in.StepRef, c.model.Alias+" "+hex.EncodeToString(sum[:]))
	if err != nil {
		return nil, failure.WithCode(fmt.Errorf("%w; the model was not asked", err), failure.State)
	}
	if held == nil {
		return r, nil
	}
	if err := json.Unmarshal(held, &r.held); err != nil {
		return nil, fmt.Errorf("read an answer that arrived before: %w", err)
	}
	return r, nil
}

// Generate implements llm.Provider.
func (r *receiver) Generate(ctx context.Context, request llm.Request, progress func(delta string)) (*llm.Response, error) {
	if held := r.held; held != nil {
		r.held = nil
		return held.response()
	}
	answer, err := r.client.Generate(ctx, request, progress)
	if err != nil {
		return nil, err
	}
	data, err := writeReceived(answer)
	if err == nil {
		err = r.keep(data)
	}
	r.fault = err // the paid answer may still reach the journal
	return answer, nil
}

// receivedAnswer is an answer as it arrived.
type receivedAnswer struct {
	Text      string          `json:"text"`
	Refusal   string          `json:"refusal,omitempty"`
	Blocks    json.RawMessage `json:"blocks"` // content.MarshalBlocks
	Citations []llm.Citation  `json:"citations,omitempty"`
	Raw       []byte          `json:"raw,omitempty"`
	Stop      llm.Stop        `json:"stop"`
	Usage     cost.Usage      `json:"usage"`
	Model     string          `json:"model"`
	Omitted   []string        `json:"omitted,omitempty"`
}

func writeReceived(a *llm.Response) ([]byte, error) {
	blocks, err := content.MarshalBlocks(a.Blocks)
	if err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return json.Marshal(receivedAnswer{
		Text: a.Text, Refusal: a.Refusal, Blocks: blocks, Citations: a.Citations, Raw: a.Raw, Stop: a.Stop, Usage: a.Usage, Model: a.Model,
		Omitted: a.Omitted,
	})
}

func (a *receivedAnswer) response() (*llm.Response, error) {
	blocks, err := content.UnmarshalBlocks(a.Blocks)
	if err != nil {
		return nil, fmt.Errorf("read an answer that arrived before: %w", err)
	}
	return &llm.Response{
		Text: a.Text, Refusal: a.Refusal, Blocks: blocks, Citations: a.Citations, Raw: a.Raw, Stop: a.Stop, Usage: a.Usage, Model: a.Model,
		Omitted: a.Omitted,
	}, nil
}
