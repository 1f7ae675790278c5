package directives

import (
	"maps"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// grammar is how the lines of one directive are parsed.
type grammar struct {
	single bool     // at most once in a step
	target bool     // the value is `file: …` or `variable: …`
	parts  bool     // the target may follow `pages of` or the like
	to     bool     // the value has two parts, with `to:` between them
	bare   bool     // the value is optional
	body   bool     // the value may be a fenced block below the line
	params []string // allowed parameters; nil: parentheses belong to the text
	lists  []string // parameters whose values may contain commas
}

// foreign lists AssistantMD's directives for chats, which have no counterpart here.
var foreign = []string{"recent_runs", "recent_summaries", "passthrough_runs"}

// canonical folds case and `-` to `_`.
func canonical(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

func isKnown(name string) bool {
	_, ok := byName[canonical(name)]
	return ok || slices.Contains(foreign, canonical(name))
}

func nearestDirective(name string) string { return diag.Nearest(canonical(name), Names()) }

// Names lists the directives of the language, sorted.
func Names() []string { return slices.Sorted(maps.Keys(byName)) }
