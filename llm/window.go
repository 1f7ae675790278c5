package llm

import (
	"fmt"

	"github.com/vaultflow/vaultflow/content"
)

// keptExchanges is how many of the last exchanges with tools are never touched.
const keptExchanges = 2

// Evicted is what was left out of a request so that it fits its window.
type Evicted struct {
	Media int      // in results of tools, replaced by their text and a reference
	Texts int      // results of tools, replaced by a reference
	Turns int      // of the assistant, each with the user's answer to it
	Names []string // of the media
}

// Any tells whether something was left out.
func (e Evicted) Any() bool { return e.Media+e.Texts+e.Turns > 0 }

// String says what was left out, in words.
func (e Evicted) String() string {
	return fmt.Sprintf("%d media and %d texts in results of tools, %d turns", e.Media, e.Texts, e.Turns)
}

// Within is the request made to fit so many tokens, as m estimates them: it leaves out the oldest media in results of
// tools, then the oldest text results, then the oldest turns, as little of it as is enough. System prompt, tools, the first
// message, the last message in which the user asks for something, and the last two exchanges stay, so that a request may
// be too large still. A call keeps its result. The same request gives the same result, and one that was made to fit stays
// as it is. It is pure: no file is read, and r does not change.
func (r Request) Within(tokens int, m Meter) (Request, Evicted) {
	e := evictor{request: r, meter: m.of(r), bound: tokens, now: m.Measure(r).Tokens}
	old := e.old(keptExchanges)
	e.replace(e.resultMedia(0, old), &e.evicted.Media)
	e.replace(e.resultTexts(0, old), &e.evicted.Texts)
	e.dropTurns(old)
	return e.request, e.evicted
}

// evictor leaves out one thing after the other until the request fits.
type evictor struct {
	request Request
	meter   Meter
	bound   int
	now     int // estimate of the request as it is
	evicted Evicted
}

func (e *evictor) fits() bool { return e.now <= e.bound }

// old is the first message that belongs to the last n exchanges; what stands before it is old. An exchange is a turn of the
// assistant with what the user says to it.
func (e *evictor) old(n int) int {
	for i := len(e.request.Messages) - 1; i >= 0; i-- {
		if e.request.Messages[i].Role != Assistant {
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
	at      spot
	instead []content.Block
	name    string
}

// replace applies cuts in their order until the request fits. Those that would save nothing are passed over.
func (e *evictor) replace(cuts []cut, count *int) {
	made := edits{}
	for _, c := range cuts {
		if e.fits() {
			break
		}
		saved := e.meter.block(e.request.at(c.at), c.at.inner != outside) - e.meter.tokens(c.instead, c.at.inner != outside)
		if saved <= 0 {
			continue
		}
		made[c.at] = c.instead
		e.now -= saved
		*count++
		if c.name != "" {
			e.evicted.Names = append(e.evicted.Names, c.name)
		}
	}
	e.request = e.request.with(made)
}

// resultMedia are the media in results of the messages from `from` to before `to`.
func (e *evictor) resultMedia(from, to int) []cut {
	tools := e.request.toolNames()
	var cuts []cut
	for _, p := range e.request.media() {
		if p.inner == outside || p.message < from || p.message >= to {
			continue
		}
		b := e.request.at(p)
		result, _ := e.request.Messages[p.message].Blocks[p.block].(content.ToolResult)
		cuts = append(cuts, cut{p, e.request.stub(b, tools[result.CallID]), content.NameOf(b)})
	}
	return cuts
}

// resultTexts are the results, as texts.
func (e *evictor) resultTexts(from, to int) []cut {
	tools := e.request.toolNames()
	var cuts []cut
	e.request.blocks(func(p spot, b content.Block) {
		result, ok := b.(content.ToolResult)
		if !ok || p.message < from || p.message >= to {
			return
		}
		cuts = append(cuts, cut{p, e.request.stubResult(result, tools[result.CallID]), ""})
	})
	return cuts
}

// toolNames are the tools of the calls, by their ids.
func (r Request) toolNames() map[string]string {
	names := map[string]string{}
	for _, m := range r.Messages {
		for _, c := range callsOf(m) {
			names[c.ID] = c.Name
		}
	}
	return names
}

// dropTurns leaves out whole exchanges before a message, the oldest first. Where they stood, the request says so.
func (e *evictor) dropTurns(before int) {
	messages := e.request.Messages
	current := e.request.current()
	var kept []Message
	first := 0 // the message that the note is added to
	for i := 0; i < len(messages); {
		next := i + 1
		for next < len(messages) && messages[next].Role != Assistant {
			next++
		}
		if messages[i].Role != Assistant || i >= before || next > before || e.fits() || i <= current && current < next {
			kept = append(kept, messages[i:next]...)
			i = next
			continue
		}
		e.now -= e.meter.tokens(joined(messages[i:next]), false)
		if e.evicted.Turns == 0 {
			first = len(kept) - 1
			e.now += e.meter.block(turnsLeftOut, false)
		}
		e.evicted.Turns++
		i = next
	}
	if e.evicted.Turns == 0 {
		return
	}
	if first >= 0 && kept[first].Role == User {
		kept[first].Blocks = append(kept[first].Blocks[:len(kept[first].Blocks):len(kept[first].Blocks)], turnsLeftOut)
	}
	e.request.Messages = kept
}

// turnsLeftOut tells the model that it does not see everything.
var turnsLeftOut = content.Text{Value: "[earlier turns of this conversation were left out to fit the context window]"}

func joined(messages []Message) []content.Block {
	var all []content.Block
	for _, m := range messages {
		all = append(all, m.Blocks...)
	}
	return all
}

// current is the last message in which the user says more than results of tools; -1 when there is none.
func (r Request) current() int {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role != User {
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
