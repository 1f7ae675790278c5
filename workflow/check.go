package workflow

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// World is what [Check] and [Inspect] need to know about the world outside the file. A zero field disables its checks.
type World struct {
	Now       time.Time
	Zone      *time.Location // of workflows that name none
	Models    []string       // aliases in the settings
	Waiting   []string       // aliases that wait for approval
	Default   string         // the alias of steps that name none
	Tools     []string       // tools in this version
	ImportDir string         // the inbox, where nothing is written
	Imported  string         // the folder of imported documents
	Called    bool           // another workflow may run this one, and read its last answer
	Gate      policy.Gate    // of all writes

	// Foreign reports whether a tool that is not in Tools may be used (one of an MCP server), or why a tool of the language
	// cannot be used with the current settings. nil: only Tools may be used.
	Foreign func(name string) (found bool, why string)

	// Can reports whether a model has a capability such as vision; known is false if that is unknown.
	Can func(alias, capability string) (can, known bool)

	FS    fs.FS       // the vault; it must implement fs.ReadLinkFS for links to be checked
	Links vault.Links // where wikilinks lead
	// Changes reports whether a tool changes something, so that @approve asks before calling it; nil: every tool does.
	Changes func(tool string) bool
	// Schema checks the text of a schema file, or the JSON of a schema in the note, which has no name.
	Schema func(name string, text []byte) error
}

// Check reports what depends on the world but not on the vault's files: dates that have passed or that the clock skips,
// unknown models and tools, what this version does not support, and paths that the settings or the workflow's permissions
// refuse. See [Inspect] for the rest.
func Check(p *Plan, w World) []diag.Diagnostic {
	c := checker{plan: p, world: w}
	c.dates()
	c.models()
	c.tools()
	c.approvals()
	c.schemas()
	c.inputs()
	c.outputs()
	c.moves()
	return Limit(diag.Sort(c.list))
}

type checker struct {
	plan  *Plan
	world World
	list  []diag.Diagnostic
}

func (c *checker) dates() {
	loc := c.plan.Meta.Location(c.world.Zone)
	if loc == nil {
		return
	}
	if c.plan.Meta.Timezone == "" {
		c.list = append(c.list, noSuchTimes(c.plan.Meta.Schedules, loc)...)
	}
	for _, s := range c.plan.Meta.Schedules {
		at, err := s.Moment(loc)
		if s.Kind == KindOnce && err == nil && !c.world.Now.IsZero() && !at.After(c.world.Now) {
			c.list = append(c.list, directives.At(s.Pos, directives.CodeOncePast, "set a later date, or run it by hand",
				"%s has passed, so the schedule will not run again", at.Format("2006-01-02 15:04 MST")))
		}
	}
}

func (c *checker) models() {
	if c.world.Models == nil {
		return
	}
	c.model(c.plan.Meta.Model, c.plan.Meta.ModelAt)
	for _, s := range c.plan.Steps {
		if s.Model == nil && c.plan.Meta.Model == "" && slices.Contains(c.world.Waiting, c.world.Default) {
			c.waits(Position{File: c.plan.File, Line: s.Line, Column: 1}, "default model", c.world.Default)
		}
		if s.Model != nil {
			c.model(s.Model.Alias, s.Model.At)
			c.model(s.Model.Fallback, s.Model.FallbackAt)
		}
		c.sight(s)
	}
}

// sight reports inputs that require images of a model without vision.
func (c *checker) sight(s Step) {
	alias := c.plan.Alias(s, c.world.Default)
	if c.world.Can == nil || alias == "" {
		return
	}
	for _, in := range s.Inputs {
		if in.ImagesMode() != directives.ImagesRequired {
			continue
		}
		if can, known := c.world.Can(alias, "vision"); known && !can {
			c.add(directives.At(in.At, directives.CodeCapability, "choose a model with vision, or write images=auto", "images=required: the model %s has no vision", alias))
		}
	}
}

func (c *checker) waits(at Position, what, alias string) {
	c.add(directives.At(at, directives.CodeModelWaits, "review and allow it with `vaultflow trust`", "the %s %q waits for your approval", what, alias))
}

func (c *checker) model(alias string, at Position) {
	named := func(m string) bool { return strings.EqualFold(m, alias) }
	if slices.ContainsFunc(c.world.Waiting, named) {
		c.waits(at, "model", alias)
		return
	}
	if alias == "" || slices.ContainsFunc(c.world.Models, named) {
		return
	}
	suggestion := hint(alias, c.world.Models)
	if suggestion == "" && len(c.world.Models) > 0 {
		suggestion = "known are " + strings.Join(c.world.Models, ", ")
	}
	// There is no edit: the model decides where the notes are sent and what that costs.
	c.add(directives.At(at, directives.CodeUnknownModel, suggestion, "the model %q is not in the settings", alias))
}

// outputs checks every file output with the facts of a made-up run.
func (c *checker) outputs() {
	for _, s := range c.plan.Steps {
		env := directives.OutputEnv{Facts: c.facts(s), ImportDir: c.world.ImportDir, MayWrite: c.plan.Meta.Permissions.MayWrite}
		for _, out := range s.fileOutputs() {
			c.foreignPlace(s, out, env)
			if out.Target.Link {
				continue
			}
			name, err := out.Name(env)
			switch {
			case err == nil:
				c.refusedPlace(name, out)
			case !c.depends(out.Target, err):
				c.add(asDiagnostic(err, out.Target.At))
			}
		}
	}
}

// refusedPlace reports an output to a file that no workflow, or not this one, may write. The run would refuse it too, but
// only after the model was asked.
func (c *checker) refusedPlace(name string, out directives.Output) {
	permissions := c.plan.Meta.Permissions
	ruling := c.world.Gate.Decide(policy.Request{
		Writer: policy.ByOutput, Action: policy.Change, Place: policy.Target{Name: name, Exists: true}, Workflow: c.plan.File,
		Permitted: policy.Permitted{Allowed: permissions.MayWrite(name), Explicit: permissions.NamesForWriting(name)},
	})
	if ruling.Verdict == policy.VerdictRefused {
		c.add(directives.At(out.Target.At, directives.CodeRefusedPlace, ruling.Hint, "%s %s", name, ruling.Reason))
	}
}

// foreignPlace warns about an output whose folder or whole path depends on the name of an import, or on the items of a list. Only at
// run time is it known whether the items come from outside.
func (c *checker) foreignPlace(s Step, out directives.Output, env directives.OutputEnv) {
	list := s.ForEach != nil && s.ForEach.Target.Scheme == directives.SchemeVariable
	imported := c.plan.Meta.OnImport != nil
	if !list && !imported || out.Untrusted || s.Approve != nil && s.Approve.Outputs {
		return
	}
	env.Facts.Foreign, env.Facts.ForeignFiles = list, imported
	if place, _ := out.Place(env); place.Named != directives.NamedByForeign {
		return
	}
	advice, what, whose := "write the folder and use the item as the file name, such as Summaries/{item}", "the items of the list determine", "items"
	if !list {
		advice, what, whose = "write the folder and use the pattern in the file name, such as Notes/{trigger-name} {item-name}", "the name of the import determines", "names"
	}
	c.add(directives.At(out.Target.At, directives.CodeForeignPlace, advice+"; or add @approve outputs, or (untrusted=allow)",
		"%s the path of this output, so %s from outside are refused", what, whose))
}

// facts returns the facts of a made-up run; an item is a name of one word.
func (c *checker) facts(s Step) directives.Facts {
	f := directives.Facts{Unanswered: true, Now: c.world.Now, WeekStart: c.plan.Meta.WeekStartDay(), Workflow: c.plan.Name, Step: s.Name, Run: "run", Files: []string{"Notes/trigger.md"}}
	if f.Now.IsZero() {
		f.Now = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	}
	if loc := c.plan.Meta.Location(c.world.Zone); loc != nil {
		f.Now = f.Now.In(loc)
	}
	if s.ForEach != nil {
		f.Item, f.ItemName, f.Batch = "item", "item", 1
	}
	return f
}

// depends reports whether an output's refusal depends on its items.
func (c *checker) depends(t directives.Target, err error) bool {
	var d diag.Diagnostic
	return (hasItem(t) || len(t.AnswerPatterns()) > 0) && errors.As(err, &d) && d.Code == directives.CodeNotPermitted && mayFit(t, c.plan.Meta.Permissions.Write)
}

// mayFit reports whether a name that a target can mean may match one of the globs. It may be true too often.
func mayFit(t directives.Target, globs []string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		return slices.ContainsFunc(shapes(t), func(name string) bool {
			return overlap(strings.Split(name, "/"), strings.Split(glob, "/"))
		})
	})
}

// shapes returns globs for the names that an input may read: as it is, and as a note.
func shapes(t directives.Target) []string {
	if i := strings.IndexByte(t.Path, '{'); i >= 0 && !t.Literal && strings.Contains(t.Path[i:], ",") {
		return []string{t.Path[:strings.LastIndexByte(t.Path[:i], '/')+1] + "**"} // alternatives may contain folders
	}
	list := []string{Shape(t)}
	if bare, found := strings.CutSuffix(list[0], ".md"); found && !strings.HasSuffix(t.Path, ".md") {
		list = append(list, bare)
	}
	return list
}

// inputs reports files that the workflow may never read, whatever the vault contains.
func (c *checker) inputs() {
	p := c.plan.Meta.Permissions
	for _, s := range c.plan.Steps {
		for _, t := range s.read() {
			if t.Scheme == directives.SchemeFile && (p.NoRead || p.Read != nil && !mayFit(t, p.Read)) && !directives.MentionsItem(t.Path) && !directives.MentionsTrigger(t.Path) {
				c.add(directives.At(t.At, directives.CodeNotPermitted, "add it to permissions.read", "%s is not covered by permissions.read", t))
			}
		}
	}
}

// read lists what a step reads: items, inputs, its schema.
func (s Step) read() []directives.Target {
	var list []directives.Target
	if s.ForEach != nil {
		list = append(list, s.ForEach.Target)
	}
	for _, in := range s.Inputs {
		list = append(list, in.Target)
	}
	if s.Schema != nil && s.Schema.Target != nil {
		list = append(list, *s.Schema.Target)
	}
	return list
}

// approvals reports an @approve that would never ask, or always.
func (c *checker) approvals() {
	for _, s := range c.plan.Steps {
		if s.Approve == nil {
			continue
		}
		if s.Approve.Outputs && !s.writesFiles() {
			c.add(directives.At(s.Approve.At, directives.CodeNoEffect, "add @output file: NAME, or remove outputs", "@approve outputs has no effect: the step writes no file"))
		}
		if s.Approve.Retries > 0 && (!s.Approve.Outputs || s.Model != nil && s.Model.None) {
			c.add(directives.At(s.Approve.At, directives.CodeNoEffect, "remove it, or write @approve outputs in a step with a model", "retries= of @approve has no effect: it asks the model again after its files are rejected with a reason"))
		}
		if s.Approve.Prompt {
			c.prompts(s)
		}
		if s.Approve.Tools && !c.callsChange(s) {
			c.add(directives.At(s.Approve.At, directives.CodeNoEffect, "add a tool that changes something to @tools, or remove tools", "@approve tools has no effect: the step's model has no tool that changes anything"))
		}
	}
}

// prompts reports an @approve prompt without a prompt, and patterns with which it asks each time.
func (c *checker) prompts(s Step) {
	if s.Model != nil && s.Model.None {
		c.add(directives.At(s.Approve.At, directives.CodeNoEffect, "remove prompt", "@approve prompt has no effect: the step sends nothing to a model"))
		return
	}
	shown := s
	shown.Inputs = nil
	var pages []directives.Target
	for _, in := range s.Inputs {
		if in.Route == nil || in.Route.To == directives.RouteInline {
			shown.Inputs, pages = append(shown.Inputs, in), append(pages, directives.Target{Path: in.PagesText, At: in.At})
		}
	}
	for _, t := range append(shown.read(), pages...) {
		for _, pattern := range t.Fleeting() {
			c.add(directives.At(t.At, directives.CodeAsksAnew, "name what stays the same, or expect to be asked each time",
				"%s differs from run to run or from day to day, and so does the prompt: @approve prompt waits each time", pattern))
		}
	}
}

// callsChange reports whether a step's model may call a tool that changes something.
func (c *checker) callsChange(s Step) bool {
	t := s.Tools
	if t == nil || t.None || s.Model != nil && s.Model.None {
		return false
	}
	return t.All || slices.ContainsFunc(t.Uses, func(u directives.ToolUse) bool { return c.world.Changes == nil || c.world.Changes(u.Name) })
}

// writesFiles reports whether a step writes an answer, an input or a tool result to a file.
func (s Step) writesFiles() bool {
	file := func(r *directives.Route) bool {
		return r != nil && r.Target != nil && r.Target.Scheme == directives.SchemeFile
	}
	return s.Move != nil || slices.ContainsFunc(s.Outputs, func(o directives.Output) bool { return o.Target.Scheme == directives.SchemeFile }) ||
		slices.ContainsFunc(s.Inputs, func(in directives.Input) bool { return file(in.Route) }) ||
		s.Tools != nil && slices.ContainsFunc(s.Tools.Uses, func(u directives.ToolUse) bool { return file(u.Route) })
}

// schemas checks the schemas in the note.
func (c *checker) schemas() {
	for _, s := range c.plan.Steps {
		if s.Schema == nil || s.Schema.Inline == nil || c.world.Schema == nil {
			continue
		}
		if err := c.world.Schema("", s.Schema.Inline); err != nil {
			c.add(directives.At(s.Schema.At, directives.CodeSchema, "see json-schema.org for the keywords of a schema", "this is not a valid JSON Schema: %v", err))
		}
	}
}

// tools reports tools that are unknown, not permitted, or not in this version.
func (c *checker) tools() {
	p := c.plan.Meta.Permissions
	for i, name := range p.Tools {
		if i < len(p.ToolsAt) {
			c.tool(name, p.ToolsAt[i])
		}
	}
	for _, s := range c.plan.Steps {
		if s.Tools == nil {
			continue
		}
		for _, use := range s.Tools.Uses {
			known := c.tool(use.Name, use.At)
			if known && !p.MayUse(use.Name) {
				c.add(directives.At(use.At, directives.CodeNotPermitted, "add it to permissions.tools", "%s is not covered by permissions.tools", use.Name))
			}
			if known && c.world.Tools != nil && use.Name == "web_fetch" && len(p.Network) == 0 {
				c.add(directives.At(use.At, directives.CodeNotPermitted, "write permissions: {network: [example.org]} in the frontmatter, or [\"*\"] for all hosts",
					"web_fetch cannot connect anywhere: permissions.network names no host"))
			}
		}
		c.callsTools(s)
	}
}

// callsTools reports tools in a step whose model cannot call any.
func (c *checker) callsTools(s Step) {
	alias := c.plan.Alias(s, c.world.Default)
	if c.world.Can == nil || alias == "" || !s.Tools.All && len(s.Tools.Uses) == 0 {
		return
	}
	if can, known := c.world.Can(alias, "tools"); known && !can {
		c.add(directives.At(s.Tools.At, directives.CodeCapability, "choose a model that calls tools, or remove @tools", "the model %s cannot call tools", alias))
	}
}

func (c *checker) tool(name string, at Position) bool {
	known, found, why := directives.ToolNames(), false, ""
	if c.world.Foreign != nil {
		found, why = c.world.Foreign(name)
	}
	switch {
	case found:
		return true
	case why != "":
		c.add(directives.At(at, directives.CodeNotAvailable, why, "the tool %s is not available", name))
		return false
	case c.world.Tools == nil || slices.Contains(c.world.Tools, name):
		return true
	case slices.Contains(known, name):
		c.add(directives.At(at, directives.CodeNotAvailable, "remove it", "the tool %s is not available in this version", name))
		return false
	}
	all := append(slices.Clone(c.world.Tools), known...)
	d := directives.At(at, directives.CodeUnknownTool, hint(name, all), "there is no tool %q", name)
	if near, ok := diag.Certain(name, all); ok {
		d = d.Mended(diag.Replace(at, utf8.RuneCountInString(name), near))
	}
	c.add(d)
	return false
}

func (c *checker) add(d diag.Diagnostic) { c.list = append(c.list, d) }

// fileOutputs lists a step's file outputs, including those of routed inputs and tools.
func (s Step) fileOutputs() []directives.Output {
	return s.writes(func(directives.WriteMode) bool { return true })
}

// writes lists the file outputs whose mode is chosen.
func (s Step) writes(chosen func(directives.WriteMode) bool) []directives.Output {
	var list []directives.Output
	for _, out := range s.Outputs {
		if out.Target.Scheme == directives.SchemeFile && chosen(s.WriteMode) {
			list = append(list, out)
		}
	}
	routed := func(r *directives.Route, at Position) {
		if r != nil && r.To == directives.RouteFile && chosen(r.Mode()) {
			list = append(list, r.Output(at))
		}
	}
	for _, in := range s.Inputs {
		routed(in.Route, in.At)
	}
	for _, use := range s.toolUses() {
		routed(use.Route, use.At)
	}
	return list
}

// toolUses returns the tools that a step names.
func (s Step) toolUses() []directives.ToolUse {
	if s.Tools == nil {
		return nil
	}
	return s.Tools.Uses
}

func asDiagnostic(err error, at Position) diag.Diagnostic {
	if d, ok := err.(diag.Diagnostic); ok { //nolint:errorlint // Name returns it unwrapped
		return d
	}
	return directives.At(at, directives.CodeDirectiveValue, "", "%s", fmt.Sprint(err))
}
