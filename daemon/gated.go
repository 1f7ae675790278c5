package daemon

import (
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// gate decides about every change of the vault.
func (a *Workspace) gate() policy.Gate {
	v := a.Settings.Vault
	return policy.Gate{
		WorkflowsDir: v.WorkflowsDir, ImportDir: v.ImportDir, ImportedDir: v.ImportedDir, StatusNote: a.Settings.Engine.StatusNote,
	}
}

// Writing returns the vault as a writer may change it.
func (a *Workspace) Writing(who policy.Writer) vault.Files {
	return vault.NewFiles(a.Vault, a.gate(), who)
}
