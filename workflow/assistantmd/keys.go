package assistantmd

import "strings"

// oldKeys holds AssistantMD's properties that have no meaning here, with advice.
var oldKeys = map[string]string{
	"workflow_engine": "delete it: there is one engine", "workflow-engine": "delete it: there is one engine",
	"week-start-day": "write week_start_day", "catch-up": "write catch_up",
	"max-runs-per-day": "write max_runs_per_day",
}

// OldKey returns advice about a property of AssistantMD that has no meaning here.
func OldKey(key string) (advice string, ok bool) {
	advice, ok = oldKeys[strings.ToLower(key)]
	return advice, ok
}
