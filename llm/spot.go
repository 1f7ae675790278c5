package llm

import (
	"slices"

	"github.com/vaultflow/vaultflow/content"
)

// spot is where a block of a user's turn stands: among the blocks of a message, or inside the tool result that stands there.
type spot struct {
	message, block int
	inner          int // in the result's blocks; outside when the block is no part of a result
}

const outside = -1

// blocks visits what the user's turns hold, oldest first: each block, and behind a tool result the blocks in it.
func (r Request) blocks(visit func(spot, content.Block)) {
	for i, m := range r.Messages {
		if m.Role != User {
			continue
		}
		for j, b := range m.Blocks {
			visit(spot{i, j, outside}, b)
			if result, ok := b.(content.ToolResult); ok {
				for k, inner := range result.Blocks {
					visit(spot{i, j, k}, inner)
				}
			}
		}
	}
}

// media lists the places of pictures, documents and recordings, oldest first.
func (r Request) media() []spot {
	var places []spot
	r.blocks(func(p spot, b content.Block) {
		if content.IsMedia(b) {
			places = append(places, p)
		}
	})
	return places
}

// at is the block at a place.
func (r Request) at(p spot) content.Block {
	b := r.Messages[p.message].Blocks[p.block]
	if p.inner == outside {
		return b
	}
	return b.(content.ToolResult).Blocks[p.inner] //nolint:forcetypeassert // blocks gives no other inner places
}

// edits are what blocks become. Places of one kind of block only: a result, or blocks in it.
type edits map[spot][]content.Block

// with is the request with its edits. The one it is made from stays as it is.
func (r Request) with(e edits) Request {
	if len(e) == 0 {
		return r
	}
	r.Messages = slices.Clone(r.Messages)
	for i, m := range r.Messages {
		if m.Role == User {
			r.Messages[i].Blocks = edited(m.Blocks, e, func(j int) spot { return spot{i, j, outside} })
		}
	}
	return r
}

func edited(blocks []content.Block, e edits, at func(int) spot) []content.Block {
	out := make([]content.Block, 0, len(blocks))
	for j, b := range blocks {
		p := at(j)
		if instead, found := e[p]; found {
			out = append(out, instead...)
			continue
		}
		if result, ok := b.(content.ToolResult); ok && p.inner == outside && len(result.Blocks) > 0 {
			result.Blocks = edited(result.Blocks, e, func(k int) spot { return spot{p.message, p.block, k} })
			b = result
		}
		out = append(out, b)
	}
	return out
}
