package step

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step/previewed"
)

// Prompt is the blob between Assemble and the calls: everything to send except the bytes of pictures, and what the calls need. A run
// is pinned to it, however files and settings change.
type Prompt struct {
	Format int               `json:"format"`          // prompt.Format
	Nonce  string            `json:"nonce,omitempty"` // of its frames; empty in prompts of earlier versions
	System string            `json:"system"`
	Blocks json.RawMessage   `json:"blocks"`           // content.MarshalBlocks
	Media  imaging.Limits    `json:"media"`            // for pictures when they are sent
	Tokens int               `json:"tokens,omitempty"` // estimated, of the whole prompt
	Demand demand            `json:"demand,omitzero"`
	Chunks []prompt.Deferred `json:"chunks,omitempty"` // what was deferred, for read_chunks
	Limits CallLimits        `json:"limits,omitzero"`
	// Tools are the tools on offer. nil: stored by an earlier version, unknown; empty: none.
	Tools []llm.Tool `json:"tools,omitzero"`

	// Pages are those that the prompt shows, in a workflow with @cite.
	Pages []engine.PagesShown `json:"pages,omitempty"`

	// The prompt of the step's fallback model, built for its abilities and limits, with facts from its receipt.
	Fallback   *Prompt  `json:"fallback,omitempty"`
	NoFallback string   `json:"no_fallback,omitempty"` // why a named fallback has no prompt
	Omitted    []string `json:"omitted,omitempty"`     // of a fallback's prompt, stored by earlier versions
	Warnings   []string `json:"warnings,omitempty"`

	Omissions []engine.Omission        `json:"omissions,omitempty"` // of a fallback's prompt
	Receipt   string                   `json:"receipt,omitempty"`   // blob: of a fallback's prompt
	Named     map[string]diag.Position `json:"named,omitempty"`     // where the media are named, by their names
	Call      previewed.Sketch         `json:"call,omitzero"`       // that it was made for; its prompt is not described

	Paged []string `json:"paged,omitempty"` // files some of whose pages are named in ranges, for read_pages
}

// offered returns the tools of the prompt, nil when there are none.
func (p Prompt) offered() []llm.Tool {
	if len(p.Tools) == 0 {
		return nil
	}
	return p.Tools
}

// CallLimits limits the calls of a step.
type CallLimits struct {
	ToolImages int `json:"tool_images,omitempty"` // pictures in one tool result
	StepImages int `json:"step_images,omitempty"` // over all tool results of the step
}

// Stored keeps prompts, answers and turns as blobs.
type Stored struct{ Blobs change.Blobs }

// Prompt reads a prompt.
func (t Stored) Prompt(ctx context.Context, digest string) (Prompt, error) {
	var stored Prompt
	data, err := t.Blobs.Get(ctx, digest)
	if err != nil {
		return stored, failure.New(failure.State, "start the workflow again", "read the prompt: %v", err)
	}
	if err := json.Unmarshal(data, &stored); err != nil {
		return stored, fmt.Errorf("read the prompt: %w", err)
	}
	return stored, nil
}

// storedAnswer is the blob GenerateOut.Raw: the blocks, including reasoning and tool calls, and the provider's own form of the turn,
// which it expects back.
type storedAnswer struct {
	Blocks json.RawMessage `json:"blocks"` // content.MarshalBlocks
	Raw    json.RawMessage `json:"raw,omitempty"`
}

// Answer reads an answer: its blocks, and the provider's own form. Earlier versions stored the blocks alone.
func (t Stored) Answer(ctx context.Context, digest string) ([]content.Block, json.RawMessage, error) {
	data, err := t.Blobs.Get(ctx, digest)
	if err != nil {
		return nil, nil, failure.New(failure.State, "start the workflow again", "read an answer: %v", err)
	}
	stored := storedAnswer{Blocks: data}
	if len(data) > 0 && data[0] == '{' {
		stored.Blocks = nil
		if err := json.Unmarshal(data, &stored); err != nil {
			return nil, nil, fmt.Errorf("read an answer: %w", err)
		}
	}
	blocks, err := content.UnmarshalBlocks(stored.Blocks)
	return blocks, stored.Raw, err
}

// PutBlocks stores the blocks of a turn.
func (t Stored) PutBlocks(ctx context.Context, blocks []content.Block) (string, error) {
	data, err := content.MarshalBlocks(blocks)
	if err != nil {
		return "", fmt.Errorf("encode a turn: %w", err)
	}
	return t.Blobs.Put(ctx, data)
}

func (t Stored) putJSON(ctx context.Context, value any) (string, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode for the journal: %w", err)
	}
	return t.Blobs.Put(ctx, data)
}
