package step

import (
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/policy"
)

// Asking is the part of a request to the gate that a step's writes to a file have in common.
func (s Context) Asking(who policy.Writer, name, to string) policy.Request {
	return policy.Request{Writer: who, Workflow: s.Plan.File, Permitted: s.permitted(name), ToPermitted: s.permitted(to)}
}

// permitted is what permissions.write says of a name.
func (s Context) permitted(name string) policy.Permitted {
	p := s.Plan.Meta.Permissions
	return policy.Permitted{Allowed: p.MayWrite(name), Explicit: p.NamesForWriting(name)}
}

// writerOf tells an @output from what is routed.
func writerOf(targets []string) policy.Writer {
	if slices.ContainsFunc(targets, func(target string) bool { return strings.HasPrefix(target, "output:") }) {
		return policy.ByOutput
	}
	return policy.ByRoute
}
