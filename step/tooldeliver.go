package step

import (
	"context"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/tools"
)

// DefaultAutoBuffer is how long a tool's text may be, in tokens, before it goes to a variable.
const DefaultAutoBuffer = 10000

// deliver sends a result where the workflow wants it, and keeps what goes to the model within the limits: text that is too
// long is kept in a variable and cut, media that are too many are named. A failed result goes to the model as it is.
func (b *toolbox) deliver(ctx context.Context, tool string, r content.ToolResult, counted int) (kept content.ToolResult, err error) {
	if !r.Success {
		return tools.CutText(r, content.MaxToolText, ""), nil
	}
	defer func() { b.media.Bound(&kept, counted) }()
	if route := b.route(tool); route != nil {
		return b.routed(ctx, tool, *route, r)
	}
	text := tools.TextOf(r)
	long := policy.TextTokens(text) > b.bufferTokens()
	if !long && len(text) <= content.MaxToolText {
		return r, nil
	}
	name := b.vars.free()
	if err := b.vars.put(ctx, name, text, false); err != nil {
		return r, err
	}
	shown := content.MaxToolText
	if long {
		shown = preview
	}
	return tools.CutText(r, shown, fmt.Sprintf("[the text has %s in all; it is kept in the variable %s, which %s reads]",
		content.FormatSize(int64(len(text))), name, tools.ReadVariable)), nil
}

// preview is how much of a text that went to a variable is shown, in bytes.
const preview = 2 << 10

func (b *toolbox) bufferTokens() int {
	if b.w.AutoBuffer > 0 {
		return b.w.AutoBuffer
	}
	return DefaultAutoBuffer
}

// routed keeps the text of a result elsewhere and tells the model where. Pictures and documents go to the model in any case:
// no file of text could hold them.
func (b *toolbox) routed(ctx context.Context, tool string, route directives.Route, r content.ToolResult) (content.ToolResult, error) {
	text, said := tools.TextOf(r), ""
	size := content.FormatSize(int64(len(text)))
	switch route.To {
	case directives.RouteDiscard:
		said = "[done; the workflow discards what it gave]"
	case directives.RouteVariable:
		if err := b.toVariable(ctx, route, text); err != nil {
			return r, err
		}
		said = fmt.Sprintf("[done; what it gave, %s, is in the variable %s]", size, route.Target.Path)
	default:
		digest, err := b.w.Blobs.Put(ctx, []byte(text))
		if err != nil {
			return r, err
		}
		b.results = append(b.results, engine.RoutedResult{Use: tool, Text: digest})
		said = fmt.Sprintf("[done; what it gave, %s, goes to a file when the step ends]", size)
	}
	return tools.WithoutText(r, said), nil
}

// toVariable puts a text into a variable, by the route's write mode.
func (b *toolbox) toVariable(ctx context.Context, route directives.Route, text string) error {
	name, shared := route.Target.Path, route.Scope == "workflow"
	mode := route.WriteMode
	if mode == "" {
		mode = directives.ModeAppend
	}
	if mode != directives.ModeReplace && mode != directives.ModeNew {
		before, err := b.vars.scoped(ctx, name, route.Scope)
		if err != nil {
			return err
		}
		if text, err = joined(before, text, composition{mode: mode, heading: route.Heading}); err != nil {
			return failure.New(failure.Output, "", "set variable %s: %v", name, err)
		}
	}
	return b.vars.put(ctx, name, text, shared)
}

// toolGuide tells the model how tools work here. It stands in the system prompt when any are offered.
func toolGuide(names []string) string {
	var lines []string
	has := func(name string) bool {
		for _, n := range names {
			if n == name {
				return true
			}
		}
		return false
	}
	for _, name := range names {
		if name != tools.ReadChunks && name != tools.ReadVariable {
			lines = append(lines, "How to use tools:", "- Files are named from the vault's root, with /. A result that has no room for everything says how to go on.")
			break
		}
	}
	if len(lines) > 0 && (has(tools.WriteFile) || has(tools.AppendFile) || has(tools.EditFile)) {
		lines = append(lines, "- What tools write is in the vault at once. The answer itself is written by the workflow: do not write it with a tool.")
	}
	return strings.Join(lines, "\n")
}
