package drain_test

import (
	"context"
	"errors"
	"testing"

	"github.com/vaultflow/vaultflow/failure/drain"
)

// A call that may cost money is cut by everything but a process that starts over.
func TestOutlasting(t *testing.T) {
	t.Parallel()
	for cause, cut := range map[error]bool{drain.Err: false, errors.New("cancelled by the user"): true} {
		ctx, cancel := context.WithCancelCause(t.Context())
		call, end := drain.Outlasting(ctx)
		cancel(cause)
		if cut {
			<-call.Done()
			if !errors.Is(context.Cause(call), cause) {
				t.Errorf("got the cause %v, want %v", context.Cause(call), cause)
			}
		} else if call.Err() != nil {
			t.Errorf("cut by %v", cause)
		}
		end()
	}
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	call, end := drain.Outlasting(late)
	defer end()
	<-call.Done()
	if !errors.Is(call.Err(), context.DeadlineExceeded) {
		t.Errorf("past its deadline: %v", call.Err())
	}
}

func TestBegun(t *testing.T) {
	t.Parallel()
	if drain.Begun(t.Context()) != nil {
		t.Error("a context that knows of no drain has one")
	}
	begun := make(chan struct{})
	close(begun)
	<-drain.Begun(drain.With(t.Context(), begun))
}
