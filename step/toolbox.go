package step

import (
	"context"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/tools"
)

// ToolNames are the tools that this version offers to models.
func ToolNames() []string {
	return []string{
		tools.ReadFile, tools.ListFiles, tools.SearchFiles, tools.WriteFile, tools.AppendFile, tools.EditFile, tools.MoveFile,
		tools.DeleteFile, tools.ReadChunks, tools.ReadPages, tools.ReadVariable, tools.ReadArtifact, tools.WebFetch, tools.WebSearch,
		tools.RunWorkflow,
	}
}

// toolbox is what a step offers to its model in one turn, and what its tools leave behind. It belongs to one activity.
type toolbox struct {
	ctx   context.Context //nolint:containedctx // of the call at work, for what its tool reports
	w     *Workflow
	s     scene
	model Model
	in    engine.UseToolsIn // of the turn; zero where tools are offered only

	registry tools.Registry
	chunks   *tools.ChunkReader // nil: nothing was deferred
	media    *tools.Allowance
	vars     *boxVars

	call    string // the place of the call at work in the run's step: round, number, answer
	changes []engine.Change
	results []engine.RoutedResult
	origins []string // untrusted things that tools have shown
	blocked []string // calls that were not carried out because of such things, in words
	exit    *cleanExit
	defused []engine.Defused

	nestedUSD   float64  // cost of the runs that calls have started
	nestedFiles []string // that those have written
	broken      error    // what no result can say: the turn cannot go on

	trial *trial // not nil: calls are tried and change nothing
}

// toolbox gathers what a model is offered: the tools that @tools names and the permissions allow, read_chunks when something
// was deferred, and read_variable where results may be kept in variables. A model that cannot call tools is offered none, and
// so is one whose step says `@tools none`.
func (w *Workflow) toolbox(s scene, model Model, stored storedPrompt, in engine.UseToolsIn) *toolbox {
	box := &toolbox{w: w, s: s, model: model, in: in}
	box.media = &tools.Allowance{Result: stored.Limits.ToolImages, Step: max(stored.Limits.StepImages-in.Media, 0)}
	box.vars = &boxVars{w: w, workflow: s.plan.Name, vars: slices.Clone(in.Vars)}
	if !model.Capabilities.Has(policy.Tools) || s.step.Tools != nil && s.step.Tools.None {
		return box
	}
	for _, t := range box.all() {
		if s.offers(t.Name) {
			box.registry = append(box.registry, t)
		}
	}
	box.registry = append(box.registry, box.servers()...)
	if len(box.registry) > 0 && !s.offers(tools.ReadVariable) {
		box.registry = append(box.registry, (&tools.VariableReader{Variables: box.vars}).Tool())
	}
	if len(stored.Chunks) > 0 {
		box.chunks = &tools.ChunkReader{Media: box.media}
		for _, c := range stored.Chunks {
			box.chunks.Chunks = append(box.chunks.Chunks, tools.Chunk{ID: c.ID, Blocks: c.Blocks})
		}
		box.registry = append(box.registry, box.chunks.Tool())
	}
	return box
}

// described are the origins of what others say of the tools on offer, and what people should know of these tools.
func (b *toolbox) described() (origins, notes []string) {
	for _, t := range b.registry {
		if server, _, dotted := strings.Cut(t.Called, "."); dotted {
			origins = policy.AddOrigins(origins, policy.MCPOrigin(server))
		}
		if t.Note != "" && !slices.Contains(notes, t.Note) {
			notes = append(notes, t.Note)
		}
	}
	return origins, notes
}

// offers says whether a step lets its model use a tool.
func (s scene) offers(name string) bool {
	t := s.step.Tools
	if t == nil || t.None || !s.plan.Meta.Permissions.MayUse(name) {
		return false
	}
	if t.All && name != tools.RunWorkflow && (name != tools.DeleteFile || s.mayDelete()) {
		return true
	}
	return slices.ContainsFunc(t.Uses, func(u directives.ToolUse) bool {
		return u.Name == name || name == tools.ReadArtifact && u.Name == tools.WebFetch // what one keeps the other reads
	})
}

// mayDelete says whether the workflow lets models delete files: it names the tool, or a person is asked.
func (s scene) mayDelete() bool {
	return s.asks() || slices.Contains(s.plan.Meta.Permissions.Tools, tools.DeleteFile)
}

// all are the tools of this version that @tools may name, read_chunks aside.
func (b *toolbox) all() []tools.Tool {
	paths := b.paths()
	reader := &tools.FileReader{
		Paths: paths, Viewer: viewer{w: b.w, s: b.s, model: b.model, box: b}, Media: b.media,
		TextOnly: !b.model.Capabilities.Has(policy.Vision) && !b.model.Capabilities.Has(policy.PDF),
	}
	lister, searcher := &tools.Lister{Paths: paths}, &tools.Searcher{Paths: paths}
	writer := func(name string) *tools.Writer { return b.writer(paths, name) }
	list := []tools.Tool{
		reader.Tool(), lister.Tool(), searcher.Tool(),
		writer(tools.WriteFile).WriteTool(), writer(tools.AppendFile).AppendTool(), writer(tools.EditFile).EditTool(),
		writer(tools.MoveFile).MoveTool(), writer(tools.DeleteFile).DeleteTool(),
		reader.PagesTool(), (&tools.VariableReader{Variables: b.vars}).Tool(),
	}
	if b.w.Runs != nil {
		list = append(list, b.runner().Tool())
	}
	return append(list, b.outside()...)
}

// writer changes files for the call at work.
func (b *toolbox) writer(paths tools.Paths, tool string) *tools.Writer {
	allowed := paths.Write
	paths.Write = func(name string) error {
		if err := allowed(name); err != nil {
			return err
		}
		return b.mayChange(tool, name)
	}
	return &tools.Writer{
		Paths: paths, Kind: directives.KindOf, Store: b.store(tool),
		MayDelete: b.s.mayDelete(),
	}
}

// cleanExit is that of the turn, made when the first call writes.
func (b *toolbox) cleanExit(ctx context.Context) (*cleanExit, error) {
	if b.exit != nil || len(b.in.Origins) == 0 {
		return b.exit, nil
	}
	var err error
	b.exit, err = b.w.cleanExit(ctx, b.s, &engine.Foreign{Origins: b.in.Origins, Prompt: b.in.Prompt, Turns: b.in.Turns})
	return b.exit, err
}

// seen remembers that a tool has given the content of a file.
func (b *toolbox) seen(name string) {
	b.origins = policy.AddOrigins(b.origins, b.w.trust(b.ctx).Origins([]policy.Read{{Kind: policy.ReadFile, Name: name}})...)
}

// named remembers that a tool has given the name of a file.
func (b *toolbox) named(name string) {
	b.origins = policy.AddOrigins(b.origins, b.w.trust(b.ctx).Origins([]policy.Read{{Kind: policy.ReadName, Name: name}})...)
}

// route is where the results of a tool go; nil: to the model.
func (b *toolbox) route(tool string) *directives.Route {
	if b.s.step.Tools == nil {
		return nil
	}
	tool = b.registry.Called(tool)
	for _, u := range b.s.step.Tools.Uses {
		if u.Name == tool && u.Route != nil && u.Route.To != directives.RouteInline {
			return u.Route
		}
	}
	return nil
}
