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

// Received keeps answers from the moment at which they arrive until their record is in the journal, so that a process that is
// killed in between, or a disk that is full, does not lose what was paid for.
type Received interface {
	// Received opens the place of the answer to a question of a step, before it is asked. held is an answer that was put
	// there and never recorded. keep puts one there, durably, by one write; shut ends the use of the place.
	Received(ref engine.StepRef, question string) (held []byte, keep func(answer []byte) error, shut func() error, err error)
}

// receiver is a client that keeps each answer when it arrives, before anything is made of it. Its first question gets the
// answer that was kept for it before, if there is one.
type receiver struct {
	client llm.Provider
	held   *receivedAnswer
	keep   func(answer []byte) error
	shut   func() error
	fault  error // of keeping the last answer
}

// has says whether an answer was kept that was not given yet: then nothing is to be reserved. What the process that was
// killed had reserved counts at its estimate.
func (r *receiver) has() bool { return r.held != nil }

// close ends the use of the place.
func (r *receiver) close(ctx context.Context) {
	if err := errors.Join(r.fault, r.shut()); err != nil {
		engine.Report(ctx, engine.Event{Kind: engine.EventWarning, Message: fmt.Sprintf("the answer could not be kept at once: %v", err)})
	}
}

// receiverOf stands before the client of a call's model.
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
	r.fault = err // the answer is here and paid for: perhaps it can be stored after all
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
