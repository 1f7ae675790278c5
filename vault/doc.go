// Package vault is the contract of a vault: a folder of Markdown notes that people and programs change at the same time.
// A name is a slash path inside the vault; paths of the operating system stay in vault/disk, which implements the contract.
package vault

import "errors"

// ErrConflict is matched by the error of a write whose target is not what the writer had read. Nothing was written.
var ErrConflict = errors.New("the file was changed by someone else")

// Location is where a link leads.
type Location struct {
	Name      string   // of the file, always one inside the vault; empty when nothing was found
	Ambiguous []string // all files that fit equally well, Name among them; nil when there is one
	Near      []string // files of similar names, the most similar first, when nothing was found
	Found     bool
}
