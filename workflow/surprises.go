package workflow

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// Surprises reports what is allowed, but hardly means what its author wants: work on the wrong file, outputs that overwrite each
// other, questions about nothing, answers that go nowhere. All are warnings.
func Surprises(p *Plan, w World) []diag.Diagnostic {
	s := surprises{checker{plan: p, world: w}}
	s.subjects()
	s.severalFiles()
	for i, step := range p.Steps {
		s.sameNames(step)
		s.overwritten(i)
		s.nothingToAsk(step)
		s.lostAnswer(i)
		s.pictureFormats(step)
	}
	return Limit(diag.Sort(s.list))
}

type surprises struct{ checker }

// reading is something that a step reads, with how it selects among files.
type reading struct {
	target directives.Target
	choice directives.Selection
}

// reads lists the items and inputs of a step.
func (s Step) reads() []reading {
	var list []reading
	if s.ForEach != nil {
		list = append(list, reading{s.ForEach.Target, s.ForEach.Selection})
	}
	for _, in := range s.Inputs {
		list = append(list, reading{in.Target, in.Selection})
	}
	return list
}

// newest reports whether a selection takes the newest files alone.
func newest(c directives.Selection) bool {
	ordered := c.Order == directives.OrderMtime || c.Order == directives.OrderCtime || c.Order == directives.OrderDate
	return c.Latest || c.Limit > 0 && !c.Pending && ordered && c.Dir == "desc"
}

// fixed reports whether a path means one file, whatever the run and the vault.
func fixed(t directives.Target) bool {
	_, one := fixedFolder(t)
	return one
}

func anyWild(globs []string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return strings.ContainsAny(glob, "*?[{") })
}

// imports reports whether the import of more than one document starts the workflow.
func (m Meta) imports() bool {
	return m.OnImport != nil && (len(m.OnImport.Globs) == 0 || anyWild(m.OnImport.Globs))
}

// subjects reports a workflow that files start and that reads another file instead: a fixed one, or the newest.
func (s *surprises) subjects() {
	m := s.plan.Meta
	if len(m.Schedules) > 0 || s.plan.NeedsFile(nil) || slices.ContainsFunc(s.plan.Steps, Step.looksAround) {
		return
	}
	var starting []string // globs of the files that start runs
	if m.OnImport != nil && s.world.Imported != "" {
		starting = append(starting, s.world.Imported+"/**")
	}
	starting = append(starting, m.Watch...)
	if len(starting) == 0 {
		return
	}
	var wrong []reading
	for _, step := range s.plan.Steps {
		for _, r := range step.reads() {
			switch t := s.located(r.target); {
			case t.Scheme != directives.SchemeFile || directives.MentionsItem(t.Path) || !mayFit(t, starting):
			case newest(r.choice):
				wrong = append(wrong, r)
			case !fixed(t):
				return // it reads all of them, or those that are new
			case m.imports() && mayFit(t, starting[:1]) || anyWild(m.Watch) && mayFit(t, m.Watch):
				wrong = append(wrong, r)
			default:
				return // the only file that starts it
			}
		}
	}
	for _, r := range wrong {
		what := "always the same file"
		if newest(r.choice) {
			what = "the newest file"
		}
		s.add(directives.At(r.target.At, directives.CodeFixedSubject, "write @input trigger, or @for_each trigger",
			"this reads %s, and not the one that started the run: several files at once would be mixed up", what))
	}
}

// severalFiles reports a pattern that means the one file that started a run, if several files can start a run together: a person who
// saves two notes, or a sync, makes that run fail.
func (s *surprises) severalFiles() {
	m := s.plan.Meta
	watched, imported := anyWild(m.Watch) && !m.Each(false), m.imports() && !m.Each(true)
	if !watched && !imported {
		return
	}
	for _, step := range s.plan.Steps {
		if !step.NamesFile() {
			continue
		}
		at := Position{File: s.plan.File, Line: step.Line, Column: 1}
		for _, t := range step.targets() {
			if !t.Literal && directives.MentionsTrigger(t.Path) {
				at = t.At
				break
			}
		}
		s.add(directives.At(at, directives.CodeSeveralFiles, "", "several files can start a run of this workflow together, and then {trigger} means none of them and the run fails"))
		return
	}
}

// located returns the file of a wikilink as the target, if the vault knows one.
func (s *surprises) located(t directives.Target) directives.Target {
	if t.Link && s.world.Links != nil && fixed(t) {
		if l := s.world.Links.Locate(t.Path, s.plan.File); l.Found {
			t.Path, t.Link, t.Literal = l.Name, false, true
		}
	}
	return t
}

// looksAround reports whether a step's model can read files of its own choice, such as the one that started the run.
func (s Step) looksAround() bool {
	t := s.Tools
	return t != nil && !t.None && (t.All || slices.ContainsFunc(t.Uses, func(u directives.ToolUse) bool {
		return u.Name != "read_chunks" && u.Name != "web_search" && u.Name != "web_fetch"
	}))
}

func has(found map[string]string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := found[name]; return ok })
}

// sameNames reports outputs that have the same name for several items. [stepCheck] reports those without any pattern of items.
func (s *surprises) sameNames(step Step) {
	each := step.ForEach
	if each == nil {
		return
	}
	if each.Parts != "" {
		s.sameParts(step)
		return
	}
	for _, out := range step.writes(replaces) {
		found := out.Target.Patterns()
		if len(out.Target.AnswerPatterns()) > 0 {
			continue
		}
		switch named := has(found, "item-name", "item-label"); {
		case !hasItem(out.Target) || has(found, "item", "item-title", "batch"):
			s.sameBatches(step, out, found)
		case each.Target.Scheme != directives.SchemeFile:
		case named && (has(found, "item-folder") || !namesRepeat(each.Target)):
		case has(found, "item-folder") && onePerFolder(each.Target):
		case named:
			s.add(directives.At(out.Target.At, directives.CodeSameName, "begin the path with {item-folder}/, or put {item-title} into the name",
				"several items of %s have the same name here, so all but one get a number, such as (2)", each.Target))
		default:
			s.add(directives.At(out.Target.At, directives.CodeSameName, "put {item-name} or {item-title} into the name",
				"several items of %s have the same name here, so each overwrites the one before", each.Target))
		}
	}
}

// sameParts reports outputs that have the same name for several parts, or for the same part of several documents: the names of parts
// begin with the document's only if the paths select several.
func (s *surprises) sameParts(step Step) {
	each := step.ForEach
	pages := each.Parts == directives.PartPages
	for _, out := range step.writes(replaces) {
		found := out.Target.Patterns()
		titled := has(found, "item-title")
		switch named := has(found, "item-name", "item-label", "batch"); {
		case !hasItem(out.Target):
		case !named && !titled:
			s.add(directives.At(out.Target.At, directives.CodeSameName, "put {item-name} into the name",
				"all parts of a document have the same name here, so each overwrites the one before"))
		case !named && pages:
			s.add(directives.At(out.Target.At, directives.CodeSameName, "put {item-name} into the name",
				"all parts of a document have the same name here, so all but one get a number, such as (2)"))
		case each.Target.Scheme != directives.SchemeTrigger, runNamed(found), has(found, "trigger", "trigger-name", "trigger-title", "trigger-label", "trigger-folder", "item-folder"):
		case pages && titled:
		default:
			s.add(directives.At(out.Target.At, directives.CodeSameName, "put {trigger-name} into the name",
				"parts of every document have these names, so those of the next document get a number, such as (2)"))
		}
	}
}

// sameBatches reports outputs that are named by the number of the batch alone, which begins again with each run.
func (s *surprises) sameBatches(step Step, out directives.Output, found map[string]string) {
	if step.ForEach.Selection.Pending && has(found, "batch") && !has(found, "item", "item-name", "item-title", "item-label") && !runNamed(found) {
		s.add(directives.At(out.Target.At, directives.CodeRunsOverwrite, "put {item-name} into the name, or use append",
			"batches are counted from 1 in each run, so the next run overwrites this output"))
	}
}

// namesRepeat reports whether the files of a path in different folders have equal names: the path names no part of them, or they
// are the pages of imported documents.
func namesRepeat(t directives.Target) bool {
	if t.Link {
		return false
	}
	dir, base := path.Split(t.Path)
	manyFolders := strings.ContainsAny(dir, "*?[{")
	stem := strings.ToLower(strings.TrimSuffix(base, path.Ext(base)))
	switch {
	case !manyFolders || t.Literal:
		return false
	case strings.HasPrefix(stem, "page_"):
		return true
	case stem == "index":
		return false // the name is that of the folder
	}
	return !strings.ContainsAny(base, "*?[{")
}

// onePerFolder reports whether a path selects at most one file of each folder.
func onePerFolder(t directives.Target) bool {
	return !t.Link && !strings.ContainsAny(path.Base(t.Path), "*?[{")
}

// runNamed reports whether patterns differ between runs: by the run, or by a time of day.
func runNamed(found map[string]string) bool {
	for _, name := range []string{"now", "slot"} {
		if format, ok := found[name]; ok && (format == "" || strings.ContainsAny(format, "HhkXxLl")) {
			return true
		}
	}
	return has(found, "run")
}

// overwritten reports outputs of a workflow with a run for each file whose names are the same in all runs.
func (s *surprises) overwritten(i int) {
	m, step := s.plan.Meta, s.plan.Steps[i]
	if !(m.imports() && m.Each(true) || anyWild(m.Watch) && m.Each(false)) || !s.aboutSubject(i) {
		return
	}
	for _, out := range step.writes(replaces) {
		found := out.Target.Patterns()
		if len(out.Target.AnswerPatterns()) > 0 || runNamed(found) || has(found, "trigger", "trigger-name", "trigger-title", "trigger-label", "trigger-folder") || directives.MentionsItem(out.Target.Path) {
			continue
		}
		s.add(directives.At(out.Target.At, directives.CodeRunsOverwrite, "put {trigger-name} into the name, or use append",
			"each file starts a run, and each run overwrites what the one before wrote to %s", out.Target))
	}
}

// aboutSubject reports whether a step reads the file that started the run, or what an earlier step made of it.
func (s *surprises) aboutSubject(i int) bool {
	step := s.plan.Steps[i]
	if step.NeedsFile() {
		return true
	}
	for _, r := range step.reads() {
		for j := range i {
			if r.target.Scheme == directives.SchemeVariable && s.plan.Steps[j].sets(r.target.Path) && s.aboutSubject(j) {
				return true
			}
		}
	}
	return false
}

// sets reports whether a step's answer goes to a variable.
func (s Step) sets(variable string) bool {
	return slices.ContainsFunc(s.Outputs, func(o directives.Output) bool {
		return o.Target.Scheme == directives.SchemeVariable && o.Target.Path == variable
	})
}

// nothingToAsk reports a scheduled step whose model is asked even if no input finds anything.
func (s *surprises) nothingToAsk(step Step) {
	if len(s.plan.Meta.Schedules) == 0 || step.none() || step.ForEach != nil || len(step.When) > 0 || step.NeedsFile() || step.looksAround() ||
		step.Tools != nil && len(step.Tools.Uses) > 0 || step.RunOn != nil && step.RunOn.Never {
		return
	}
	var first *directives.Input
	for i, in := range step.Inputs {
		if in.Route != nil && in.Route.To != directives.RouteInline {
			continue
		}
		if in.Required || !mayBeEmpty(in) {
			return
		}
		if first == nil {
			first = &step.Inputs[i]
		}
	}
	if first == nil {
		return
	}
	d := directives.At(first.Target.At, directives.CodeNothingToAsk, "add (required), which then skips the step; or test with @when",
		"when this finds nothing, the model is asked all the same, and paid for")
	if at := first.Selection.PendingAt; at.Line > 0 {
		d = d.Mended(diag.Replace(at, 0, ", required"))
	}
	s.add(d)
}

// mayBeEmpty reports whether an input may find nothing on some days. The newest files of a folder are always there.
func mayBeEmpty(in directives.Input) bool {
	t := in.Target
	if t.Scheme != directives.SchemeFile {
		return false
	}
	dated := slices.ContainsFunc(directives.DatePatterns(), func(name string) bool { return has(t.Patterns(), name) })
	return in.Selection.Pending || dated || !fixed(t) && !newest(in.Selection) && in.Selection.Limit == 0
}

// lostAnswer reports a step whose answer nothing keeps.
func (s *surprises) lostAnswer(i int) {
	step := s.plan.Steps[i]
	if step.none() || len(step.AnswerPatterns()) > 0 || s.callsChange(step) || step.keepsToolResults() || s.world.Called && i == len(s.plan.Steps)-1 {
		return
	}
	variable := ""
	for _, out := range step.Outputs {
		if out.Target.Scheme == directives.SchemeFile || out.Scope == "workflow" || s.readLater(i, out.Target.Path) {
			return
		}
		variable = out.Target.Path
	}
	at, message := Position{File: s.plan.File, Line: step.Line, Column: 1}, "the answer of this step goes nowhere: only `vaultflow show` has it"
	if variable != "" {
		at, message = step.Outputs[0].Target.At, "the answer goes nowhere: no later step reads the variable "+variable
	}
	s.add(directives.At(at, directives.CodeAnswerLost, "", "%s", message))
}

// keepsToolResults reports whether results of tools go to files or variables.
func (s Step) keepsToolResults() bool {
	return slices.ContainsFunc(s.toolUses(), func(u directives.ToolUse) bool { return u.Route != nil && u.Route.Target != nil })
}

// readLater reports whether a step after this one may read a variable.
func (s *surprises) readLater(i int, variable string) bool {
	names := func(t directives.Target) bool { return t.Scheme == directives.SchemeVariable && t.Path == variable }
	return slices.ContainsFunc(s.plan.Steps[i+1:], func(step Step) bool {
		return slices.ContainsFunc(step.targets(), names) || step.Tools != nil && (step.Tools.All ||
			slices.ContainsFunc(step.Tools.Uses, func(u directives.ToolUse) bool { return u.Name == "read_variable" }))
	})
}

// pictureFormats reports paths into imported documents that name one of the formats in which their pages come.
func (s *surprises) pictureFormats(step Step) {
	for _, t := range step.targets() {
		ext := strings.TrimPrefix(path.Ext(t.Path), ".")
		wild := strings.ContainsAny(strings.TrimSuffix(path.Base(t.Path), ext), "*?[{")
		if t.Scheme != directives.SchemeFile || t.Literal || t.Link || !wild || !directives.Inside(t.Path, s.world.Imported) || s.world.Imported == "" ||
			!slices.Contains([]string{"png", "jpg", "jpeg"}, strings.ToLower(ext)) {
			continue
		}
		d := directives.At(t.At, directives.CodePictureGlob, "write "+strings.TrimSuffix(path.Base(t.Path), ext)+"{png,jpg}",
			"pictures of imported pages are PNG or JPEG, whichever is smaller: this misses the others")
		if dir := path.Dir(t.Path); path.Base(dir) == "pages" {
			at := t.At
			at.Column += utf8.RuneCountInString(t.Path) - utf8.RuneCountInString(ext)
			d = d.Mended(diag.Replace(at, utf8.RuneCountInString(ext), "{png,jpg}"))
		}
		s.add(d)
	}
}
