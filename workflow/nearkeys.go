package workflow

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
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

// nearKey reports a key of the author that means nothing, although the language has another for it.
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
		r.mendScheduleKey(key, value, entry)
	case renamedKeys[name] != "":
		add("write " + renamedKeys[name])
		r.values.rename(key, renamedKeys[name])
	case slices.Contains(directives.WorkflowBudgetKeys(), name):
		add("write budget: {" + name + ": " + value.Value + "}")
	case adviceKeys[name] != "" && (value.Kind == yaml.SequenceNode || !slices.Contains([]string{"read", "write", "network"}, name)):
		add(adviceKeys[name])
	default:
		return false
	}
	return true
}

// mendScheduleKey writes a schedule instead of a key and value that are a line, if the entry is valid and there is no schedule.
func (r *metaReader) mendScheduleKey(key, value *yaml.Node, entry string) {
	at := r.values.node(key)
	_, fault := parseSchedule(entry, at)
	line := r.src.line(at.Line)
	written := strings.Trim(strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, key.Value), ":")), `"'`)
	if fault != nil || value.Kind != yaml.ScalarNode || at.Column != 1 || written != value.Value || r.src.beside(at, "schedule") || strings.ContainsAny(entry, `"\`) {
		return
	}
	r.out.mend(diag.Edit{Line: at.Line, Column: 1, EndLine: at.Line + 1, EndColumn: 1, New: "schedule: " + strconv.Quote(entry) + "\n"})
}
