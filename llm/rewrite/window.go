package rewrite

import (
	"context"
	"fmt"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// keptExchanges is how many of the last exchanges with tools Within never touches.
const keptExchanges = 2

// Evicted counts what was left out of a request to fit the context window.
type Evicted struct {
	Media int      // in tool results, replaced by their text and a reference
	Texts int      // tool results, replaced by a reference
	Turns int      // of the assistant, each with the user's answer to it
	Names []string // of the media
}

// Any reports whether something was left out.
func (e Evicted) Any() bool { return e.Media+e.Texts+e.Turns > 0 }

// String describes what was left out.
func (e Evicted) String() string {
	return fmt.Sprintf("%d media and %d texts in results of tools, %d turns", e.Media, e.Texts, e.Turns)
}

// Within returns the request shortened to a number of tokens, as m estimates them. It leaves out the oldest media in tool
// results, then the oldest text results, then the oldest turns, and no more than necessary. It keeps the system prompt, the
// tools, the first message, the last message in which the user asks for something, and the last two exchanges, so the
// result may still be too long. A call keeps its result. Within is pure, deterministic and idempotent, and does not change r.
func Within(r llm.Request, tokens int, m llm.Meter) (llm.Request, Evicted) {
	e := evictor{request: r, meter: m.For(r), bound: tokens, now: m.Measure(r).Tokens}
	old := e.old(keptExchanges)
	e.replace(e.resultMedia(0, old), &e.evicted.Media)
	e.replace(e.resultTexts(0, old), &e.evicted.Texts)
	e.dropTurns(old)
	if e.evicted.Any() {
		e.request = changed(r, e.request)
	}
	return e.request, e.evicted
}

// leaveOut shortens a refused request: old media in tool results become their text, then old results a reference, then
// media of the user's turns their text, then media of the last results. The provider's formula measures the rest,
// corrected by its error for the refused request.
func leaveOut(_ context.Context, d *draft) error {
	before := d.policy.Meter.Measure(d.request).Tokens
	bound := d.tokenBound(before)
	for _, short := range []bool{false, true} {
		e := evictor{request: d.request, meter: d.policy.Meter.For(d.request), bound: bound, now: before}
		old, all := e.old(1), len(d.request.Messages)
		e.replace(e.resultMedia(0, old), &e.evicted.Media)
		e.replace(e.resultTexts(0, old), &e.evicted.Texts)
		user := 0
		e.replace(e.userMedia(short), &user)
		e.replace(e.resultMedia(old, all), &e.evicted.Media)
		if !e.fits() {
			continue
		}
		if !e.evicted.Any() && user == 0 {
			return errHelpless
		}
		d.request, d.lost = e.request, e.evicted.Names
		d.how = fmt.Sprintf("left out to fit: %d media and %d texts in results of tools, %d media of the prompt", e.evicted.Media, e.evicted.Texts, user)
		return nil
	}
	return errHelpless
}

// tokenBound returns the most tokens that the request may have by our own estimate.
func (d *draft) tokenBound(estimate int) int {
	limit := d.limitOr(int64(d.request.ContextWindow), max(d.failure.Actual, int64(estimate)))
	limit -= min(int64(max(d.request.MaxOutputTokens, 0)), limit/4) // some services count the answer too
	limit -= limit / 50
	if actual := d.failure.Actual; actual > int64(estimate) { // assume the same error for what is left
		limit = limit * int64(estimate) / actual
	}
	return int(limit)
}

// evictor leaves out one thing after the other until the request fits.
type evictor struct {
	request llm.Request
	meter   llm.Meter
	bound   int
	now     int // estimate of the request as it is
	evicted Evicted
}

func (e *evictor) fits() bool { return e.now <= e.bound }

// old returns the index of the first message of the last n exchanges; earlier messages are old. An exchange is a turn of
// the assistant with the user's answer.
func (e *evictor) old(n int) int {
	for i := len(e.request.Messages) - 1; i >= 0; i-- {
		if e.request.Messages[i].Role != llm.Assistant {
			continue
		}
		if n--; n == 0 {
			return i
		}
	}
	return 0
}

// cut is something that can be left out.
type cut struct {
	medium
	instead []content.Block
	name    string
}

// replace applies cuts in order until the request fits. It skips those that would save nothing.
func (e *evictor) replace(cuts []cut, count *int) {
	made := edits{}
	for _, c := range cuts {
		if e.fits() {
			break
		}
		saved := e.meter.Blocks(c.inResult(), c.Block) - e.meter.Blocks(c.inResult(), c.instead...)
		if saved <= 0 {
			continue
		}
		made[c.spot] = c.instead
		e.now -= saved
		*count++
		if c.name != "" {
			e.evicted.Names = append(e.evicted.Names, c.name)
		}
	}
	e.request = edit(e.request, made)
}

// resultMedia lists the media in tool results of the messages in [from, to).
func (e *evictor) resultMedia(from, to int) []cut {
	var cuts []cut
	for _, m := range mediaOf(e.request) {
		if m.inResult() && m.message >= from && m.message < to {
			cuts = append(cuts, cut{m, stub(e.request, m), content.NameOf(m.Block)})
		}
	}
	return cuts
}

// resultTexts lists the tool results of the messages in [from, to).
func (e *evictor) resultTexts(from, to int) []cut {
	var cuts []cut
	visit(e.request, func(s spot, b content.Block) {
		if result, ok := b.(content.ToolResult); ok && s.message >= from && s.message < to {
			cuts = append(cuts, cut{medium{s, b}, stubResult(e.request, s, result), ""})
		}
	})
	return cuts
}

// userMedia lists the media outside tool results. With short, not even their text is kept.
func (e *evictor) userMedia(short bool) []cut {
	var cuts []cut
	for _, m := range mediaOf(e.request) {
		if m.inResult() {
			continue
		}
		instead := stub(e.request, m)
		if short {
			instead = []content.Block{content.Text{Value: reference(e.request, m)}}
		}
		cuts = append(cuts, cut{m, instead, content.NameOf(m.Block)})
	}
	return cuts
}

// dropTurns leaves out whole exchanges before a message, oldest first, and notes that in the turn before them.
func (e *evictor) dropTurns(before int) {
	messages := e.request.Messages
	current := lastAsked(e.request)
	var kept []llm.Message
	first := 0 // the message that gets the note
	for i := 0; i < len(messages); {
		next := i + 1
		for next < len(messages) && messages[next].Role != llm.Assistant {
			next++
		}
		if messages[i].Role != llm.Assistant || i >= before || next > before || e.fits() || i <= current && current < next {
			kept = append(kept, messages[i:next]...)
			i = next
			continue
		}
		for _, m := range messages[i:next] {
			e.now -= e.meter.Blocks(false, m.Blocks...)
		}
		if e.evicted.Turns == 0 {
			first = len(kept) - 1
			e.now += e.meter.Blocks(false, turnsLeftOut)
		}
		e.evicted.Turns++
		i = next
	}
	if e.evicted.Turns == 0 {
		return
	}
	if first >= 0 && kept[first].Role == llm.User {
		kept[first].Blocks = append(kept[first].Blocks[:len(kept[first].Blocks):len(kept[first].Blocks)], turnsLeftOut)
	}
	e.request.Messages = kept
}

// turnsLeftOut informs the model that it does not see everything.
var turnsLeftOut = content.Text{Value: "[earlier turns of this conversation were left out to fit the context window]"}

// lastAsked returns the index of the last message in which the user says more than tool results, or -1.
func lastAsked(r llm.Request) int {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role != llm.User {
			continue
		}
		for _, b := range r.Messages[i].Blocks {
			if b.Type() != content.TypeToolResult {
				return i
			}
		}
	}
	return -1
}
