package change

import (
	"errors"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
)

// actions are the gate's words for changes.
var actions = map[string]policy.Action{
	engine.ChangeCreate: policy.Create, engine.ChangeWrite: policy.Change, engine.ChangeMove: policy.Move, engine.ChangeDelete: policy.Delete,
}

// Rule asks the gate about a change.
func (m *Maker) Rule(by Author, c engine.Change) policy.Ruling {
	r := by.Ask
	r.Action, r.Place = actions[c.Kind], policy.Look(m.FS, c.Name)
	if c.Kind == engine.ChangeMove {
		r.To = lookAt(m.FS, c.Name, c.To)
		if _, there := m.Document(c.To); c.Note != "" && (there == c.Before || there == c.After) { // an attempt before got this far
			r.Place.Document, r.Own = true, true
		}
	}
	r.Links = c.Links > 0
	return m.Gate.Decide(r)
}

func (m *Maker) pass(by Author, c engine.Change) (policy.Pass, error) {
	pass, err := m.Rule(by, c).Pass()
	return pass, Refused(err)
}

// Refused makes a failure of the gate's refusal.
func Refused(err error) error {
	if no, is := errors.AsType[*policy.RefusedError](err); is {
		return failure.New(failure.Permission, no.Advice, "%s", no.Error())
	}
	return err
}

// folded is a name in the form in which the vault compares names: one Unicode form, small letters, plain blanks.
func folded(name string) string {
	return strings.ToLower(strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(norm.NFC.String(name)))
}
