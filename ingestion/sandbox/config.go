// Package sandbox starts document workers and talks to them: one process for one document, without environment, in a
// process group of its own, killed when it takes too long.
//
// It trusts nothing that a worker says beyond what package extract checks, and turns every way in which a worker can die
// into an [extract.Error]. It reads no document itself and writes none.
package sandbox

import (
	"log/slog"
	"time"
)

// Config names the worker and its limits. It is a value: many goroutines may use copies.
type Config struct {
	Worker             string        // path of the program
	Tessdata           string        // folder of language data; empty: the worker looks where systems put it
	Cache              string        // folder of machine code that the worker may read; see Warm. Empty: none
	PageTimeout        time.Duration // for one request; 0 = 20 s. A request with recognition gets three times that
	OpenTimeout        time.Duration // from the start to the opened document; 0 = 20 s
	MemoryBytes        int64         // most memory of the process; 0 = 1.5 GiB
	RequireConfinement bool          // no worker below extract.ConfinedFull
	Logger             *slog.Logger  // nil: nothing is logged

	env []string // of a fake worker in tests
}

func (c Config) withDefaults() Config {
	if c.PageTimeout <= 0 {
		c.PageTimeout = 20 * time.Second
	}
	if c.OpenTimeout <= 0 {
		c.OpenTimeout = 20 * time.Second
	}
	if c.MemoryBytes <= 0 {
		c.MemoryBytes = 1536 << 20
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
