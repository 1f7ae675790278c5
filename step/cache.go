package step

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/workflow"
)

// Answers finds answers kept by `@cache`.
type Answers struct {
	Cache Cache // nil: none
	Now   func() time.Time
}

// cacheKey returns the digest of everything an answer depends on: the prompt without its nonce, the model, the settings of the
// call, tools and schema.
func cacheKey(s Context, model Model, digest string, stored Prompt, cites bool) (string, error) {
	request := callSettings(s.Step, model)
	data, err := json.Marshal(struct {
		Prompt      string
		Model       string
		Kind        string
		Provider    string
		Window      int
		MaxOutput   int
		Temperature *float64
		Thinking    string
		Tools       []llm.Tool
		Demand      demand
		Media       any
		Chunks      any
		Citations   bool `json:",omitempty"`
	}{
		digest, model.ID, model.Kind, model.ProviderName, request.ContextWindow, request.MaxOutputTokens, request.Temperature,
		request.Thinking, stored.offered(), stored.Demand, stored.Media, stored.Chunks,
		cites,
	})
	if err != nil {
		return "", fmt.Errorf("make the key for @cache: %w", err)
	}
	sum := sha256.Sum256([]byte(prompt.WithoutNonce(string(data), stored.Nonce))) // the chunks have frames
	return hex.EncodeToString(sum[:]), nil
}

// first returns a fresh kept answer to a step's first call.
func (a Answers) first(ctx context.Context, s Context, in engine.GenerateIn) (out engine.GenerateOut, found bool, err error) {
	if in.Key == "" || len(in.Turns) > 0 {
		return out, false, nil
	}
	entry, found, err := a.lookup(ctx, s, in.Key)
	if err != nil || !found {
		return out, false, err
	}
	return engine.GenerateOut{
		Answer: entry.Answer, Raw: entry.Raw, Stop: engine.StopEnd, Model: entry.Model, Provider: entry.Provider, Cached: true,
	}, true, nil
}

// lookup finds a fresh entry.
func (a Answers) lookup(ctx context.Context, s Context, key string) (engine.CacheEntry, bool, error) {
	if s.Step.Cache == nil || key == "" || a.Cache == nil || s.Plan.Fresh {
		return engine.CacheEntry{}, false, nil
	}
	entry, found, err := a.Cache.Cached(ctx, key, a.freshSince(s))
	return entry, found && entry.Answer != "", err
}

// freshSince returns the earliest time of a fresh answer.
func (a Answers) freshSince(s Context) time.Time {
	now := a.Now().In(s.Facts.Now.Location())
	year, month, day := now.Date()
	switch c := s.Step.Cache; c.Until {
	case directives.CacheDaily:
		return time.Date(year, month, day, 0, 0, 0, 0, now.Location())
	case directives.CacheWeekly:
		back := (int(now.Weekday()) - int(s.Facts.WeekStart) + 7) % 7
		return time.Date(year, month, day-back, 0, 0, 0, 0, now.Location())
	case directives.CacheForever:
		return time.Time{}
	default:
		return now.Add(-c.For)
	}
}

// dated reports whether the prompt contains the date. If its answer or its approval may be used on another day it must not, because the
// prompt would change every day.
func dated(s workflow.Step) bool {
	return (s.Cache == nil || s.Cache.Until == directives.CacheDaily) && !s.Approve.AsksPrompt()
}
