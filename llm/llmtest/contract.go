package llmtest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
)

// Contract runs what llm.Provider promises whatever a provider is made of. open returns one that answers request at least
// eight times.
func Contract(t *testing.T, open func(t *testing.T) llm.Provider, request llm.Request) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, llm.Provider, llm.Request){
		"the pieces are the text":            contractPieces,
		"the request stays as it is":         contractRequest,
		"an ended context":                   contractEnded,
		"safe for concurrent use":            contractConcurrent,
		"an answer says who gave it and why": contractAnswer,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, open(t), request)
		})
	}
}

// Failures runs what a provider promises about refusals and broken answers. open returns one whose service answers request with
// a status, a Retry-After of 7 seconds and a body; hollow is an answer of the service without content.
func Failures(t *testing.T, open func(t *testing.T, status int, answer string) llm.Provider, request llm.Request, key, hollow string) {
	t.Helper()
	for name, test := range map[string]struct {
		status int
		answer string
		class  llm.Class
	}{
		"wrong key":  {http.StatusUnauthorized, `{"error":{"message":"Incorrect API key ` + key + `"}}`, llm.ClassAuth},
		"too many":   {http.StatusTooManyRequests, `{"message":"Rate limit exceeded"}`, llm.ClassRateLimit},
		"overloaded": {http.StatusServiceUnavailable, `no JSON`, llm.ClassOverloaded},
		"hollow":     {http.StatusOK, hollow, llm.ClassOther},
		"no JSON":    {http.StatusOK, `<html>`, llm.ClassOther},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open(t, test.status, test.answer).Generate(t.Context(), request, nil)
			failure, ok := llm.AsError(err)
			if !ok || failure.Class != test.class || strings.Contains(err.Error(), key) {
				t.Fatalf("got %v", err)
			}
			if test.status != http.StatusOK && failure.RetryAfter != 7*time.Second {
				t.Errorf("Retry-After was not obeyed: %s", failure.RetryAfter)
			}
		})
	}
}

func contractPieces(t *testing.T, p llm.Provider, r llm.Request) {
	var pieces strings.Builder
	got := generate(t, p, r, func(piece string) { pieces.WriteString(piece) })
	if got.Text == "" || pieces.String() != got.Text {
		t.Errorf("progress got %q, the answer is %q", pieces.String(), got.Text)
	}
	var blocks strings.Builder
	for _, b := range got.Blocks {
		if b, ok := b.(content.Text); ok {
			blocks.WriteString(b.Value)
		}
	}
	if blocks.String() != got.Text {
		t.Errorf("the blocks hold %q, the answer is %q", blocks.String(), got.Text)
	}
}

func contractRequest(t *testing.T, p llm.Provider, r llm.Request) {
	before := r
	before.Messages = make([]llm.Message, len(r.Messages))
	for i, m := range r.Messages {
		before.Messages[i] = m
		before.Messages[i].Blocks = append([]content.Block(nil), m.Blocks...)
	}
	generate(t, p, r, nil)
	if diff := cmp.Diff(before.Messages, r.Messages); diff != "" {
		t.Errorf("the request was changed (-before +after):\n%s", diff)
	}
}

func contractEnded(t *testing.T, p llm.Provider, r llm.Request) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := p.Generate(ctx, r, func(piece string) { t.Errorf("piece %q", piece) })
	if got != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v, %v; want no answer and context.Canceled", got, err)
	}
}

func contractConcurrent(t *testing.T, p llm.Provider, r llm.Request) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if got, err := p.Generate(t.Context(), r, nil); err != nil || got.Text == "" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	all.Wait()
}

func contractAnswer(t *testing.T, p llm.Provider, r llm.Request) {
	got := generate(t, p, r, nil)
	if got.Model == "" || got.Stop != llm.StopEnd || got.Usage == (cost.Usage{}) {
		t.Errorf("model %q, stop %q, usage %+v; want all three", got.Model, got.Stop, got.Usage)
	}
}

// contract is Contract for an adapter.
func contract(t *testing.T, s Subject) {
	Contract(t, func(t *testing.T) llm.Provider {
		replies := make([]Reply, 8)
		for i := range replies {
			replies[i] = one(Answer{Deltas: []string{"it ", "is"}, Input: 7, Output: 2})
		}
		return s.provider(NewServer(t, s.Wire, replies...))
	}, ask())
}
