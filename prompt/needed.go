package prompt

import (
	"cmp"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/policy"
)

// directed is an input of the step, for what is made of it.
type directed struct {
	directive directives.Input
	at        diag.Position // of the directive
}

// begin starts the next input.
func (o *outline) begin(workflow string, d directives.Input) {
	at := d.At
	at.File = cmp.Or(at.File, workflow)
	o.from = &directed{directive: d, at: at}
	o.named = append(o.named, o.from)
}

// standsAt is where the reference stands that an item is made of, unless that is its source.
func (it item) standsAt() diag.Position {
	l := it.line
	switch {
	case l.Source.Lines[0] > 0:
		return diag.Position{}
	case l.IsReference() && hasExt(l.Source.Note, ".canvas") && l.Source.Note != l.Name: // of a card
		return diag.Position{File: l.Source.Note}
	case it.frame != nil && it.frame.line != nil && it.frame.line.Source.Lines[0] > 0:
		return diag.Position{File: it.frame.line.Source.Note, Line: it.frame.line.Source.Lines[0]}
	case it.from != nil:
		return it.from.at
	}
	return diag.Position{}
}

// places returns where attached media are named, by the names of the media.
func (o *outline) places() map[string]diag.Position {
	places := map[string]diag.Position{}
	for _, it := range o.items {
		if it.role != roleMedia || !it.line.Fate.Attached() {
			continue
		}
		if _, known := places[it.line.Name]; !known {
			l := *it.line
			l.Named = it.standsAt()
			places[l.Name] = l.Place()
		}
	}
	return places
}

// unmet lists the lines of inputs that the step requires, because of which it must not ask the model: all of an input of which nothing
// arrived, and pictures that images=required demands. reading: the model can call tools.
func (o *outline) unmet(reading bool) []Line {
	var list []Line
	for _, from := range o.named {
		d := from.directive
		if !d.Required && policy.ImageMode(d.ImagesMode()) != policy.Required {
			continue
		}
		arrived, lost, pictures := o.arrived(from, reading)
		switch {
		case d.Required && !arrived:
			list = append(list, lost...)
		case policy.ImageMode(d.ImagesMode()) == policy.Required:
			list = append(list, pictures...)
		}
	}
	return list
}

// arrived reports whether anything of an input is in the prompt, and which of its lines and pictures are not.
func (o *outline) arrived(from *directed, reading bool) (arrived bool, lost, pictures []Line) {
	for _, it := range o.items {
		if it.line == nil || it.from != from {
			continue
		}
		l := *it.line
		l.Named = it.standsAt()
		switch {
		case l.Fate.Attached() && (it.role == roleMedia || it.role == roleText && strings.TrimSpace(it.words) != ""),
			l.Fate == policy.Converted && l.Why.IsZero(), l.Fate == policy.Converted && l.Step == policy.StepText,
			l.Fate == policy.Deduplicated, l.Fate == policy.Deferred && reading:
			arrived = true
		case l.Why.IsZero():
		default:
			lost = append(lost, l)
			if it.role == roleMedia && o.candidates[it.media.cand].Kind == policy.Picture && l.Fate != policy.Deferred {
				pictures = append(pictures, l)
			}
		}
	}
	return arrived || len(lost) == 0, lost, pictures
}
