package toolbox

import (
	"context"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/step/defuse"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/tools/allowance"
)

// turn is the calls of one answer: what the step offers, and what the tools have done. It belongs to one activity.
type turn struct {
	ctx   context.Context //nolint:containedctx // of the current call, for its reports
	box   *Box
	s     step.Context
	model step.Model
	in    engine.UseToolsIn // zero if tools are only offered

	registry tools.Registry
	nonce    string // of the prompt's frames
	framed   bool   // the result has such frames, and nothing in them holds the nonce
	deferred []prompt.Deferred
	chunks   *tools.ChunkReader // nil: nothing was deferred
	media    *allowance.Allowance
	vars     *variables

	call    string // the current call: round, number, answer
	changes []engine.Change
	results []engine.RoutedResult
	origins []string // untrusted sources that tools have shown
	leaves  []string // pages that tools have shown
	blocked []string // warnings about blocked calls
	undone  []string // approved calls that failed, with the reasons
	exit    *step.CleanExit
	defused []engine.Defused

	nestedUSD   float64  // cost of runs that calls started
	nestedFiles []string // files those runs wrote
	broken      error    // ends the turn: no result can express it

	trial *trial // not nil: calls change nothing

	pages shownPages

	named     map[string]diag.Position // where notes embed the pictures that tools have shown
	omissions []engine.Omission        // of notes that tools have shown, and of runs that they started
}

// turn collects the tools for a model: those that @tools names and the permissions allow, read_chunks if something was deferred, and
// read_variable if results may go to variables.
func (b *Box) turn(s step.Context, model step.Model, stored step.Prompt, in engine.UseToolsIn) *turn {
	t := &turn{box: b, s: s, model: model, in: in, nonce: stored.Nonce, deferred: stored.Chunks, named: map[string]diag.Position{}}
	t.media = b.allowance(s, model, stored, in)
	t.vars = &variables{stored: b.vars, workflow: s.Plan.Name, vars: slices.Clone(in.Vars)}
	if !t.mayCall() {
		return t
	}
	for _, tool := range t.all() {
		if offers(s, tool.Name) {
			t.registry = append(t.registry, tool)
		}
	}
	t.registry = append(t.registry, outward{t}.servers()...)
	if len(t.registry) > 0 && !offers(s, tools.ReadVariable) {
		t.registry = append(t.registry, (&tools.VariableReader{Variables: t.vars}).Tool())
	}
	if len(stored.Chunks) > 0 {
		t.chunks = &tools.ChunkReader{Media: t.media}
		for _, c := range stored.Chunks {
			t.chunks.Chunks = append(t.chunks.Chunks, tools.Chunk{ID: c.ID, Blocks: c.Blocks})
		}
		t.registry = append(t.registry, t.chunks.Tool())
	}
	if len(stored.Paged) > 0 && !offers(s, tools.ReadPages) {
		t.registry = append(t.registry, t.pagesOf(stored.Paged))
	}
	return t
}

// allowance returns the limits for pictures in the results of a turn, and the pictures that the model has.
func (b *Box) allowance(s step.Context, model step.Model, stored step.Prompt, in engine.UseToolsIn) *allowance.Allowance {
	a := &allowance.Allowance{Result: stored.Limits.ToolImages, Step: max(stored.Limits.StepImages-in.Media, 0)}
	budget, _, err := b.budgets.Of(s)
	blocks, bad := content.UnmarshalBlocks(stored.Blocks)
	if err != nil || bad != nil || len(stored.Blocks) == 0 {
		return a // the prompt was made by these settings, and can be read: only an offer has none
	}
	bounds := budget.Bound(model.RequestLimits())
	if side := stored.Media.MaxSide; side > 0 {
		bounds.MaxSide = side
	}
	a.Bytes = bounds.MaxTotalBytes
	a.Weigh = func(i content.Image) int64 {
		return bounds.SentBytes(policy.Candidate{MediaType: i.MediaType, Width: i.Width, Height: i.Height, Size: max(i.Size, int64(i.Width)*int64(i.Height)/2)})
	}
	for _, block := range blocks {
		if i, is := block.(content.Image); is {
			a.Before = append(a.Before, engine.GivenPicture{Name: i.Name, Key: allowance.PictureKey(i), Bytes: a.Weigh(i)})
		}
	}
	a.Before = append(a.Before, in.Pictures...)
	a.Before = slices.DeleteFunc(a.Before, func(g engine.GivenPicture) bool { return slices.Contains(in.Evicted, g.Name) })
	return a
}

// pagesOf is read_pages for files whose pages the prompt has no room for. The step need not name the tool: it was given these
// files.
func (t *turn) pagesOf(files []string) tools.Tool {
	reader := t.reader(t.paths())
	allowed := reader.Read
	reader.Paths.Read = func(name string) error {
		if !slices.Contains(files, name) {
			return fmt.Errorf("%s may not be read: @tools does not name %s", name, tools.ReadPages)
		}
		return allowed(name)
	}
	return reader.PagesTool()
}

// reader reads files for the model.
func (t *turn) reader(paths tools.Paths) *tools.FileReader {
	return &tools.FileReader{
		Paths: paths, Viewer: viewer{t}, Media: t.media,
		TextOnly: !t.model.Capabilities.Has(policy.Vision) && !t.model.Capabilities.Has(policy.PDF),
		Given: func(name string, first, last int) {
			for page := first; page <= last; page++ {
				t.leaves = append(t.leaves, engine.Leaf(name, page))
			}
		},
	}
}

// mayCall reports whether the model can call tools and the step does not forbid it (`@tools none`).
func (t *turn) mayCall() bool {
	return t.model.Capabilities.Has(policy.Tools) && (t.s.Step.Tools == nil || !t.s.Step.Tools.None)
}

// offers reports whether a step offers a tool.
func offers(s step.Context, name string) bool {
	t := s.Step.Tools
	if t == nil || t.None || !s.Plan.Meta.Permissions.MayUse(name) {
		return false
	}
	if t.All && name != tools.RunWorkflow && (name != tools.DeleteFile || mayDelete(s)) {
		return true
	}
	return slices.ContainsFunc(t.Uses, func(u directives.ToolUse) bool {
		return u.Name == name || name == tools.ReadArtifact && u.Name == tools.WebFetch // it reads what web_fetch keeps
	})
}

// mayDelete reports whether models may delete files: the permissions name the tool, or calls need approval.
func mayDelete(s step.Context) bool {
	return asks(s) || slices.Contains(s.Plan.Meta.Permissions.Tools, tools.DeleteFile)
}

// all returns the tools that @tools may name, without read_chunks.
func (t *turn) all() []tools.Tool {
	paths := t.paths()
	reader := t.reader(paths)
	finder := &tools.Finder{Paths: paths}
	writer := func(name string) *tools.Writer { return t.writer(paths, name) }
	list := []tools.Tool{
		reader.Tool(), finder.ListTool(), finder.SearchTool(),
		writer(tools.WriteFile).WriteTool(), writer(tools.AppendFile).AppendTool(), writer(tools.EditFile).EditTool(),
		writer(tools.MoveFile).MoveTool(), writer(tools.DeleteFile).DeleteTool(),
		reader.PagesTool(), (&tools.VariableReader{Variables: t.vars}).Tool(),
	}
	if t.box.Runs != nil {
		list = append(list, (&tools.WorkflowRunner{Start: nested{t}.run}).Tool())
	}
	return append(list, outward{t}.tools()...)
}

// writer returns the tools that change files.
func (t *turn) writer(paths tools.Paths, tool string) *tools.Writer {
	allowed := paths.Write
	paths.Write = func(name string) error {
		if err := allowed(name); err != nil {
			return err
		}
		return guard{t}.mayChange(tool, name)
	}
	return &tools.Writer{Paths: paths, Kind: directives.KindOf, Store: t.store(tool), Document: t.box.changes.DocumentOf, MayDelete: mayDelete(t.s)}
}

// store returns the vault as a tool uses it.
func (t *turn) store(tool string) tools.Store {
	c := &callStore{t, tool}
	if asks(t.s) {
		return guardedStore{c}
	}
	return c
}

// paths returns the vault's and the workflow's rules for names.
func (t *turn) paths() tools.Paths {
	plan, links := t.s.Plan, t.box.links
	return tools.Paths{
		FS: t.box.changes.FS,
		Read: func(name string) error {
			if !plan.Meta.Permissions.MayRead(name) {
				return fmt.Errorf("%s may not be read: it is outside the workflow's permissions.read", name)
			}
			return nil
		},
		Write: t.mayWrite,
		Find: func(target string) string {
			if links == nil {
				return ""
			}
			return links.Locate(target, plan.File).Name
		},
		Near: func(name string) []string {
			if links == nil {
				return nil
			}
			l := links.Locate(name, plan.File)
			if l.Found {
				return []string{l.Name}
			}
			return l.Near
		},
		Seen:  func(name string) { t.pages.file = name; t.seen(policy.ReadFile, name) },
		Named: func(name string) { t.seen(policy.ReadName, name) },
	}
}

// mayWrite asks the gate whether the step's tools may write a file.
func (t *turn) mayWrite(name string) error {
	r := t.s.Asking(policy.ByTool, name, "")
	r.Action, r.Place = policy.Create, policy.Look(t.box.changes.FS, name)
	if r.Place.Exists {
		r.Action = policy.Change
	}
	_, err := t.box.changes.Gate.Decide(r).Pass()
	return err
}

// seen records that a tool has shown a file's content or name.
func (t *turn) seen(kind policy.ReadKind, name string) {
	t.origins = policy.AddOrigins(t.origins, t.box.sources.Trust(t.ctx).Origins([]policy.Read{{Kind: kind, Name: name}})...)
}

// cleanExit returns the turn's CleanExit, created at the first write.
func (t *turn) cleanExit(ctx context.Context) (*step.CleanExit, error) {
	if t.exit != nil || len(t.in.Origins) == 0 {
		return t.exit, nil
	}
	var err error
	t.exit, err = t.box.stored.CleanExit(ctx, t.s, &engine.Foreign{Origins: t.in.Origins, Prompt: t.in.Prompt, Turns: t.in.Turns})
	return t.exit, err
}

// use makes one call and routes its result.
func (t *turn) use(ctx context.Context, call content.ToolCall) (content.ToolResult, error) {
	t.ctx, t.framed = ctx, false
	before := t.media.Given()
	var result content.ToolResult
	found := false
	if t.registry.Effect(call.Name) == tools.EffectWrite {
		var err error
		store := callStore{t, call.Name}
		if result, found, err = store.again(ctx); err != nil {
			return result, err
		}
	}
	if !found {
		result, found = consent{t}.denied(call.Name)
	}
	if !found {
		result, found = guard{t}.refused(call.Name)
	}
	if !found {
		inert := len(t.defused)
		t.pages.begin()
		result = consent{t}.edited(t.registry.Run(ctx, call))
		t.pages.end(call.Name, result)
		consent{t}.note(call.Name, result)
		if n := len(t.defused) - inert; n > 0 {
			result.Blocks = append(result.Blocks, content.Text{Value: fmt.Sprintf(
				"Made inert with the mark %s, because untrusted content was read before: %d places, such as line %d, %s. Leave them unchanged.",
				defuse.Mark, n, t.defused[inert].Line, t.defused[inert].Reason)})
		}
	}
	if t.broken != nil {
		return result, t.broken
	}
	result.CallID = call.ID
	t.origins = policy.AddOrigins(t.origins, result.Origins...)
	if err := ctx.Err(); err != nil {
		return result, fmt.Errorf("use tools: %w", err)
	}
	result, err := delivery{t}.deliver(ctx, call.Name, result, t.media.Given()-before)
	if !t.framed && call.Name != tools.ReadChunks {
		result.Blocks = prompt.BlocksWithoutNonce(result.Blocks, t.nonce)
	}
	return result, err
}

// left returns the outcome of the calls, without their reply.
func (t *turn) left() engine.UseToolsOut {
	out := engine.UseToolsOut{
		Media: t.media.Given(), Vars: t.vars.set, Results: t.results, Changes: t.changes,
		Warnings: t.blocked, NestedUSD: t.nestedUSD, NestedFiles: t.nestedFiles,
		Defused: t.defused, Undone: t.undone, Omissions: t.omissions,
	}
	if all := policy.AddOrigins(t.in.Origins, append(t.origins, t.vars.origins...)...); len(all) > len(t.in.Origins) {
		out.Origins = all[len(t.in.Origins):]
	}
	if t.chunks != nil {
		out.Shown = t.chunks.Shown()
		t.pages.chunks(t.deferred, out.Shown)
	}
	if step.Cites(t.s) {
		out.Pages = t.box.library.PagesShown(t.ctx, t.pages.lines)
	}
	out.Shown = append(out.Shown, t.leaves...)
	out.Pictures = t.media.Added()
	for i := range out.Pictures {
		at := t.named[out.Pictures[i].Name]
		out.Pictures[i].Note, out.Pictures[i].Line = at.File, at.Line
	}
	return out
}
