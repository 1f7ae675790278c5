package main

import "github.com/vaultflow/vaultflow/ingestion/layout"

// normal gives text in NFC, without ligatures and control characters.
func normal(s string) string { return layout.Normal(s) }
