package step

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/vaultflow/vaultflow/content"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/prompt"
)

// storedPrompt is the blob between Assemble and the calls: everything that will be sent but the bytes of pictures, and
// what the calls need to know. A run is pinned to it, whatever becomes of files and settings.
type storedPrompt struct {
	Format int               `json:"format"` // prompt.Format
	System string            `json:"system"`
	Blocks json.RawMessage   `json:"blocks"`           // content.MarshalBlocks
	Media  imaging.Limits    `json:"media"`            // what pictures are made to fit when they are sent
	Tokens int               `json:"tokens,omitempty"` // estimated, of the whole prompt
	Demand demand            `json:"demand,omitzero"`
	Chunks []prompt.Deferred `json:"chunks,omitempty"` // what was deferred, for read_chunks
	Limits callLimits        `json:"limits,omitzero"`

	// The prompt of the step's fallback model, made for its abilities and limits; with what stands in the receipt.
	Fallback   *storedPrompt `json:"fallback,omitempty"`
	NoFallback string        `json:"no_fallback,omitempty"` // why there is none though the step names one
	Omitted    []string      `json:"omitted,omitempty"`     // of a fallback's prompt
	Warnings   []string      `json:"warnings,omitempty"`
}

// callLimits bound the calls of a step.
type callLimits struct {
	ToolImages int `json:"tool_images,omitempty"` // pictures in one tool result
	StepImages int `json:"step_images,omitempty"` // over all tool results of the step
}

// prompt reads a stored prompt.
func (w *Workflow) prompt(ctx context.Context, digest string) (storedPrompt, error) {
	var stored storedPrompt
	data, err := w.Blobs.Get(ctx, digest)
	if err != nil {
		return stored, failure.New(failure.State, "start the workflow again", "read the prompt: %v", err)
	}
	if err := json.Unmarshal(data, &stored); err != nil {
		return stored, fmt.Errorf("read the prompt: %w", err)
	}
	return stored, nil
}

// storedAnswer is the blob GenerateOut.Raw: the blocks as they came, reasoning and tool calls included, and the
// provider's own form of the turn, which it wants back.
type storedAnswer struct {
	Blocks json.RawMessage `json:"blocks"` // content.MarshalBlocks
	Raw    json.RawMessage `json:"raw,omitempty"`
}

// answer reads a stored answer. Versions before stored the blocks alone.
func (w *Workflow) answer(ctx context.Context, digest string) ([]content.Block, json.RawMessage, error) {
	data, err := w.Blobs.Get(ctx, digest)
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
