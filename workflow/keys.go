package workflow

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/directives"
)

// keys holds the properties of the language.
var keys = map[string]func(*metaReader, *Meta, field){
	"schedule":         (*metaReader).readSchedules,
	"watch":            func(r *metaReader, m *Meta, f field) { m.Watch = r.values.globs(f) },
	"on_import":        (*metaReader).readOnImport,
	"enabled":          func(r *metaReader, m *Meta, f field) { m.Enabled = r.values.boolean(f) },
	"timezone":         (*metaReader).readTimezone,
	"week_start_day":   (*metaReader).readWeekStart,
	"model":            (*metaReader).readModel,
	"overlap":          func(r *metaReader, m *Meta, f field) { r.values.word(&m.Overlap, f, "skip", "queue", "replace") },
	"catch_up":         func(r *metaReader, m *Meta, f field) { r.values.word(&m.CatchUp, f, "none", "latest", "all") },
	"runs":             func(r *metaReader, m *Meta, f field) { r.values.word(&m.Runs, f, RunsEach, RunsTogether) },
	"timeout":          (*metaReader).readTimeout,
	"max_runs_per_day": (*metaReader).readMaxRuns,
	"permissions":      (*metaReader).readPermissions,
	"budget":           (*metaReader).readBudget,
	"description":      func(_ *metaReader, m *Meta, f field) { m.Description = f.node.Value },
}

var keyNames = []string{
	"schedule", "watch", "on_import", "enabled", "timezone", "week_start_day", "model", "overlap", "catch_up", "runs", "timeout",
	"max_runs_per_day", "permissions", "budget", "description",
}

func (r *metaReader) readOnImport(m *Meta, f field) {
	if f.node.Kind == yaml.ScalarNode {
		if b, err := directives.ParseBool(f.node.Value); err == nil {
			if b {
				m.OnImport = &OnImport{}
			}
			return
		}
	}
	if globs := r.values.globs(f); len(globs) > 0 {
		m.OnImport = &OnImport{Globs: globs}
	}
}

func (r *metaReader) readTimezone(m *Meta, f field) {
	name, ok := r.values.scalar(f, "the name of a time zone")
	if !ok {
		return
	}
	if _, err := loadZone(name); err != nil {
		r.out.add(r.values.node(f.node), directives.CodeKeyValue, "write an IANA name such as Europe/Oslo", "%q is not a time zone", name)
		return
	}
	m.Timezone = name
}

// loadZone is time.LoadLocation, but refuses names that mean different zones on different machines.
func loadZone(name string) (*time.Location, error) {
	if name == "" || strings.EqualFold(name, "local") {
		return nil, strconv.ErrSyntax
	}
	return time.LoadLocation(name)
}

func (r *metaReader) readWeekStart(m *Meta, f field) {
	text, ok := r.values.scalar(f, "a day name")
	if !ok {
		return
	}
	day, ok := directives.Weekday(text)
	if !ok {
		r.out.add(r.values.node(f.node), directives.CodeKeyValue, cmp.Or(hint(text, dayNames()), "write week_start_day: monday"), "week_start_day must be a day name, not %q", text)
		return
	}
	m.WeekStart = strings.ToLower(day.String())
}

func dayNames() []string {
	var names []string
	for d := time.Sunday; d <= time.Saturday; d++ {
		names = append(names, strings.ToLower(d.String()))
	}
	return names
}

func (r *metaReader) readModel(m *Meta, f field) {
	alias, ok := r.values.scalar(f, "a model alias")
	if !ok {
		return
	}
	if !directives.ValidAlias(alias) || strings.EqualFold(alias, "none") {
		r.out.add(r.values.node(f.node), directives.CodeKeyValue, "write an alias from the settings", "model must be a model alias, not %q", alias)
		return
	}
	m.Model, m.ModelAt = alias, r.values.node(f.node)
}

func (r *metaReader) readTimeout(m *Meta, f field) {
	text, ok := r.values.scalar(f, "a duration")
	if !ok {
		return
	}
	d, err := directives.ParseDuration(text)
	if err != nil {
		r.out.add(r.values.node(f.node), directives.CodeKeyValue, "write timeout: 20m", "timeout: %v", err)
		return
	}
	m.Timeout = d
}

func (r *metaReader) readMaxRuns(m *Meta, f field) {
	text, ok := r.values.scalar(f, "a whole number")
	if !ok {
		return
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 || count > math.MaxInt32 {
		r.out.add(r.values.node(f.node), directives.CodeKeyValue, "write max_runs_per_day: 5", "max_runs_per_day must be a whole number above zero, not %q", text)
		return
	}
	m.MaxRunsPerDay = count
}

// readSchedules reads the schedule property: one entry or a list of them.
func (r *metaReader) readSchedules(m *Meta, f field) {
	for _, item := range r.values.entries(f) {
		at := r.values.node(item.node)
		s, fault := parseSchedule(strings.TrimSpace(item.node.Value), at)
		if fault != nil {
			r.out.add(at, fault.code, fault.suggestion, "%s", fault.message)
			r.mendEntry(item.node, fault)
			continue
		}
		if slices.ContainsFunc(m.Schedules, func(o Schedule) bool { return o.String() == s.String() }) {
			r.out.add(at, directives.CodeScheduleTwice, "", "%s appears twice", s)
			continue
		}
		m.Schedules = append(m.Schedules, s)
	}
}

// checkZoned checks what needs the workflow's own zone, if it names one.
func (r *metaReader) checkZoned(m *Meta) {
	loc, err := loadZone(m.Timezone)
	if err != nil {
		return
	}
	r.out.list = append(r.out.list, noSuchTimes(m.Schedules, loc)...)
}

func (r *metaReader) readPermissions(m *Meta, f field) {
	p := &m.Permissions
	r.values.group(f, []string{"read", "write", "tools", "network", "links"}, func(f field) {
		empty := f.node.Kind == yaml.SequenceNode && len(f.node.Content) == 0
		switch f.name {
		case "read":
			p.Read, p.NoRead = r.values.globs(f), empty
		case "write":
			p.Write, p.NoWrite = r.values.globs(f), empty
		case "tools":
			p.Tools, p.ToolsAt, p.NoTools = r.values.tools(f)
		case "network":
			p.Network = r.values.hosts(f)
		case "links":
			p.Links = r.values.hosts(f)
		}
	})
}

func (r *metaReader) readBudget(m *Meta, f field) {
	r.values.group(f, directives.WorkflowBudgetKeys(), func(f field) {
		if f.name == "when_exceeded" {
			r.values.word(&m.Budget.WhenExceeded, f, directives.WhenExceeded()...)
			return
		}
		text, ok := r.values.scalar(f, "a number")
		if !ok {
			return
		}
		v, err := directives.ParseLimit(f.name, text)
		if err != nil {
			r.out.add(r.values.node(f.node), directives.CodeKeyValue, "", "%v", err)
			return
		}
		if m.Budget.Limits == nil {
			m.Budget.Limits = map[string]float64{}
		}
		m.Budget.Limits[f.name] = v
	})
}
