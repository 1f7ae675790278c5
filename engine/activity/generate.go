package activity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/workflow"
)

// storedPrompt is the blob between Assemble and Generate: everything that will be sent but the bytes of pictures.
type storedPrompt struct {
	Format int             `json:"format"` // prompt.Format
	System string          `json:"system"`
	Blocks json.RawMessage `json:"blocks"` // content.MarshalBlocks
	Media  imaging.Limits  `json:"media"`  // what pictures are made to fit when they are sent
}

// Generate asks the model. Whatever it answers is kept; an error means that there is no answer. When the call fails and
// the step names a fallback, that model is asked once.
func (w *Workflow) Generate(ctx context.Context, in engine.GenerateIn) (engine.GenerateOut, error) {
	s, err := w.scene(ctx, in.StepRef)
	if err != nil {
		return engine.GenerateOut{}, err
	}
	data, err := w.Blobs.Get(ctx, in.Prompt)
	if err != nil {
		return engine.GenerateOut{}, engine.Fail(engine.CodeState, "start the workflow again", "read the prompt: %v", err)
	}
	var stored storedPrompt
	if err := json.Unmarshal(data, &stored); err != nil {
		return engine.GenerateOut{}, fmt.Errorf("read the prompt: %w", err)
	}
	out, err := w.ask(ctx, s.step, in.Model, stored)
	if err == nil || ctx.Err() != nil || s.step.Model == nil || s.step.Model.Fallback == "" {
		return out, err
	}
	fallback := s.step.Model.Fallback
	warning := fmt.Sprintf("%s failed (%v); asked the fallback %s", in.Model, err, fallback)
	engine.Report(ctx, engine.Event{Kind: engine.EventWarning, Message: warning})
	out, err = w.ask(ctx, s.step, fallback, stored)
	out.Warnings = append(out.Warnings, warning)
	return out, err
}

func (w *Workflow) ask(ctx context.Context, step workflow.Step, alias string, stored storedPrompt) (engine.GenerateOut, error) {
	model, err := w.Models.Model(ctx, alias)
	if err != nil {
		return engine.GenerateOut{}, modelFailure(err)
	}
	request, err := w.request(step, model, stored)
	if err != nil {
		return engine.GenerateOut{}, err
	}
	answer, err := model.Client.Generate(ctx, request, func(delta string) {
		engine.Report(ctx, engine.Event{Kind: engine.EventDelta, Message: delta})
	})
	if err != nil {
		return engine.GenerateOut{}, providerFailure(ctx, err)
	}
	return w.keep(ctx, model, answer)
}

// modelFailure gives the error of an unknown alias its code.
func modelFailure(err error) error {
	failure := engine.FailureOf(err)
	if failure.Code == engine.CodeInternal {
		failure.Code = engine.CodeUnknownModel
	}
	return failure
}

// request makes the provider's request. A model without vision gets no pictures, whatever the prompt was built for.
func (w *Workflow) request(step workflow.Step, model Model, stored storedPrompt) (llm.Request, error) {
	blocks, err := content.UnmarshalBlocks(stored.Blocks)
	if err != nil {
		return llm.Request{}, fmt.Errorf("read the prompt's blocks: %w", err)
	}
	request := llm.Request{
		Model: model.ID, System: stored.System, ContextWindow: model.ContextWindow, MaxOutputTokens: model.MaxOutput,
		Temperature: model.Temperature, Thinking: model.Thinking,
		Messages: []llm.Message{{Role: llm.User, Blocks: blocks}},
	}
	if model.Capabilities.Has(policy.Vision) {
		request.Media = &media{fs: w.FS, limits: stored.Media}
	}
	if m := step.Model; m != nil {
		if m.Temperature != nil {
			request.Temperature = m.Temperature
		}
		if m.Thinking != "" {
			request.Thinking = m.Thinking
		}
		if m.MaxOutputTokens > 0 {
			request.MaxOutputTokens = m.MaxOutputTokens
		}
	}
	return request, nil
}

// keep stores an answer as blobs.
func (w *Workflow) keep(ctx context.Context, model Model, answer *llm.Response) (engine.GenerateOut, error) {
	text := answer.Text
	if answer.Stop == llm.StopRefusal && answer.Refusal != "" {
		text = answer.Refusal
	}
	digest, err := w.Blobs.Put(ctx, []byte(text))
	if err != nil {
		return engine.GenerateOut{}, err
	}
	raw, err := content.MarshalBlocks(answer.Blocks)
	if err != nil {
		return engine.GenerateOut{}, fmt.Errorf("encode the answer: %w", err)
	}
	rawDigest, err := w.Blobs.Put(ctx, raw)
	if err != nil {
		return engine.GenerateOut{}, err
	}
	out := engine.GenerateOut{
		Answer: digest, Raw: rawDigest, Empty: strings.TrimSpace(answer.Text) == "", Stop: string(answer.Stop),
		Model: answer.Model, Provider: model.ProviderName, Usage: engine.Usage(answer.Usage), Omitted: slices.Clone(answer.Omitted),
	}
	return out, nil
}

// providerFailure is a provider's error as data. Repeating it was tried already, below this.
func providerFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	failure := engine.FailureOf(err)
	failure.Retryable = false
	if e, ok := llm.AsError(err); ok {
		failure.Code, failure.Class, failure.HTTP = engine.CodeProvider, string(e.Class), e.Status
		failure.Actual, failure.Limit = e.Actual, e.Limit
	} else if failure.Code == engine.CodeInternal {
		failure.Code = engine.CodeProvider
	}
	return failure
}
