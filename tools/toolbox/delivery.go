package toolbox

import (
	"context"
	"fmt"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/tools"
)

// DefaultAutoBuffer is the longest text of a tool that is not put into a variable, in tokens.
const DefaultAutoBuffer = 10000

// delivery routes the results of calls.
type delivery struct{ t *turn }

// deliver routes a result, and keeps what the model receives within limits: long text goes to a variable and is cut, surplus media
// are only named. A failed result goes to the model.
func (d delivery) deliver(ctx context.Context, tool string, r content.ToolResult, counted int) (kept content.ToolResult, err error) {
	if !r.Success {
		return tools.CutText(r, content.MaxToolText, ""), nil
	}
	defer func() { d.t.media.Bound(&kept, counted) }()
	if route := d.route(tool); route != nil {
		return d.routed(ctx, tool, *route, r)
	}
	text := tools.TextOf(r)
	long := policy.TextTokens(text) > d.bufferTokens()
	if !long && len(text) <= content.MaxToolText {
		return r, nil
	}
	name := d.t.vars.free()
	if err := d.t.vars.put(ctx, name, text, false); err != nil {
		return r, err
	}
	shown := content.MaxToolText
	if long {
		shown = preview
	}
	return tools.CutText(r, shown, fmt.Sprintf("[%s in all; read the variable %s with %s]",
		content.FormatSize(int64(len(text))), name, tools.ReadVariable)), nil
}

// preview is how much of a text is shown when it goes to a variable, in bytes.
const preview = 2 << 10

func (d delivery) bufferTokens() int {
	if d.t.box.AutoBuffer > 0 {
		return d.t.box.AutoBuffer
	}
	return DefaultAutoBuffer
}

// routed puts the text of a result elsewhere, and the model learns where. Pictures and documents always go to the model.
func (d delivery) routed(ctx context.Context, tool string, route directives.Route, r content.ToolResult) (content.ToolResult, error) {
	text, said := tools.TextOf(r), ""
	size := content.FormatSize(int64(len(text)))
	switch route.To {
	case directives.RouteDiscard:
		said = "[done; the workflow discards the result]"
	case directives.RouteVariable:
		if err := d.toVariable(ctx, route, text); err != nil {
			return r, err
		}
		said = fmt.Sprintf("[done; the result, %s, is in the variable %s]", size, route.Target.Path)
	default:
		digest, err := d.t.box.stored.Blobs.Put(ctx, []byte(text))
		if err != nil {
			return r, err
		}
		d.t.results = append(d.t.results, engine.RoutedResult{Use: tool, Text: digest})
		said = fmt.Sprintf("[done; the result, %s, goes to a file when the step ends]", size)
	}
	return tools.WithoutText(r, said), nil
}

// toVariable puts a text into a variable, in the route's write mode.
func (d delivery) toVariable(ctx context.Context, route directives.Route, text string) error {
	name, shared := route.Target.Path, route.Scope == "workflow"
	if mode := route.Mode(); mode.Mode != directives.ModeReplace && mode.Mode != directives.ModeNew {
		before, err := d.t.vars.scoped(ctx, name, route.Scope)
		if err != nil {
			return err
		}
		if text, err = step.Joined(before, text, mode); err != nil {
			return failure.New(failure.Output, "", "set variable %s: %v", name, err)
		}
	}
	return d.t.vars.put(ctx, name, text, shared)
}

// route returns where the results of a tool go; nil: to the model.
func (d delivery) route(tool string) *directives.Route {
	if d.t.s.Step.Tools == nil {
		return nil
	}
	tool = d.t.registry.Called(tool)
	for _, u := range d.t.s.Step.Tools.Uses {
		if u.Name == tool && u.Route != nil && u.Route.To != directives.RouteInline {
			return u.Route
		}
	}
	return nil
}
