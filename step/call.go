package step

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/metered"
	"github.com/vaultflow/vaultflow/llm/rewrite"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/policy"
)

// call is one request to a model, made to fit: what outgrows the window is left out, and a request that the service refuses for its
// size or media is changed and sent again. Each change is an event.
type call struct {
	g      *Generator
	model  Model
	stored Prompt
	in     engine.GenerateIn
	retry  llm.RetryPolicy

	metered  *metered.Provider
	sent     cost.Estimate // of the last request
	refused  int           // input tokens of requests that were refused and charged
	repeated int           // failed attempts that were repeated
	warnings []string
	changes  []string // of the request, after it was refused
	evicted  []string // names of media that were left out to fit
	lost     []lost
	failures media.Failures // why media could not be loaded

	noFootnotes bool // the model names pages itself (@cite)
	approved    bool // the request was approved as it is: nothing else may be sent in its place
}

// lost are media that a rewrite sent as text, and why.
type lost struct {
	names []string
	class llm.Class
}

// ask sends a request and keeps the answer.
func (c *call) ask(ctx context.Context, request llm.Request) (engine.GenerateOut, error) {
	receiver, err := c.receiverOf(c.metered)
	if err != nil {
		return engine.GenerateOut{}, err
	}
	defer receiver.close(ctx)
	if request.Media != nil {
		request.Media = c.failures.In(request.Media)
	}
	if c.approved && request.Media != nil {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		defer cancel(nil)
		request.Media = exact{request.Media, cancel}
	}
	request = c.within(ctx, request)
	if !receiver.has() {
		if err := c.metered.Ahead(ctx, request); err != nil {
			return engine.GenerateOut{}, err
		}
	}
	defer c.metered.Close(ctx)
	c.built(ctx, request)
	client := c.sighted(ctx, rewrite.Overflow(llm.Retry(receiver, c.noting(c.retry)), c.overflow(ctx)))
	answer, err := client.Generate(ctx, request, func(delta string) {
		engine.Report(ctx, engine.Event{Kind: engine.EventDelta, Message: delta})
	})
	c.ended(ctx, err)
	if u, ok := errors.AsType[unlike](context.Cause(ctx)); ok {
		return engine.GenerateOut{}, u.error
	}
	if err != nil {
		return engine.GenerateOut{}, providerFailure(ctx, err)
	}
	if c.noFootnotes {
		answer.Citations = nil
	}
	out, err := c.g.keep(ctx, c.model, c.stored.Nonce, answer)
	if err != nil {
		return out, err
	}
	out.Warnings = append(out.Warnings, c.warnings...)
	out.Rewritten = c.changes
	out.Lost, out.Evicted = c.omitted(request, answer.Omitted), c.evicted
	if counted := answer.Usage.InputTokens - c.refused; counted > 0 {
		out.Count = engine.TokenCount{Estimated: c.sent.Tokens, Counted: counted}
	}
	out.Settled = c.metered.Settled()
	return out, nil
}

// within leaves out what outgrows the model's window. A prompt without turns fits already.
func (c *call) within(ctx context.Context, request llm.Request) llm.Request {
	window := c.model.RequestLimits().ContextWindow
	if window == 0 || len(request.Messages) < 2 {
		return request
	}
	answer := request.MaxOutputTokens
	if answer <= 0 {
		answer = window / 10
	}
	bound, meter := window-min(answer, window/2), meterOf(c.model, c.stored)
	fitted, evicted := rewrite.Within(request, bound, meter)
	if !evicted.Any() {
		return request
	}
	change := rewrite.Change{
		Class: llm.ClassContextTokens, Before: meter.Measure(request), After: meter.Measure(fitted),
		How: "left out before sending: " + evicted.String(), Lost: evicted.Names,
	}
	engine.Report(ctx, rewriteEvent(change))
	c.evicted = evicted.Names
	earlier := request
	earlier.Messages = request.Messages[:len(request.Messages)-2]
	if _, before := rewrite.Within(earlier, bound, meter); before.String() != evicted.String() { // not reported with the call before
		c.warnings = append(c.warnings, "to fit the context window, the model does not see again: "+evicted.String())
	}
	return fitted
}

// built reports the size of a request.
func (c *call) built(ctx context.Context, request llm.Request) {
	c.sent = meterOf(c.model, c.stored).Measure(request)
	facts := c.sent
	engine.Report(ctx, engine.Event{Kind: engine.EventBuilt, Request: &facts, Message: fmt.Sprintf(
		"%s: %d texts, %d images, %d documents, about %d tokens", c.model.Alias, facts.Texts, facts.Images, facts.Documents, facts.Tokens,
	)})
}

// overflow returns how requests are made to fit, and reports what happens to them.
func (c *call) overflow(ctx context.Context) rewrite.OverflowPolicy {
	return rewrite.OverflowPolicy{
		Off: c.g.noRewrites || c.approved, Limits: c.model.RequestLimits(), Meter: meterOf(c.model, c.stored), Vision: c.model.Capabilities.Has(policy.Vision),
		Inline: c.g.inliner(),
		Detected: func(cause *llm.Error) {
			engine.Report(ctx, engine.Event{Kind: engine.EventOverflow, Message: cause.Error(), Failure: failure.Of(cause)})
		},
		Rewriting: func(next llm.Request, change rewrite.Change, spent cost.Usage) error {
			return c.rewriting(ctx, next, change, spent)
		},
		Ended: func(change rewrite.Change, err error) {
			event := rewriteEvent(change)
			event.Kind, event.Status, event.Message = engine.EventOutcome, engine.Done, "the changed request was answered"
			if err != nil {
				event.Status, event.Message = engine.Failed, fmt.Sprintf("the changed request failed: %v", err)
			}
			engine.Report(ctx, event)
		},
	}
}

// rewriting reserves the cost of a changed request before it is sent.
func (c *call) rewriting(ctx context.Context, next llm.Request, change rewrite.Change, spent cost.Usage) error {
	if err := c.metered.Ahead(ctx, next); err != nil {
		return err
	}
	c.refused += spent.InputTokens
	c.lost, c.evicted = append(c.lost, lost{change.Lost, change.Class}), append(c.evicted, change.Lost...)
	engine.Report(ctx, rewriteEvent(change))
	c.warnings = append(c.warnings, fmt.Sprintf("the service refused the request (%s); it was sent again: %s", change.Class, change.How))
	c.changes = append(c.changes, fmt.Sprintf("the service refused it (%s): %s", change.Class, change.How))
	c.built(ctx, next)
	return nil
}

func rewriteEvent(r rewrite.Change) engine.Event {
	message := fmt.Sprintf("%s: %s; about %d tokens became %d", r.Class, r.How, r.Before.Tokens, r.After.Tokens)
	if len(r.Lost) > 0 {
		message += "; as text: " + strings.Join(r.Lost, ", ")
	}
	return engine.Event{Kind: engine.EventRewrite, Message: message, Rewrite: &engine.Rewrite{
		Class: string(r.Class), Before: r.Before, After: r.After, How: r.How, Lost: r.Lost,
	}}
}

// noting counts repeated attempts.
func (c *call) noting(p llm.RetryPolicy) llm.RetryPolicy {
	notify := p.Notify
	p.Notify = func(e llm.RetryEvent) {
		c.repeated++
		if notify != nil {
			notify(e)
		}
	}
	return p
}

// ended reports the outcome of a repeated call.
func (c *call) ended(ctx context.Context, err error) {
	if c.repeated == 0 {
		return
	}
	event := engine.Event{Kind: engine.EventOutcome, Status: engine.Done, Message: fmt.Sprintf("answered after %d failed attempts", c.repeated)}
	if err != nil {
		event.Status, event.Message = engine.Failed, fmt.Sprintf("failed after %d attempts", c.repeated+1)
	}
	engine.Report(ctx, event)
}

// inliner returns a function that fetches pictures for the service, under the remote policy; nil if nothing may be fetched.
func (g *Generator) inliner() func(context.Context, content.Image) (content.Image, error) {
	if g.remote == nil {
		return nil
	}
	return func(ctx context.Context, image content.Image) (content.Image, error) {
		got, err := g.remote(ctx, image.Name)
		if err != nil {
			return image, err
		}
		image.Source, image.SHA256, image.MediaType = content.SourceBlob, got.SHA256, got.MediaType
		image.Width, image.Height, image.Size = got.Width, got.Height, got.Size
		return image, nil
	}
}
