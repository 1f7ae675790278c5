package llm_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultflow/vaultflow/failure/drain"
	"github.com/vaultflow/vaultflow/llm"
)

// asked is a provider that does what a test wants.
type asked func(ctx context.Context) (*llm.Response, error)

func (f asked) Generate(ctx context.Context, _ llm.Request, _ func(string)) (*llm.Response, error) {
	return f(ctx)
}

// When the process starts over, a call that was sent ends, whatever happens to its context, and none that waits is sent.
func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan struct{})
		calls := 0
		slow := llm.NewGate(llm.Limits{Calls: 1, RequestsPerMinute: 1}).Wrap(asked(func(ctx context.Context) (*llm.Response, error) {
			calls++
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Hour):
				return &llm.Response{Text: "paid"}, nil
			}
		}))
		ctx, cancel := context.WithCancelCause(drain.With(t.Context(), begun))
		ended := make(chan error, 1)
		go func() {
			got, err := llm.Retry(slow, llm.RetryPolicy{}).Generate(ctx, llm.Request{}, nil)
			if err == nil && got.Text != "paid" {
				err = errors.New("another answer")
			}
			ended <- err
		}()
		synctest.Wait()
		waits := make(chan error, 2)
		go func() {
			_, err := llm.Retry(slow, llm.RetryPolicy{}).Generate(drain.With(t.Context(), begun), llm.Request{}, nil)
			waits <- err
		}()
		busy := asked(func(context.Context) (*llm.Response, error) { return nil, &llm.Error{Class: llm.ClassOverloaded} })
		go func() {
			_, err := llm.Retry(busy, llm.RetryPolicy{Base: time.Hour, Cap: time.Hour}).Generate(drain.With(t.Context(), begun), llm.Request{}, nil)
			waits <- err
		}()
		synctest.Wait()
		began := time.Now()
		close(begun)
		cancel(drain.Err)
		for range 2 {
			if err := <-waits; !errors.Is(err, drain.Err) {
				t.Errorf("a call that waits: %v", err)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it waited %v", took)
		}
		if err := <-ended; err != nil {
			t.Errorf("the call that was sent: %v", err)
		}
		if calls != 1 {
			t.Errorf("%d calls were sent", calls)
		}
	})
}
