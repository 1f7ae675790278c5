// Package vaultflow holds what the binaries bring along: the licences of what they contain, and the first notes of a new vault.
package vaultflow

import "embed"

// Start is what `vaultflow init` puts into a new vault, below the folder examples/start.
//
//go:embed all:examples/start
var Start embed.FS

// Notice is the file NOTICE: every module and embedded library with its licence. `make sbom` writes it.
//
//go:embed NOTICE
var Notice string
