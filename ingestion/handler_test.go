package ingestion

import (
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/filetype"
)

// Every kind has the handler that its route names.
func TestHandlerFor_isWhatTheRouteNames(t *testing.T) {
	t.Parallel()
	for _, k := range filetype.Kinds() {
		if got := handlerFor(k).name(); got != k.Handler() {
			t.Errorf("%s is read by %s, its route names %s", k, got, k.Handler())
		}
	}
}
