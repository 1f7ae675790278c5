package rewrite_test

import (
	"fmt"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

func words(s string) content.Text { return content.Text{Value: s} }

func picture(n, width, height int) content.Image {
	return content.Image{Name: fmt.Sprintf("p%02d.png", n), MediaType: "image/png", Width: width, Height: height, Size: 9, SHA256: fmt.Sprintf("%064x", n)}
}

func album(count, width, height int) []content.Block {
	blocks := []content.Block{words("Look:")}
	for i := range count {
		blocks = append(blocks, picture(i+1, width, height), words(fmt.Sprintf("That was %d.", i+1)))
	}
	return blocks
}

func prompt(blocks ...content.Block) llm.Request {
	return llm.Request{Model: "test-model", System: "be brief", Messages: []llm.Message{{Role: llm.User, Blocks: blocks}}, Media: llmtest.Studio{}}
}

// exchange is a call of a tool and what it gave.
func exchange(n int, result content.ToolResult) []llm.Message {
	id := fmt.Sprintf("toolu_%d", n)
	result.CallID, result.Success = id, true
	return []llm.Message{
		{Role: llm.Assistant, Blocks: []content.Block{content.ToolCall{ID: id, Name: "look", Input: []byte(`{"at":1}`)}}},
		{Role: llm.User, Blocks: []content.Block{result}},
	}
}

// talk is a prompt with so many exchanges behind it.
func talk(exchanges int, result func(n int) content.ToolResult) llm.Request {
	r := prompt(words("Look around."))
	r.Tools = []llm.Tool{{Name: "look", Description: "looks"}}
	for i := range exchanges {
		r.Messages = append(r.Messages, exchange(i+1, result(i+1))...)
	}
	return r
}
