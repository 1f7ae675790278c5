package step

import (
	"bytes"
	"context"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/note"
	"github.com/vaultflow/vaultflow/step/defuse"
)

// CleanExit makes the text inert that a step writes after untrusted content: see package defuse. A nil CleanExit changes nothing.
type CleanExit struct{ Rules defuse.Rules }

// CleanExit returns that of a step, nil if the step was shown nothing untrusted.
func (t Stored) CleanExit(ctx context.Context, s Context, foreign *engine.Foreign) (*CleanExit, error) {
	if foreign == nil || len(foreign.Origins) == 0 {
		return nil, nil
	}
	texts, err := t.shownTexts(ctx, foreign)
	if err != nil {
		return nil, err
	}
	return &CleanExit{Rules: defuse.Rules{Host: s.Plan.Meta.Permissions.MayLink, Shown: defuse.Shown(texts...)}}, nil
}

// shownTexts returns the texts that a model was shown: the prompt, and the turns after it without the model's own answers.
func (t Stored) shownTexts(ctx context.Context, foreign *engine.Foreign) ([]string, error) {
	var lists [][]content.Block
	if foreign.Prompt != "" {
		stored, err := t.Prompt(ctx, foreign.Prompt)
		if err != nil {
			return nil, err
		}
		blocks, err := content.UnmarshalBlocks(stored.Blocks)
		if err != nil {
			return nil, failure.New(failure.State, "", "read the prompt's blocks: %v", err)
		}
		lists = append(lists, blocks)
	}
	for _, turn := range foreign.Turns {
		data, err := t.Blobs.Get(ctx, turn.Reply)
		if err != nil {
			return nil, failure.New(failure.State, "", "read a turn: %v", err)
		}
		blocks, err := content.UnmarshalBlocks(data)
		if err != nil {
			return nil, failure.New(failure.State, "", "read a turn: %v", err)
		}
		lists = append(lists, blocks)
	}
	var texts []string
	for _, list := range lists {
		texts = append(texts, textsOf(list)...)
	}
	return texts, nil
}

// textsOf returns the texts of blocks, including tool results.
func textsOf(blocks []content.Block) []string {
	var texts []string
	for _, b := range blocks {
		switch b := b.(type) {
		case content.ToolResult:
			texts = append(texts, textsOf(b.Blocks)...)
		default:
			texts = append(texts, b.Text())
		}
	}
	return texts
}

// passing returns the exit for a text that is passed on unchanged: its own plain links stay.
func (e *CleanExit) passing(text string) *CleanExit {
	if e == nil {
		return nil
	}
	shown, own := e.Rules.Shown, defuse.Shown(text)
	rules := e.Rules
	rules.Shown = func(address string) bool { return shown(address) || own(address) }
	return &CleanExit{rules}
}

// text makes a text inert before it is added to a file that contains old.
func (e *CleanExit) text(name, text string, old []byte, asProperties bool) (string, []defuse.Finding) {
	if asProperties {
		return defuse.Properties(note.Unfenced(text), e.Rules)
	}
	return defuse.Text(name, note.Trim(text), string(old), e.Rules)
}

// Inert returns the findings of a text that is now part of data, with line numbers of the whole file.
func Inert(name, text string, data []byte, findings []defuse.Finding) []engine.Defused {
	var list []engine.Defused
	before := 0
	text = strings.ReplaceAll(text, "\n", note.LineEnd(data))
	if at := bytes.LastIndex(data, []byte(text)); at > 0 {
		before = bytes.Count(data[:at], []byte("\n"))
	}
	for _, f := range findings {
		list = append(list, engine.Defused{Name: name, Line: before + f.Line, Reason: f.Reason, Text: f.Text})
	}
	return list
}
