package step

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/note"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step/defuse"
)

// Stager prepares what steps write.
type Stager struct {
	plans   *Plans
	stored  Stored
	sources Sources
	inputs  Inputs
	vars    Vars
	outputs Outputs
	library Library
	filing  Filing
}

// Stage prepares the step's outputs and routed inputs: names, numbers of write mode new, and contents as blobs. It writes nothing to
// the vault.
func (a *Stager) Stage(ctx context.Context, in engine.StageIn) (engine.StageOut, error) {
	s, err := a.plans.Context(ctx, in.StepRef)
	if err != nil {
		return engine.StageOut{}, err
	}
	if err := a.sources.NameItems(ctx, &s, in.Vars); err != nil {
		return engine.StageOut{}, err
	}
	st := &staging{a: a, s: s, vars: slices.Clone(in.Vars), skip: committedTargets(in.Committed)}
	if st.exit, err = a.stored.CleanExit(ctx, s, in.Foreign); err != nil {
		return engine.StageOut{}, err
	}
	if s.Step.Cite != nil {
		st.shelf = a.library.open(ctx, in.Pages)
	}
	answer, err := a.stored.Blobs.Get(ctx, in.Answer)
	if err != nil && in.Answer != "" {
		return engine.StageOut{}, failure.New(failure.State, "", "read the answer: %v", err)
	}
	answered(&st.s, answer, in.Foreign)
	for i, output := range s.Step.Outputs {
		text, err := formatted(string(answer), output.Format)
		if err != nil {
			return engine.StageOut{}, err
		}
		c := composition{mode: s.Step.WriteMode, header: s.Step.Header}
		c.mode.Mode = c.mode.OrAppend()
		if text, err = st.cited(ctx, fmt.Sprintf("output:%d", i), text, output, c.mode); err != nil {
			return engine.StageOut{}, err
		}
		if output.Omissions {
			text = withOmissions(text, output, c.mode.Mode, in.Omitted)
		}
		exit := st.exit
		if s.Step.Model != nil && s.Step.Model.None {
			exit = exit.passing(text)
		}
		if err := st.put(ctx, fmt.Sprintf("output:%d", i), output, c, text, exit); err != nil {
			return engine.StageOut{}, err
		}
	}
	for _, input := range s.Step.Inputs {
		if err := st.route(ctx, input, in.Inputs); err != nil {
			return engine.StageOut{}, err
		}
	}
	for i, result := range in.Results {
		if err := st.result(ctx, fmt.Sprintf("tool:%d", i), result); err != nil {
			return engine.StageOut{}, err
		}
	}
	notes := len(st.notes)
	out, err := st.finish(ctx)
	if err != nil {
		return out, err
	}
	move, err := st.move(ctx)
	if move != nil {
		out.Moves = append(out.Moves, *move)
	}
	out.Warnings = append(out.Warnings, st.notes[notes:]...)
	return out, err
}

// staging collects the outputs of one step.
type staging struct {
	a     *Stager
	s     Context
	skip  map[string]bool // targets that an earlier attempt has written
	files []*stagedContent
	notes []string     // warnings
	vars  []engine.Var // of the run, as the step's later outputs see them
	set   []engine.StagedVar
	exit  *CleanExit // nil: the step was shown nothing untrusted
	inert []engine.Defused

	shelf     *shelf // nil without @cite
	citations engine.Citations
}

// stagedContent is a file with its content so far, and the digest it is based on.
type stagedContent struct {
	engine.StagedFile
	data     []byte
	warnings []string
	wrote    map[string]string // texts below headings that others share, by headingKey
}

func committedTargets(files []engine.StagedFile) map[string]bool {
	done := map[string]bool{}
	for _, file := range files {
		for _, target := range file.Targets {
			done[target] = true
		}
	}
	return done
}

// put adds one output: text for a file or a variable, made inert by exit. The composition's header still has its patterns.
func (st *staging) put(ctx context.Context, target string, output directives.Output, c composition, text string, exit *CleanExit) error {
	if st.skip[target] {
		return nil
	}
	if output.Target.Scheme == directives.SchemeVariable {
		return st.setVariable(ctx, target, output, c, st.harmless(output, text, exit))
	}
	place, err := st.place(ctx, target, output, c.mode)
	if err != nil {
		return err
	}
	if c.header, err = directives.Expand(c.header, st.s.Facts); err != nil {
		return failure.New(failure.InvalidWorkflow, "", "%s: @header: %v", st.s.Plan.File, err)
	}
	file, err := st.file(place.Name, c.mode.Mode)
	if err != nil {
		return err
	}
	file.Named, file.NameFrom, file.Granted = place.Named, place.from, output.Untrusted
	if replaces(c.mode) || file.Base == "" {
		file.About = place.about
	}
	if c.mode.Mode == directives.ModeSection && c.mode.Merge == "" {
		if c.shared, err = st.ownBelow(ctx, file, c.mode.Heading); err != nil {
			return err
		}
	}
	if c.mode.Mode == directives.ModeFrontmatter {
		var unfit []string
		if text, unfit = note.ReadTypes(st.a.outputs.FS).Typed(text); len(unfit) > 0 {
			st.notes = append(st.notes, fmt.Sprintf("%s: not of the type that %s declares, so written as answered: %s", file.Name, note.TypesFile, oneLine(strings.Join(unfit, ", "))))
		}
	}
	if err := st.add(file, c, output, text, exit); err != nil {
		return err
	}
	if c.mode.Mode == directives.ModeReplace && file.Base != "" && len(file.Targets) == 0 && !writesBack(st.s, file.Name) {
		if err := st.sayReplaced(ctx, file); err != nil {
			return err
		}
	}
	if file.Base == "" && len(file.Targets) == 0 {
		if said := st.a.outputs.takesOver(st.s.Facts.Run, file.Name, st.a.filing.leaves(ctx, st.s)); said != "" {
			st.notes = append(st.notes, said)
		}
	}
	file.Targets = append(file.Targets, target)
	return nil
}

// harmless makes a variable's text inert: a later step sees it, and may keep links that it was shown.
func (st *staging) harmless(output directives.Output, text string, exit *CleanExit) string {
	if exit == nil {
		return text
	}
	kind := "variable.md"
	if output.Format == directives.FormatJSON {
		kind = "variable.json"
	}
	text, found := defuse.Text(kind, text, "", exit.Rules)
	st.inert = append(st.inert, Inert("variable "+output.Target.Path, text, nil, found)...)
	return text
}

// add adds a text to a file, made inert by exit. The file's present content stays.
func (st *staging) add(file *stagedContent, c composition, output directives.Output, text string, exit *CleanExit) error {
	if exit == nil {
		return file.add(c, output, text)
	}
	text, found := exit.text(file.Name, text, file.data, c.mode.Mode == directives.ModeFrontmatter)
	header, inHeader := exit.text(file.Name, c.header, nil, false)
	c.header = header
	if err := file.add(c, output, text); err != nil {
		return err
	}
	st.inert = append(st.inert, Inert(file.Name, header, file.data, inHeader)...)
	st.inert = append(st.inert, Inert(file.Name, text, file.data, found)...)
	return nil
}

// add adds a text to the file. In a list of JSON lines a record takes one line; a JSON file has one value.
func (f *stagedContent) add(c composition, output directives.Output, text string) error {
	ext := strings.ToLower(path.Ext(f.Name))
	switch {
	case ext == ".jsonl" && output.Format == directives.FormatJSON:
		var line bytes.Buffer
		if err := json.Compact(&line, []byte(text)); err != nil {
			return failure.New(failure.Output, "", "write %s: %v", f.Name, err)
		}
		c.lines, text = true, line.String()
	case ext == ".json" && c.mode.Mode == directives.ModeAppend && len(bytes.TrimSpace(f.data)) > 0 && json.Valid(f.data):
		return failure.New(failure.Output, "use @write_mode replace, or name a .jsonl file for a list of answers",
			"appending to %s would make its JSON invalid", f.Name)
	case ext != ".md" && ext != ".markdown" && (c.mode.Mode == directives.ModeFrontmatter || c.mode.Mode == directives.ModeSection):
		return failure.New(failure.Output, "name a .md file", "%s is not a note: it has no properties or headings", f.Name)
	}
	data, left, err := c.compose(f.data, text)
	if err != nil {
		return failure.New(failure.Output, "", "write %s: %v", f.Name, err)
	}
	if c.shared != nil {
		f.wrote[headingKey(c.mode.Heading)] = c.nested(f.data, text)
	}
	f.data = data
	for _, what := range left {
		f.warnings = append(f.warnings, f.Name+": "+what)
	}
	return nil
}

// file returns the staged file with a name. Mode new uses the first free number instead of an existing file.
func (st *staging) file(name, mode string) (*stagedContent, error) {
	if mode == directives.ModeNew {
		free, err := st.number(name)
		if err != nil {
			return nil, err
		}
		file := &stagedContent{StagedFile: engine.StagedFile{Name: free}, wrote: map[string]string{}}
		st.files = append(st.files, file)
		return file, nil
	}
	for _, file := range st.files {
		if file.Name == name {
			return file, nil
		}
	}
	data, digest, err := st.a.outputs.Vault.Read(name, st.a.outputs.MaxText)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failure.New(failure.Output, "", "read %s before writing: %v", name, err)
	}
	file := &stagedContent{StagedFile: engine.StagedFile{Name: name, Base: digest}, data: data, wrote: map[string]string{}}
	st.files = append(st.files, file)
	return file, nil
}

// maxNumber bounds the search for a free number; a folder with more files of one name is a mistake.
const maxNumber = 10000

// number returns the first free name among `name_000.md`, `name_001.md`, ….
func (st *staging) number(name string) (string, error) {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for i := range maxNumber {
		candidate := fmt.Sprintf("%s_%03d%s", stem, i, ext)
		taken := slices.ContainsFunc(st.files, func(f *stagedContent) bool { return f.Name == candidate })
		if !taken && !policy.Look(st.a.outputs.FS, candidate).Exists { // nor in another case, nor as a link that leads nowhere
			return candidate, nil
		}
	}
	return "", failure.New(failure.Output, "use another name, or move the old files", "%s has %d numbered files already", name, maxNumber)
}

func (st *staging) setVariable(ctx context.Context, target string, output directives.Output, c composition, text string) error {
	name := output.Target.Path
	if c.mode.Mode != directives.ModeReplace && c.mode.Mode != directives.ModeNew {
		before, err := st.value(ctx, name, output.Scope)
		if err != nil {
			return err
		}
		if text, err = joined(before, text, c); err != nil {
			return failure.New(failure.Output, "", "set variable %s: %v", name, err)
		}
	}
	digest, err := st.a.stored.Blobs.Put(ctx, []byte(text))
	if err != nil {
		return err
	}
	shared := output.Scope == "workflow"
	if !shared {
		st.vars = slices.DeleteFunc(st.vars, func(v engine.Var) bool { return v.Name == name })
		st.vars = append(st.vars, engine.Var{Name: name, Digest: digest})
	}
	st.set = append(st.set, engine.StagedVar{Name: name, Digest: digest, Shared: shared, Target: target})
	return nil
}

// value returns the text of a variable, "" if not set.
func (st *staging) value(ctx context.Context, name, scope string) (string, error) {
	v, err := st.a.vars.Get(ctx, st.s.Plan.Name, name, scope, st.vars)
	if err != nil || v.Digest == "" {
		return "", err
	}
	data, err := st.a.stored.Blobs.Get(ctx, v.Digest)
	return string(data), err
}

// joined returns a variable's next text. Variables have no header.
func joined(before, text string, c composition) (string, error) {
	c.header = ""
	switch {
	case c.mode.Mode != directives.ModeAppend:
		data, _, err := c.compose([]byte(before), text)
		return string(data), err
	case before == "":
		return text, nil
	}
	return before + "\n\n" + text, nil
}

// Joined returns the next text of a variable that a route changes.
func Joined(before, text string, mode directives.WriteMode) (string, error) {
	return joined(before, text, composition{mode: mode})
}

// route sends a routed input's content to its file or variable.
func (st *staging) route(ctx context.Context, input directives.Input, resolved []engine.ResolvedInput) error {
	if input.Route == nil || input.Route.To == directives.RouteInline || input.Route.To == directives.RouteDiscard {
		return nil
	}
	i := slices.IndexFunc(resolved, func(r engine.ResolvedInput) bool { return r.Directive == input.Index })
	if i < 0 {
		return nil
	}
	text, err := st.a.inputs.textOf(ctx, st.s, input, resolved[i])
	if err != nil {
		return err
	}
	return st.put(ctx, fmt.Sprintf("input:%d", input.Index), input.Route.Output(input.At), composition{mode: input.Route.Mode()}, text, st.exit.passing(text))
}

// result sends a tool's result to the file that its @tools line names.
func (st *staging) result(ctx context.Context, target string, r engine.RoutedResult) error {
	if st.s.Step.Tools == nil {
		return nil
	}
	for _, use := range st.s.Step.Tools.Uses {
		if use.Name != r.Use || use.Route == nil || use.Route.Target == nil {
			continue
		}
		data, err := st.a.stored.Blobs.Get(ctx, r.Text)
		if err != nil {
			return failure.New(failure.State, "", "read the result of %s: %v", r.Use, err)
		}
		return st.put(ctx, target, use.Route.Output(use.At), composition{mode: use.Route.Mode()}, string(data), st.exit.passing(string(data)))
	}
	return nil
}

// finish stores the contents as blobs.
func (st *staging) finish(ctx context.Context) (engine.StageOut, error) {
	out := engine.StageOut{Vars: st.set, Defused: st.inert, Warnings: st.notes, Citations: st.citations}
	for _, file := range st.files {
		digest, err := st.a.stored.Blobs.Put(ctx, file.data)
		if err != nil {
			return out, err
		}
		file.New = digest
		for heading, text := range file.wrote {
			digest, err := st.a.stored.Blobs.Put(ctx, []byte(text))
			if err != nil {
				return out, err
			}
			if file.Own == nil {
				file.Own = map[string]string{}
			}
			file.Own[heading] = digest
		}
		out.Warnings = append(out.Warnings, file.warnings...)
		out.Files = append(out.Files, file.StagedFile)
	}
	return out, nil
}
