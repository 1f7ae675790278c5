package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/drain"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/workflow"
)

// Generator asks models.
type Generator struct {
	plans    *Plans
	models   Models
	stored   Stored
	answers  Answers
	outputs  Outputs
	budgets  Budgets
	media    media.Source
	received Received // may be nil
	tools    Tools

	// remote fetches pictures of the web; nil: nothing may be fetched.
	remote     func(ctx context.Context, url string) (prompt.RemotePicture, error)
	noRewrites bool
}

// Generate asks the model, and reports the pages that it was shown, in a workflow with @cite.
func (g *Generator) Generate(ctx context.Context, in engine.GenerateIn) (engine.GenerateOut, error) {
	s, err := g.plans.Context(ctx, in.StepRef)
	if err != nil {
		return engine.GenerateOut{}, err
	}
	stored, err := g.stored.Prompt(ctx, in.Prompt)
	if err != nil {
		return engine.GenerateOut{}, err
	}
	out, err := g.answer(ctx, s, in, stored)
	if err == nil && len(in.Turns) == 0 {
		out.Pages = stored.Pages
		if m := s.Step.Model; stored.Fallback != nil && m != nil && (out.Alias == m.Fallback || in.Model == m.Fallback) {
			out.Pages = stored.Fallback.Pages
		}
	}
	return out, err
}

// answer asks the model, or returns a fresh answer from the cache. Every answer is kept; an error means there is none. If the call
// fails, the step's fallback model is asked with its own prompt.
func (g *Generator) answer(ctx context.Context, s Context, in engine.GenerateIn, stored Prompt) (engine.GenerateOut, error) {
	if hit, found, err := g.answers.first(ctx, s, in); err != nil || found {
		return hit, err
	}
	fallback := ""
	if s.Step.Model != nil {
		fallback = s.Step.Model.Fallback
	}
	if fallback != "" && in.Model == fallback {
		return g.askFallback(ctx, s, in, stored)
	}
	out, err := g.ask(ctx, s, in, in.Model, stored)
	if err == nil || ctx.Err() != nil || fallback == "" || stored.NoFallback != "" || ours(err) {
		return out, err
	}
	warning := fmt.Sprintf("%s failed (%v); asked the fallback %s", in.Model, err, fallback)
	engine.Report(ctx, engine.Event{Kind: engine.EventWarning, Message: warning})
	out, err = g.askFallback(ctx, s, in, stored)
	out.Warnings = append([]string{warning}, out.Warnings...)
	return out, err
}

// ours reports whether a call failed for a reason unrelated to its model.
func ours(err error) bool {
	code := failure.Of(err).Code
	return code == failure.Budget || code == failure.State || code == failure.Conflict || errors.Is(err, drain.Err)
}

// askFallback asks the fallback model with its own prompt, or with the first model's if an earlier version stored none.
func (g *Generator) askFallback(ctx context.Context, s Context, in engine.GenerateIn, stored Prompt) (engine.GenerateOut, error) {
	own := stored
	if stored.Fallback != nil {
		own = *stored.Fallback
	}
	out, err := g.ask(ctx, s, in, s.Step.Model.Fallback, own)
	if err != nil {
		return out, err
	}
	out.Alias = s.Step.Model.Fallback
	if in.Model != s.Step.Model.Fallback {
		out.Warnings = append(out.Warnings, own.Warnings...)
		out.Omitted = append(slices.Clone(own.Omitted), out.Omitted...)
		out.Omissions, out.Receipt = append([]engine.Omission{}, own.Omissions...), own.Receipt
	}
	return out, nil
}

func (g *Generator) ask(ctx context.Context, s Context, in engine.GenerateIn, alias string, stored Prompt) (engine.GenerateOut, error) {
	model, err := g.models.Model(ctx, alias)
	if err != nil {
		return engine.GenerateOut{}, failure.WithCode(err, failure.UnknownModel)
	}
	request, err := g.request(ctx, s, model, stored, in.Turns)
	if err != nil {
		return engine.GenerateOut{}, err
	}
	c := call{g: g, model: model, stored: stored, in: in, retry: retryPolicy(ctx, s.Step, model), noFootnotes: s.Step.Cite != nil}
	c.approved = s.Step.Approve.AsksPrompt() && len(in.Turns) == 0
	if c.metered, err = g.budgets.metered(s, in.StepRef, model, stored); err != nil {
		return engine.GenerateOut{}, err
	}
	out, err := c.ask(ctx, request)
	if err == nil && len(in.Turns) == 0 && stored.Call.Model != "" { // earlier versions stored none
		out.Differs = stored.otherCall(callSketch(s, model))
	}
	return out, err
}

// retryPolicy returns the model's policy, changed by @retry. Each repetition is an event.
func retryPolicy(ctx context.Context, step workflow.Step, model Model) llm.RetryPolicy {
	p := model.Retry
	if r := step.Retry; r != nil {
		p.Attempts = r.Count + 1
		if r.Backoff > 0 {
			p.Base = r.Backoff
			p.Cap = max(p.Cap, r.Backoff<<min(r.Count, 6))
		}
	}
	notify := p.Notify
	p.Notify = func(e llm.RetryEvent) {
		if notify != nil {
			notify(e)
		}
		engine.Report(ctx, engine.Event{Kind: engine.EventRetry, Message: fmt.Sprintf("attempt %d of %d failed: %v", e.Attempt, e.Attempts, e.Err)})
	}
	return p
}

// request returns the provider's request: the prompt and the turns after it. A model receives no media that it does not support,
// whatever the prompt was built for.
func (g *Generator) request(ctx context.Context, s Context, model Model, stored Prompt, turns []engine.Turn) (llm.Request, error) {
	blocks, err := content.UnmarshalBlocks(stored.Blocks)
	if err != nil {
		return llm.Request{}, fmt.Errorf("read the prompt's blocks: %w", err)
	}
	request := callSettings(s.Step, model)
	request.System = stored.System
	request.Messages = []llm.Message{{Role: llm.User, Blocks: blocks}}
	request.Tools = g.offered(s, model, stored)
	if model.Capabilities.Has(policy.StructuredOutput) {
		request.Schema = stored.Demand.Schema
	}
	request.Citations = g.outputs.cite(s, model, stored.Demand)
	request.Cache = model.Capabilities.Has(policy.PromptCaching) && (len(request.Tools) > 0 || len(turns) > 0) // else the prefix is never reused
	delivery := model.Delivery()
	request.Media, request.Delivery = g.media.Loader(stored.Media), &delivery
	for _, turn := range turns {
		said, raw, err := g.stored.Answer(ctx, turn.Raw)
		if err != nil {
			return request, err
		}
		data, err := g.stored.Blobs.Get(ctx, turn.Reply)
		if err != nil {
			return request, failure.New(failure.State, "start the workflow again", "read a turn: %v", err)
		}
		reply, err := content.UnmarshalBlocks(data)
		if err != nil {
			return request, fmt.Errorf("read a turn: %w", err)
		}
		request.Messages = append(request.Messages, llm.Message{Role: llm.Assistant, Blocks: said, Raw: raw}, llm.Message{Role: llm.User, Blocks: reply})
	}
	return request, nil
}

// offered returns the tools that the prompt was built with. Prompts of an earlier version do not contain them.
func (g *Generator) offered(s Context, model Model, stored Prompt) []llm.Tool {
	if stored.Tools == nil {
		stored.Tools = g.tools.Offer(s, model).with(&prompt.Prompt{Chunks: stored.Chunks})
	}
	if len(stored.Tools) == 0 || !model.Capabilities.Has(policy.Tools) {
		return nil
	}
	return stored.Tools
}

// callSettings returns the settings of a call: the alias's, changed by @model.
func callSettings(step workflow.Step, model Model) llm.Request {
	request := llm.Request{
		Model: model.ID, ContextWindow: model.ContextWindow, MaxOutputTokens: model.MaxOutput,
		Temperature: model.Temperature, Thinking: model.Thinking,
	}
	m := step.Model
	if m == nil {
		return request
	}
	if m.Temperature != nil {
		request.Temperature = m.Temperature
	}
	if m.Thinking != "" {
		request.Thinking = m.Thinking
	}
	if m.MaxOutputTokens > 0 {
		request.MaxOutputTokens = m.MaxOutputTokens
	}
	return request
}

// keep stores an answer as blobs, without the code of the prompt's frames. Its text gets footnotes for citations; its blocks, which go
// back to the model, do not.
func (g *Generator) keep(ctx context.Context, model Model, nonce string, answer *llm.Response) (engine.GenerateOut, error) {
	text := answer.Text
	if answer.Stop == llm.StopRefusal && answer.Refusal != "" {
		text = answer.Refusal
	}
	if answer.Stop == llm.StopEnd {
		text = footnoted(text, answer.Citations)
	}
	digest, err := g.stored.Blobs.Put(ctx, []byte(prompt.WithoutNonce(text, nonce)))
	if err != nil {
		return engine.GenerateOut{}, failure.WithCode(err, failure.State)
	}
	blocks, err := content.MarshalBlocks(prompt.BlocksWithoutNonce(answer.Blocks, nonce))
	if err != nil {
		return engine.GenerateOut{}, fmt.Errorf("encode the answer: %w", err)
	}
	raw := answer.Raw
	if !json.Valid(raw) {
		raw = nil
	}
	rawDigest, err := g.stored.putJSON(ctx, storedAnswer{Blocks: blocks, Raw: raw})
	if err != nil {
		return engine.GenerateOut{}, failure.WithCode(err, failure.State)
	}
	out := engine.GenerateOut{
		Answer: digest, Raw: rawDigest, Empty: strings.TrimSpace(answer.Text) == "", Stop: string(answer.Stop),
		Model: answer.Model, Provider: model.ProviderName, Usage: answer.Usage,
		Unseen: slices.Clone(answer.Unseen),
	}
	return out, nil
}

// providerFailure returns a provider's error as a failure that is not retried, because lower layers have tried.
func providerFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) || errors.Is(err, drain.Err) {
		return err
	}
	cause := failure.Of(err)
	cause.Retryable = false
	if cause.Code == failure.Internal {
		cause.Code = failure.Provider
	}
	return cause
}
