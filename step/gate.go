package step

import (
	"errors"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
)

// gate decides about every write of a run.
func (w *Workflow) gate() policy.Gate {
	return policy.Gate{WorkflowsDir: w.WorkflowsDir, ImportDir: w.ImportDir, ImportedDir: w.ImportedDir}
}

// asking is the part of a request to the gate that a step's writes to a file have in common.
func (s scene) asking(who policy.Writer, name, to string) policy.Request {
	return policy.Request{Writer: who, Workflow: s.plan.File, Permitted: s.permitted(name), ToPermitted: s.permitted(to)}
}

// permitted is what permissions.write says of a name.
func (s scene) permitted(name string) policy.Permitted {
	p := s.plan.Meta.Permissions
	return policy.Permitted{Allowed: p.MayWrite(name), Explicit: p.NamesForWriting(name)}
}

// writerOf tells an @output from what is routed.
func writerOf(targets []string) policy.Writer {
	if slices.ContainsFunc(targets, func(target string) bool { return strings.HasPrefix(target, "output:") }) {
		return policy.ByOutput
	}
	return policy.ByRoute
}

// actions are the gate's words for changes.
var actions = map[string]policy.Action{
	engine.ChangeCreate: policy.Create, engine.ChangeWrite: policy.Change, engine.ChangeMove: policy.Move, engine.ChangeDelete: policy.Delete,
}

// rule asks the gate about a change.
func (c changer) rule(change engine.Change) policy.Ruling {
	r := c.ask
	r.Action, r.Place = actions[change.Kind], policy.Look(c.w.FS, change.Name)
	if change.Kind == engine.ChangeMove {
		r.To = policy.Look(c.w.FS, change.To)
	}
	return c.w.gate().Decide(r)
}

// pass asks for the permission to make a change.
func (c changer) pass(change engine.Change) (policy.Pass, error) {
	pass, err := c.rule(change).Pass()
	return pass, refusedByGate(err)
}

// refusedByGate makes a failure of what the gate refuses.
func refusedByGate(err error) error {
	if no, is := errors.AsType[*policy.RefusedError](err); is {
		return failure.New(failure.Permission, no.Advice, "%s", no.Error())
	}
	return err
}

// folded is a name in the form in which the vault compares names: one Unicode form, small letters, plain blanks.
func folded(name string) string {
	return strings.ToLower(strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(norm.NFC.String(name)))
}
