// Package vaultflow holds the licences of what the binaries contain, for the dashboard and the command line.
package vaultflow

import _ "embed" // for NOTICE

// Notice is the file NOTICE: every module and embedded library with its licence. `make sbom` writes it.
//
//go:embed NOTICE
var Notice string
