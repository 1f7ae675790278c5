// Package intake brings files into a vault: what arrives in the import folder, what commands name, and what is fetched from the
// web. It decides the settings of each import and keeps looking after the originals.
package intake

import (
	"log/slog"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/daemon/workers"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/ingestion/attempts"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

var _ attempts.Book = (*journal.Attempts)(nil)

// Importers make an importer for each run.
type Importers struct {
	Settings    *settings.Settings
	Vault       *disk.Vault
	Files       vault.Files // writes as imports do
	Workers     *workers.Starter
	Trust       *consent.Trust
	Passwords   *workers.Passwords
	Recognition *Recognition
	Ledger      cost.Ledger
	Moved       func(name string) string // where runs have moved bundles
	Journal     *journal.Journal
	Budget      policy.Budget
	Zone        *time.Location
	Version     string
	Holding     bool // a file without a recognisable end stays in the import folder for a while: serve
	Log         *slog.Logger
}

// For returns an importer for a run, over the vault and the sandbox.
func (m Importers) For(run string, events func(ingestion.Event)) *ingestion.Importer {
	im := &ingestion.Importer{
		Files: m.Files, Moved: m.Moved, Worker: m.Workers.Importing(), Now: time.Now, Tool: "vaultflow " + m.Version, Takes: m.Vault.Takes,
		Writing: m.Vault.Writing, Events: events, Recogniser: m.Recognition.recogniser(payerOf(m.Ledger, m.Budget, m.Zone, run)),
		Transcriber: m.Recognition.transcriber(payerOf(m.Ledger, m.Budget, m.Zone, run)),
		Passwords:   func(ingestion.Job) []string { return m.Passwords.All() }, Attempts: Attempts(m.Journal), Used: m.Journal.Runs.Since,
	}
	im.Office, im.NoOffice = m.Workers.Office(m.Trust.Untrusted())
	if m.Holding {
		im.Endless = func(head []byte) bool { return !disk.ShowsEnd(head) }
	}
	return im
}
