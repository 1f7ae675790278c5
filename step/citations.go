package step

import (
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/policy"
)

// cite reports whether a step's answers get footnotes: its outputs are Markdown, and the model's alias asks for citations that the
// model supports. With @cite the model names pages itself.
func (o Outputs) cite(s Context, model Model, wanted demand) bool {
	if s.Step.Cite != nil || !model.Citations || wanted.JSON || !model.Capabilities.Has(policy.Citations) {
		return false
	}
	return !slices.ContainsFunc(s.Step.Outputs, func(out directives.Output) bool {
		if out.Format == directives.FormatYAML || out.Target.Scheme != directives.SchemeFile {
			return out.Format == directives.FormatYAML
		}
		name, err := out.Name(o.Env(s))
		ext := strings.ToLower(path.Ext(name))
		return err == nil && ext != ".md" && ext != ".markdown" // an invalid name fails when it is written
	})
}
