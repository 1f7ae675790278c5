// Package examples holds the workflows that come with vaultflow, and the notes that `vaultflow init` puts into a new vault.
package examples

import "embed"

// Start is what a new vault begins with, below the folder start.
//
//go:embed all:start
var Start embed.FS

// Workflows are the example workflows, below the folder workflows.
//
//go:embed workflows
var Workflows embed.FS
