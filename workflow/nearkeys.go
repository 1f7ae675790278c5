package workflow

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/directives"
)

// scheduleKeys are keys that hold the text of a schedule, with what goes before it.
var scheduleKeys = map[string]string{
	"cron": "cron: ", "crontab": "cron: ", "cron_schedule": "cron: ", "once": "once: ", "run_at": "once: ", "every": "cron: @every ", "interval": "cron: @every ",
}

// renamedKeys are keys that have another name here, with the same values.
var renamedKeys = map[string]string{"tz": "timezone", "active": "enabled", "import": "on_import", "max_runs": "max_runs_per_day"}

// adviceKeys are keys whose meaning here is elsewhere.
var adviceKeys = map[string]string{
	"on": "write schedule, watch or on_import", "trigger": "write schedule, watch or on_import", "triggers": "write schedule, watch or on_import",
	"disabled": "write enabled: false", "tools": "write @tools in the step, or permissions: {tools: […]}",
	"read": "write permissions: {read: […]}", "write": "write permissions: {write: […]}", "network": "write permissions: {network: […]}",
	"input": "write @input file: PATH in the step", "inputs": "write @input file: PATH in the step",
	"output": "write @output file: PATH in the step", "outputs": "write @output file: PATH in the step",
	"temperature": "write @model ALIAS (temperature=0.2) in the step", "write_mode": "write @write_mode in the step", "run_on": "write @run_on in the step",
}

// nearKey reports a key of the author that means nothing, although the language has another for it. There is no edit: the key
// may be meant for something else, and a workflow must not begin to run by itself because of a correction.
func (r *metaReader) nearKey(key, value *yaml.Node) bool {
	name := strings.ReplaceAll(strings.ToLower(key.Value), "-", "_")
	at := r.values.node(key)
	add := func(suggestion string) {
		r.out.add(at, directives.CodeNearKey, suggestion, "%s has no meaning here", key.Value)
	}
	switch {
	case scheduleKeys[name] != "":
		entry := scheduleKeys[name] + strings.TrimSpace(value.Value)
		add("write schedule: " + strconv.Quote(entry))
	case renamedKeys[name] != "":
		add("write " + renamedKeys[name])
	case slices.Contains(directives.WorkflowBudgetKeys(), name):
		add("write budget: {" + name + ": " + value.Value + "}")
	case adviceKeys[name] != "" && (value.Kind == yaml.SequenceNode || !slices.Contains([]string{"read", "write", "network"}, name)):
		add(adviceKeys[name])
	default:
		return false
	}
	return true
}
