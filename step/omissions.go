package step

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
)

// withOmissions adds to an answer what the model got less of than was written, for an output with omissions=on. Properties
// and data have no place for it.
func withOmissions(text string, output directives.Output, mode string, omitted []string) string {
	note := output.Target.Scheme == directives.SchemeFile && (output.Format == "" || output.Format == directives.FormatMarkdown)
	if kind := directives.KindOf(output.Target.Path); kind != "" && kind != "markdown" {
		note = false
	}
	if len(omitted) == 0 || !note || mode == directives.ModeFrontmatter {
		return text
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(text, "\n"))
	b.WriteString("\n\n> [!warning] The model got less than was written\n")
	for _, line := range omitted {
		b.WriteString("> - `" + strings.NewReplacer("`", "'", "\n", " ", "\r", " ").Replace(line) + "`\n")
	}
	return b.String()
}

// omitted describes media that were sent as text, or not at all, though the prompt has them.
func (c *call) omitted(request llm.Request, names []string) []engine.Omission {
	texts := map[string]bool{}
	note := func(b content.Block) {
		switch b := b.(type) {
		case content.Image:
			texts[b.Name] = strings.TrimSpace(b.Fallback) != ""
		case content.Document:
			texts[b.Name] = strings.TrimSpace(b.Extracted) != ""
		}
	}
	for _, m := range request.Messages {
		for _, b := range m.Blocks {
			note(b)
			if result, is := b.(content.ToolResult); is {
				for _, inner := range result.Blocks {
					note(inner)
				}
			}
		}
	}
	var list []engine.Omission
	for _, name := range names {
		o := engine.Omit(name, omission.Of(omission.Service), string(policy.StepLine), "it could not be sent: its bytes could not be loaded, or the service does not accept it")
		if words, why := c.failures.Of(name); !why.IsZero() {
			o.Reason, o.Why = "it could not be sent: "+words, why
			if n := len(c.lost); n > 0 {
				o.Reason += fmt.Sprintf(", after the service refused the request: %s", c.lost[n-1].class)
			}
		}
		o.Note, o.Line = c.stored.Named[name].File, c.stored.Named[name].Line
		if texts[name] {
			o.Step = string(policy.StepText)
		}
		for _, l := range c.lost {
			if slices.Contains(l.names, name) {
				o.Reason, o.Why = fmt.Sprintf("the service refused the request: %s", l.class), omission.Of(omission.Service)
			}
		}
		list = append(list, o)
	}
	return list
}
