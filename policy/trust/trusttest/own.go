// Package trusttest makes vaults trusted, for tests.
package trusttest

import (
	"os"
	"time"

	"github.com/vaultflow/vaultflow/policy/trust"
)

// Own makes a folder the user's own vault, as `vaultflow init` does.
func Own(dir, stateDir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	store, err := trust.Open(stateDir, dir)
	if err != nil {
		return err
	}
	return store.Change(func(s *trust.State) { s.Decide(trust.Own, time.Now()) })
}
