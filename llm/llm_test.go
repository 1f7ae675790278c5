package llm

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/cost"
)

func TestSecret_neverPrints(t *testing.T) {
	t.Parallel()
	const key Secret = "sk-very-secret"
	inJSON, err := json.Marshal(map[string]any{"a": key, "c": key})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", key)
	for _, out := range []string{fmt.Sprintf("%v %s %q %x %#v %d", key, key, key, key, key, key), fmt.Sprintf("%+v %#v", struct{ Key Secret }{key}, struct{ Key Secret }{key}), string(inJSON), log.String()} {
		if strings.Contains(out, "very") || strings.Contains(out, fmt.Sprintf("%x", "very")) || !strings.Contains(out, "***") {
			t.Errorf("printed %s", out)
		}
	}
	if got := Secret("").String(); got != "" {
		t.Errorf("no key prints %q", got)
	}
}

func TestPriced(t *testing.T) {
	t.Parallel()
	u := cost.Usage{InputTokens: 1_000_000, CachedTokens: 200_000, CacheWriteTokens: 100_000, OutputTokens: 500_000}
	for _, c := range []struct {
		price cost.Price
		want  float64
	}{
		{cost.Price{Input: 3, Output: 15}, 3 + 7.5},
		{cost.Price{Input: 3, Output: 15, Cached: 0.3, CacheWrite: 3.75}, 2.1 + 0.06 + 0.375 + 7.5},
		{cost.Price{}, 0},
	} {
		if got := u.Cost(c.price); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%+v: got %v, want %v", c.price, got, c.want)
		}
	}
	silent := &script{failures: []*Error{{Class: ClassRefusal, Usage: cost.Usage{CostUnknown: true}}}}
	_, err := Priced(silent, &cost.Price{Input: 1}).Generate(t.Context(), Request{}, nil)
	if e, _ := AsError(err); !e.Usage.CostUnknown {
		t.Error("a price makes a cost out of no count")
	}
	if Priced(silent, nil) != Provider(silent) {
		t.Error("no price still wraps")
	}
}

func TestClasses_eachHasAHint(t *testing.T) {
	t.Parallel()
	for class := range hints {
		e := &Error{Class: class, Limit: 5}
		if e.Hint() == "" {
			t.Errorf("%s has no hint", class)
		}
	}
	if got := (&Error{Class: ClassOther}).Hint(); got != "" {
		t.Errorf("other: got hint %q, want none", got)
	}
	if got, want := (&Error{Class: ClassImageCount, Actual: 25, Limit: 20}).Hint(), "lower the budget max_images (sent 25, allowed 20)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
