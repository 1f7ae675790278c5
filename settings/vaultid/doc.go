// Package vaultid identifies vaults. A vault has an id in a small file, and its state directory records the id with the place of
// the vault's folder. From the two follows whether a state directory is this vault's: at its recorded place, moved, a copy whose
// original is still there, or another vault's. The id moves history and never trust.
//
// The package reads the vault and writes only the record. The id file is written through the vault, with the gate's permission.
package vaultid
