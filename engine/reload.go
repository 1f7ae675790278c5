package engine

import (
	"fmt"
	"strings"
)

// Reload is what a running serve does about settings, or a trust in its vault, that have changed since it loaded them. The zero
// value means that it works with what everybody sees.
type Reload struct {
	Files  []string `json:"files,omitempty"`  // settings files that have changed; those of the vault by their names in it
	Faults []string `json:"faults,omitempty"` // why the changed settings are not in use: those from before are
	Waits  []string `json:"waits,omitempty"`  // runs whose present call ends before serve starts over
	Over   bool     `json:"over,omitempty"`   // serve starts over to use what has changed
}

// Text explains a reload to people; empty if there is nothing to say.
func (r Reload) Text() string {
	what := "what this vault is trusted with"
	if len(r.Files) > 0 {
		what = strings.Join(r.Files, ", ")
	}
	switch {
	case len(r.Faults) > 0:
		more := ""
		if n := len(r.Faults) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more)", n)
		}
		return fmt.Sprintf("%s: changed, and serve continues with the former settings: %s%s", what, r.Faults[0], more)
	case len(r.Waits) > 0:
		return fmt.Sprintf("%s: changed; serve starts over once this has ended its present call: %s", what, strings.Join(r.Waits, ", "))
	case r.Over:
		return what + ": changed; serve starts over"
	}
	return ""
}
