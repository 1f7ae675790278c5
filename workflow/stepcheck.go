package workflow

import (
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
)

// stepCheck checks a step as a whole, once each of its lines is correct.
type stepCheck struct {
	out      *report
	cutShort bool // an error removed directives from the step
	step     Step
	at       Position // of the heading
}

func (c stepCheck) check() {
	if c.step.Prompt == "" && len(c.step.Inputs) == 0 && !c.cutShort && (c.step.Move == nil || !c.none()) {
		c.out.add(c.at, directives.CodeNothingToSend, "write a prompt below the directives", "the step %q has neither prompt text nor inputs", c.step.Name)
	}
	c.places()
	c.unusedHeader()
	c.withoutModel()
	c.items()
	c.parts()
	c.writeMode()
	c.formats()
	c.citations()
	c.answers()
	c.move()
}

func (c stepCheck) none() bool { return c.step.none() }

// places reports inputs with a place that the prompt does not have.
func (c stepCheck) places() {
	inputs := c.step.Inputs
	if c.step.ForEach != nil {
		inputs = append(slices.Clone(inputs), c.step.ForEach.Input())
	}
	for _, in := range inputs {
		if in.As != "" && !c.none() && !strings.Contains(c.step.Prompt, "{{"+in.As+"}}") {
			c.out.add(in.At, directives.CodePlaceUnused, "write {{"+in.As+"}} where the input belongs", "the prompt does not contain {{%s}}", in.As)
		}
	}
}

func (c stepCheck) unusedHeader() {
	isFile := func(o directives.Output) bool { return o.Target.Scheme == directives.SchemeFile }
	if c.step.Header != "" && !slices.ContainsFunc(c.step.Outputs, isFile) {
		c.out.add(c.step.HeaderAt, directives.CodeHeaderUnused, "", "the step writes no file, so the header is not used")
	}
}

// withoutModel reports directives about model calls in a step that makes none.
func (c stepCheck) withoutModel() {
	if !c.none() {
		return
	}
	unused := func(name string, at Position) {
		c.out.add(at, directives.CodeNoEffect, "remove it, or choose a model", "@%s has no effect: the step calls no model", name)
	}
	s := c.step
	if s.Schema != nil {
		unused("schema", s.Schema.At)
	}
	if s.Cache != nil {
		unused("cache", s.Cache.At)
	}
	if s.Cite != nil {
		unused("cite", s.Cite.At)
	}
	if s.Retry != nil {
		unused("retry", s.Retry.At)
	}
	if s.Tools != nil && !s.Tools.None {
		unused("tools", s.Tools.At)
	}
}

// items reports an @for_each whose items are not used, or whose batches overwrite each other.
func (c stepCheck) items() {
	each := c.step.ForEach
	if each == nil {
		return
	}
	if each.As == "" && !c.usesItems() {
		c.out.add(each.At, directives.CodeNoEffect, "write @input file: {item}, or add as=NAME and {{NAME}} in the prompt",
			"the step does not use its items, so all batches would be the same")
	}
	if replaces(c.step.WriteMode) {
		for _, out := range c.step.Outputs {
			c.overwrites(out.Target)
		}
	}
	for _, in := range c.step.Inputs {
		c.routeOverwrites(in.Route)
	}
	for _, use := range c.step.toolUses() {
		c.routeOverwrites(use.Route)
	}
}

func (c stepCheck) routeOverwrites(r *directives.Route) {
	if r != nil && r.Target != nil && replaces(r.Mode()) {
		c.overwrites(*r.Target)
	}
}

// replaces reports whether a mode takes away what an earlier output wrote.
func replaces(m directives.WriteMode) bool {
	return m.Mode == directives.ModeReplace || m.Mode == directives.ModeSection && m.Merge == ""
}

func (c stepCheck) overwrites(t directives.Target) {
	if !hasItem(t) && len(t.AnswerPatterns()) == 0 {
		c.out.add(t.At, directives.CodeOverwrites, "put {item-name} or {batch} into the name, or use append",
			"each batch overwrites what the one before wrote to %s", t)
	}
}

// parts reports {item} in places where a part of a document makes no sense.
func (c stepCheck) parts() {
	each := c.step.ForEach
	if each == nil || each.Parts == "" {
		return
	}
	refuse := func(at Position, where string) {
		c.out.add(at, directives.CodePartItem, "write {item-name}, {item-title} or {item-label}", "{item} is a part of a document and belongs in @input file: {item}, not in %s", where)
	}
	target := func(t directives.Target) {
		if !t.Literal && directives.MentionsWholeItem(t.Path) {
			refuse(t.At, t.String())
		}
	}
	for _, in := range c.step.Inputs {
		switch {
		case !in.ReadsItem():
			target(in.Target)
		case len(in.Pages) > 0 || in.PagesText != "":
			c.out.add(in.At, directives.CodeExclusive, "remove pages=", "{item} has pages of its own, so pages= has no meaning")
		case in.Changes:
			c.out.add(in.At, directives.CodeExclusive, "remove changes; pending on @for_each leaves out what did not change", "{item} is a part of a document, and changes compares whole files")
		}
		if in.Route != nil && in.Route.Target != nil {
			target(*in.Route.Target)
		}
	}
	for _, out := range c.step.Outputs {
		target(out.Target)
	}
	for _, use := range c.step.toolUses() {
		if use.Route != nil && use.Route.Target != nil {
			target(*use.Route.Target)
		}
	}
	if directives.MentionsWholeItem(c.step.Header) {
		refuse(c.step.HeaderAt, "@header")
	}
	if directives.MentionsWholeItem(c.step.Prompt) {
		refuse(c.at, "the prompt")
	}
}

func (c stepCheck) usesItems() bool {
	if hasItem(directives.Target{Path: c.step.Header}) || directives.MentionsItem(c.step.Prompt) {
		return true
	}
	for _, out := range c.step.Outputs {
		if hasItem(out.Target) {
			return true
		}
	}
	if m := c.step.Move; m != nil && (hasItem(m.Source) || hasItem(m.To)) {
		return true
	}
	for _, in := range c.step.Inputs {
		if hasItem(in.Target) || hasItem(directives.Target{Path: in.PagesText}) || in.Route != nil && in.Route.Target != nil && hasItem(*in.Route.Target) {
			return true
		}
	}
	return false
}

// hasItem reports whether a target has a pattern about the item or the batch.
func hasItem(t directives.Target) bool {
	return !t.Literal && (directives.MentionsItem(t.Path) || strings.Contains(t.Path, "{batch}"))
}

// writeMode reports modes that need a note but have none.
func (c stepCheck) writeMode() {
	mode := c.step.WriteMode
	if len(c.step.Outputs) == 0 && mode.At.Line > 0 {
		c.out.add(mode.At, directives.CodeNoEffect, "add an @output, or write_mode= to a routed input", "@write_mode has no effect: the step has no @output")
	}
	for _, out := range c.step.Outputs {
		c.needsNote(mode.Mode, out.Target)
	}
	for _, in := range c.step.Inputs {
		if in.Route != nil && in.Route.Target != nil {
			c.needsNote(in.Route.WriteMode, *in.Route.Target)
		}
	}
	for _, use := range c.step.toolUses() {
		if use.Route != nil && use.Route.Target != nil {
			c.needsNote(use.Route.WriteMode, *use.Route.Target)
		}
	}
}

func (c stepCheck) needsNote(mode string, t directives.Target) {
	kind := directives.KindOf(t.Path)
	if (mode == directives.ModeFrontmatter || mode == directives.ModeSection) && t.Scheme == directives.SchemeFile && kind != "" && kind != "markdown" {
		c.out.add(t.At, directives.CodeExtension, "write to a note, or use replace", "write mode %s needs a Markdown note, but %s is not one", mode, t)
	}
}

// formats reports outputs whose format the answer does not have.
func (c stepCheck) formats() {
	for _, out := range c.step.Outputs {
		if out.Format == directives.FormatMarkdown && c.step.Schema != nil && !c.none() {
			c.out.add(out.At, directives.CodeNoEffect, "write format=json or format=yaml", "format=markdown has no effect: with @schema the answer is JSON")
		}
	}
}

// citations refuses @cite for answers that are not Markdown. Properties of a note may contain links.
func (c stepCheck) citations() {
	if c.step.Cite == nil || c.none() {
		return
	}
	refuse := func(what string) {
		c.out.add(c.step.Cite.At, directives.CodeExclusive, "remove @cite, or let another step write the data", "@cite makes links in text, and %s", what)
	}
	if c.step.Schema != nil {
		refuse("the answer is JSON (@schema)")
		return
	}
	for _, out := range c.step.Outputs {
		kind := directives.KindOf(out.Target.Path)
		switch {
		case out.Format == directives.FormatJSON || out.Format == directives.FormatYAML:
			refuse("an output has format=" + out.Format)
			return
		case out.Target.Scheme == directives.SchemeFile && !out.Target.Link && kind != "" && kind != "markdown":
			refuse(out.Target.String() + " is no note")
			return
		}
	}
}
