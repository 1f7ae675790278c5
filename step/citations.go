package step

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/policy"
)

// cites tells whether a step's answers get footnotes: they go into notes and variables as Markdown, and the model's alias wants
// and the model gives citations.
func (w *Workflow) cites(s scene, model Model, wanted demand) bool {
	if !model.Citations || wanted.JSON || !model.Capabilities.Has(policy.Citations) {
		return false
	}
	return !slices.ContainsFunc(s.step.Outputs, func(o directives.Output) bool {
		if o.Format == directives.FormatYAML || o.Target.Scheme != directives.SchemeFile {
			return o.Format == directives.FormatYAML
		}
		name, err := o.Name(w.outputEnv(s))
		ext := strings.ToLower(path.Ext(name))
		return err == nil && ext != ".md" && ext != ".markdown" // a name that is none is told of when it is written
	})
}

// Warnings say which of its settings do nothing.
func (m Model) Warnings() []string {
	if !m.Citations || m.Capabilities.Has(policy.Citations) {
		return nil
	}
	return []string{fmt.Sprintf("models.aliases.%s.citations does nothing: the model %s gives no citations", m.Alias, m.ID)}
}
