package step

import (
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/policy"
)

// Asking returns a request to the gate with what all writes of a step share.
func (s Context) Asking(who policy.Writer, name, to string) policy.Request {
	return policy.Request{Writer: who, Workflow: s.Plan.File, Permitted: s.permitted(name), ToPermitted: s.permitted(to)}
}

// permitted returns the verdict of permissions.write on a name.
func (s Context) permitted(name string) policy.Permitted {
	p := s.Plan.Meta.Permissions
	return policy.Permitted{Allowed: p.MayWrite(name), Explicit: p.NamesForWriting(name)}
}

// writerOf returns whether an @output or a route writes the targets.
func writerOf(targets []string) policy.Writer {
	if slices.ContainsFunc(targets, func(target string) bool { return strings.HasPrefix(target, "output:") }) {
		return policy.ByOutput
	}
	return policy.ByRoute
}
