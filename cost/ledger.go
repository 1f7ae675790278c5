package cost

import (
	"context"
	"time"
)

// Ledger records what calls of models cost, for all runs; journal.Spending is one.
type Ledger interface {
	// Reserve sets money aside for a request before it is sent. If the request might exceed a cap the error is an *OverBudget.
	Reserve(ctx context.Context, r Reservation, now time.Time) (Reserved, error)
	// Charge replaces reservations with what the requests have cost.
	Charge(ctx context.Context, list ...Settlement) error
	// CapStates returns each cap that applies to the request, and how much of it is used.
	CapStates(ctx context.Context, r Reservation, now time.Time) ([]CapState, error)
}
