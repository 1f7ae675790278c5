package trust

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/workflow"
)

// Services returns the service behind a model alias, such as "anthropic (api.anthropic.com)", or "" for a model that sends
// nothing. An empty alias means the default.
type Services func(alias string) string

// writers lists the tools that change files.
var writers = []string{"write_file", "append_file", "edit_file", "move_file", "delete_file"}

// ReachOf returns what a workflow may do. A workflow that is not enabled has no triggers.
func ReachOf(p *workflow.Plan, services Services) Reach {
	g := gatherer{permissions: p.Meta.Permissions}
	g.triggers(p.Meta)
	for _, host := range p.Meta.Permissions.Network {
		g.add(Host, host)
	}
	g.add(Link, p.Meta.Permissions.Links...)
	for _, glob := range p.Meta.Permissions.Write {
		if first, _, _ := strings.Cut(glob, "/"); first != "*" && first != all {
			g.add(Named, strings.ToLower(first))
		}
	}
	if p.Meta.Permissions.NoRead {
		// reads nothing
	} else if p.Meta.Permissions.Read == nil {
		g.add(Read, all)
	} else {
		g.add(Read, p.Meta.Permissions.Read...)
	}
	for _, s := range p.Steps {
		g.step(p, s, services)
	}
	return newReach(g.items)
}

type gatherer struct {
	permissions workflow.Permissions
	items       []Item
}

func (g *gatherer) add(kind Kind, values ...string) {
	for _, v := range values {
		g.items = append(g.items, Item{kind, v})
	}
}

func (g *gatherer) triggers(m workflow.Meta) {
	if !m.Enabled {
		return
	}
	for _, s := range m.Schedules {
		g.add(Schedule, s.String())
	}
	g.add(Watch, m.Watch...)
	if m.OnImport == nil {
		return
	}
	if len(m.OnImport.Globs) == 0 {
		g.add(Import, all)
	}
	for _, glob := range m.OnImport.Globs {
		if !strings.Contains(glob, "/") { // it is also matched against the last part of a name
			glob = "**/" + glob
		}
		g.add(Import, glob)
	}
}

func (g *gatherer) step(p *workflow.Plan, s workflow.Step, services Services) {
	if s.Model == nil || !s.Model.None {
		g.service(services(p.Alias(s, "")))
		if s.Model != nil && s.Model.Fallback != "" {
			g.service(services(s.Model.Fallback))
		}
	}
	asksOutputs, asksTools := s.Approve != nil && s.Approve.Outputs, s.Approve != nil && s.Approve.Tools
	for _, out := range s.Outputs {
		if out.Target.Scheme == directives.SchemeFile {
			g.write(shape(out.Target), asksOutputs)
			if out.Untrusted {
				g.add(Unguarded, "@output "+out.Target.String())
			}
		}
	}
	for _, in := range s.Inputs {
		if in.Route != nil && in.Route.Target != nil && in.Route.To == directives.RouteFile {
			g.write(shape(*in.Route.Target), false)
		}
		if in.Trust == "trusted" {
			g.add(Believe, believed(in.Target))
		}
	}
	g.tools(s, asksTools)
}

func (g *gatherer) service(name string) {
	if name != "" {
		g.add(Service, name)
	}
}

func (g *gatherer) write(glob string, asks bool) {
	if asks {
		g.add(Propose, glob)
	} else {
		g.add(Write, glob)
	}
}

// tools adds the tools of a step and the files they may change.
func (g *gatherer) tools(s workflow.Step, asks bool) {
	t := s.Tools
	if t == nil || t.None {
		return
	}
	var names []string
	switch {
	case t.All && g.permissions.NoTools:
	case t.All && g.permissions.Tools == nil:
		names = append(names, "all")
		if asks {
			names = append(names, "delete_file") // see what "all" leaves out
		}
	case t.All:
		for _, name := range g.permissions.Tools {
			if name != "run_workflow" && !strings.Contains(name, ".") { // the step must name these
				names = append(names, name)
			}
		}
	}
	for _, use := range t.Uses {
		if !g.permissions.MayUse(use.Name) {
			continue
		}
		names = append(names, use.Name)
		if use.Untrusted {
			g.add(Unguarded, use.Name)
		}
		if use.Route != nil && use.Route.Target != nil && use.Route.To == directives.RouteFile {
			g.write(shape(*use.Route.Target), false)
		}
	}
	g.add(Tool, names...)
	if !slices.ContainsFunc(names, func(n string) bool { return n == "all" || slices.Contains(writers, n) }) || g.permissions.NoWrite {
		return
	}
	scope := g.permissions.Write
	if scope == nil {
		scope = []string{all}
	}
	for _, glob := range scope {
		g.write(glob, asks)
	}
}

// shape returns a glob for the names that an output may write.
func shape(t directives.Target) string {
	for _, pattern := range []string{"{item}", "{item-folder}", "{trigger}", "{trigger-folder}"} { // they may include folders
		before, _, found := strings.Cut(t.Path, pattern)
		if !found || t.Literal {
			continue
		}
		return path.Dir(workflow.Shape(directives.Target{Scheme: t.Scheme, Path: before + "x"})) + "/" + all
	}
	if !t.Literal {
		return workflow.Shape(t)
	}
	name := t.Path
	if directives.KindOf(name) == "" {
		name += ".md"
	}
	return literal(name)
}

// believed returns a glob for the files that an input with trust=trusted reads.
func believed(t directives.Target) string {
	switch {
	case t.Scheme == directives.SchemeVariable:
		return literal("variable: " + t.Path)
	case t.Scheme == directives.SchemeTrigger:
		return all
	case t.Literal:
		return literal(t.Path)
	case t.Link:
		return "**/" + cmp.Or(path.Base(t.Path), "*")
	}
	return workflow.Shape(t)
}
