package rewrite

import (
	"reflect"
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// spot is the place of a block in the user's turns.
type spot struct {
	message, block int
	inner          int // index within the tool result at block; outside for the block itself
}

const outside = -1

func (s spot) inResult() bool { return s.inner != outside }

// visit calls f for each block of the user's turns, oldest first. The blocks of a tool result follow it.
func visit(r llm.Request, f func(spot, content.Block)) {
	for i, m := range r.Messages {
		if m.Role != llm.User {
			continue
		}
		for j, b := range m.Blocks {
			f(spot{i, j, outside}, b)
			if result, ok := b.(content.ToolResult); ok {
				for k, inner := range result.Blocks {
					f(spot{i, j, k}, inner)
				}
			}
		}
	}
}

// medium is a picture, document or recording of a request.
type medium struct {
	spot
	content.Block
}

// mediaOf lists the media of the user's turns, oldest first.
func mediaOf(r llm.Request) []medium {
	var all []medium
	visit(r, func(s spot, b content.Block) {
		if content.IsMedia(b) {
			all = append(all, medium{s, b})
		}
	})
	return all
}

// toolOf names the tool whose result holds the spot, "" outside results.
func toolOf(r llm.Request, s spot) string {
	result, ok := r.Messages[s.message].Blocks[s.block].(content.ToolResult)
	if !ok {
		return ""
	}
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			if call, ok := b.(content.ToolCall); ok && call.ID == result.CallID {
				return call.Name
			}
		}
	}
	return ""
}

// changed notes the first message in which a request differs from what it was.
func changed(was, is llm.Request) llm.Request {
	for i := range is.Messages {
		if i >= len(was.Messages) || !reflect.DeepEqual(was.Messages[i].Blocks, is.Messages[i].Blocks) {
			if is.Changed == 0 || i+1 < is.Changed {
				is.Changed = i + 1
			}
			return is
		}
	}
	return is
}

// edits maps spots to what replaces their blocks: of one tool result either the whole or blocks in it.
type edits map[spot][]content.Block

// edit returns the request with its edits. r does not change.
func edit(r llm.Request, e edits) llm.Request {
	if len(e) == 0 {
		return r
	}
	r.Messages = slices.Clone(r.Messages)
	for i, m := range r.Messages {
		if m.Role == llm.User {
			r.Messages[i].Blocks = edited(m.Blocks, e, func(j int) spot { return spot{i, j, outside} })
		}
	}
	return r
}

func edited(blocks []content.Block, e edits, at func(int) spot) []content.Block {
	out := make([]content.Block, 0, len(blocks))
	for j, b := range blocks {
		s := at(j)
		if instead, found := e[s]; found {
			out = append(out, instead...)
			continue
		}
		if result, ok := b.(content.ToolResult); ok && !s.inResult() && len(result.Blocks) > 0 {
			result.Blocks = edited(result.Blocks, e, func(k int) spot { return spot{s.message, s.block, k} })
			b = result
		}
		out = append(out, b)
	}
	return out
}
