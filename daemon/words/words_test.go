package words

import (
	"testing"

	"github.com/vaultflow/vaultflow/cost"
)

// What a request may have cost that nobody answered is not what was spent.
func TestCost(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]cost.Spending{
		"$0.50, 700 tokens": {Calls: 1, Cost: cost.Amount{USD: 0.5, Tokens: 700}},
		"$0.00, 697 tokens; at most $0.00, 35684 tokens more by requests without an answer": {
			Calls: 2, Cost: cost.Amount{Tokens: 36381}, Presumed: cost.Amount{Tokens: 35684},
		},
		"$0.50, 0 tokens; at most $0.25, 10 tokens more by requests at work; at most $1.00, 0 tokens more by requests without an answer": {
			Calls: 3, Cost: cost.Amount{USD: 1.75, Tokens: 10}, Open: cost.Amount{USD: 0.25, Tokens: 10}, Presumed: cost.Amount{USD: 1},
		},
	} {
		if got := Cost(s); got != want {
			t.Errorf("%+v:\ngot  %s\nwant %s", s, got, want)
		}
	}
}
