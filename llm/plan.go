package llm

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// Turn is one message to a service.
type Turn struct {
	Role    Role
	Raw     json.RawMessage // of an assistant's turn, for UnpackRaw, whose result is echoed instead of Blocks
	Stale   bool            // something before it has changed, see Request.Changed
	Results []Result        // of a user's turn: one for each call before it, in the order of the calls; they come first
	Blocks  []content.Block // everything else, in order: texts, an assistant's calls, a user's media; media beside results come first
	Omitted []string        // names of media replaced by their text
}

// Result is a tool's result as a service gets it.
type Result struct {
	CallID string
	Name   string // of the tool
	Failed bool
	Parts  []content.Block // texts, and media inside the result: in order, or with Delivery.Apart after the texts. Never empty
}

// Text returns the result's texts, each on a new line.
func (r Result) Text() string {
	var out strings.Builder
	for _, b := range r.Parts {
		if content.IsMedia(b) {
			continue
		}
		if so := out.String(); so != "" && !strings.HasSuffix(so, "\n") {
			out.WriteByte('\n')
		}
		out.WriteString(b.Text())
	}
	return out.String()
}

// Media returns the media inside the result.
func (r Result) Media() []content.Block {
	var media []content.Block
	for _, b := range r.Parts {
		if content.IsMedia(b) {
			media = append(media, b)
		}
	}
	return media
}

// NoOutput replaces an empty tool result, which services refuse.
const NoOutput = "(no output)"

// Plan returns the turns to send: each medium where the delivery places it, tool results in the order of their calls,
// nothing blank and no reasoning. It reads no bytes. For a medium that the service refuses, and for results that do not
// match the calls, it returns an *Error that names the provider.
//
// A medium beside or after the results is replaced by "See file <id>." and has "This is file <id>:" before it.
func (r Request) Plan(provider string, d policy.Delivery) ([]Turn, error) {
	messages, err := r.paired(provider)
	if err != nil {
		return nil, err
	}
	p := planning{provider: provider, delivery: d, names: map[string]string{}}
	for i, m := range messages {
		if m.Role == Assistant {
			p.assistant(m, r.Changed > 0 && i+1 >= r.Changed)
		} else if err := p.user(m); err != nil {
			return nil, err
		}
	}
	return p.turns, nil
}

// planning is a plan under construction.
type planning struct {
	provider string
	delivery policy.Delivery
	ids      fileIDs
	names    map[string]string // of tools, by call
	turns    []Turn
}

// assistant adds a turn of the model, stale if something before it has changed: its text and calls. Only the user's turns have media.
func (p *planning) assistant(m Message, stale bool) {
	turn := Turn{Role: Assistant, Raw: m.Raw, Stale: stale}
	for _, b := range m.Blocks {
		call, isCall := b.(content.ToolCall)
		if isCall {
			p.names[call.ID] = call.Name
			turn.Blocks = append(turn.Blocks, call)
			continue
		}
		if content.IsMedia(b) {
			turn.Omitted = append(turn.Omitted, content.NameOf(b))
		}
		turn.Blocks = append(turn.Blocks, said(b)...)
	}
	p.add(turn)
}

// user adds a turn of the user: results, media beside them, and the rest; or these in turns of their own.
func (p *planning) user(m Message) error {
	turn, next := Turn{Role: User}, Turn{Role: User}
	for _, b := range m.Blocks {
		result, ok := b.(content.ToolResult)
		if !ok {
			continue
		}
		beside, after, err := p.result(result, &turn)
		if err != nil {
			return err
		}
		turn.Blocks, next.Blocks = append(turn.Blocks, beside...), append(next.Blocks, after...)
	}
	rest, err := p.rest(m.Blocks, &next)
	if err != nil {
		return err
	}
	if len(turn.Results) == 0 || len(next.Blocks) == 0 && !p.delivery.Alone {
		turn.Blocks, turn.Omitted = append(turn.Blocks, rest...), append(turn.Omitted, next.Omitted...)
		p.add(turn)
		return nil
	}
	next.Blocks = append(next.Blocks, rest...)
	p.add(turn)
	if len(next.Blocks) > 0 && p.delivery.Bridge != "" {
		p.add(Turn{Role: Assistant, Blocks: []content.Block{content.Text{Value: p.delivery.Bridge}}})
	}
	p.add(next)
	return nil
}

// add appends a turn unless it is empty.
func (p *planning) add(t Turn) {
	if len(t.Results)+len(t.Blocks) > 0 || len(t.Raw) > 0 {
		p.turns = append(p.turns, t)
	}
}

// result adds a result to its turn and returns the media placed elsewhere, each after its label.
func (p *planning) result(r content.ToolResult, turn *Turn) (beside, after []content.Block, err error) {
	out := Result{CallID: r.CallID, Name: p.names[r.CallID], Failed: !r.Success}
	var apart []content.Block
	for _, b := range r.Parts() {
		pieces, err := p.place(b, true, turn)
		if err != nil {
			return nil, nil, err
		}
		for _, piece := range pieces {
			if piece.place == policy.In && !(p.delivery.Apart && content.IsMedia(piece.Block)) {
				out.Parts = append(out.Parts, piece.Block)
				continue
			}
			id := p.ids.id(piece.Block)
			label := content.Text{Value: fmt.Sprintf("This is file %s:", id)}
			out.Parts = append(out.Parts, content.Text{Value: fmt.Sprintf("See file %s.", id)})
			switch piece.place {
			case policy.Beside:
				beside = append(beside, label, piece.Block)
			case policy.After:
				after = append(after, label, piece.Block)
			default:
				apart = append(apart, piece.Block)
			}
		}
	}
	if out.Parts = append(out.Parts, apart...); len(out.Parts) == 0 {
		out.Parts = []content.Block{content.Text{Value: NoOutput}}
	}
	turn.Results = append(turn.Results, out)
	return beside, after, nil
}

// rest returns the blocks of a user's turn that are not results.
func (p *planning) rest(blocks []content.Block, turn *Turn) ([]content.Block, error) {
	var out []content.Block
	for _, b := range blocks {
		if b.Type() == content.TypeToolResult {
			continue
		}
		pieces, err := p.place(b, false, turn)
		if err != nil {
			return nil, err
		}
		for _, piece := range pieces {
			out = append(out, piece.Block)
		}
	}
	return out, nil
}
