package activity

import (
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/workflow"
)

// cites tells whether a step's answers get footnotes: they are Markdown, and the model's alias wants and the model gives
// citations.
func cites(step workflow.Step, model Model, wanted demand) bool {
	data := wanted.JSON || slices.ContainsFunc(step.Outputs, func(o directives.Output) bool { return o.Format == directives.FormatYAML })
	return model.Citations && !data && model.Capabilities.Has(policy.Citations)
}

// Warnings say which of its settings do nothing.
func (m Model) Warnings() []string {
	if !m.Citations || m.Capabilities.Has(policy.Citations) {
		return nil
	}
	return []string{fmt.Sprintf("models.aliases.%s.citations does nothing: the model %s gives no citations", m.Alias, m.ID)}
}
