package directives

import (
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// Destinations of a [Route].
const (
	RouteInline   = "inline"
	RouteDiscard  = "discard"
	RouteFile     = SchemeFile
	RouteVariable = SchemeVariable
)

// Route sends the content of an input, or the result of a tool, somewhere other than the prompt.
type Route struct {
	To        string   `json:"to"` // inline, discard, file or variable
	Target    *Target  `json:"target,omitempty"`
	WriteMode string   `json:"write_mode,omitempty"` // as of @write_mode; empty means append
	Heading   string   `json:"heading,omitempty"`    // these three as in [WriteMode]
	Merge     string   `json:"merge,omitempty"`
	Union     []string `json:"union,omitempty"`
	Scope     string   `json:"scope,omitempty"` // run or workflow, for a variable
}

// Mode is how the content is put into its file or variable.
func (r Route) Mode() WriteMode {
	m := WriteMode{Mode: r.WriteMode, Heading: r.Heading, Merge: r.Merge, Union: r.Union}
	m.Mode = m.OrAppend()
	return m
}

// Output returns the route as an output, for [Output.Name].
func (r Route) Output(at diag.Position) Output {
	o := Output{At: at, Scope: r.Scope}
	if r.Target != nil {
		o.Target = *r.Target
	}
	return o
}

// readRouting reads output=, write_mode=, its details and scope=. It returns a scope that does not belong to the output
// variable. Messages name the owner.
func readRouting(owner string, list []Param, r *report) (route *Route, scope *Param) {
	byKey := map[string]Param{}
	for _, p := range list {
		byKey[p.Key] = p
	}
	output, given := byKey["output"]
	if given {
		if route = readRoute(output, r); route == nil {
			return nil, nil // its other parameters cannot be checked
		}
	}
	for _, key := range []string{"write_mode", "heading", "merge", "union"} {
		if p, ok := byKey[key]; ok && (route == nil || route.Target == nil) {
			r.add(p.At, CodeParamElsewhere, "add output=file: … or output=variable: …", "%s= needs output= on this %s", key, owner)
		} else if ok && key == "write_mode" {
			route.WriteMode = strings.ToLower(strings.TrimSpace(p.Value))
		}
	}
	if route != nil && route.Target != nil {
		route.modes(byKey, r)
	}
	p, ok := byKey["scope"]
	switch {
	case ok && route != nil && route.To == RouteVariable:
		route.Scope = p.word(r, "run", "workflow")
	case ok:
		return route, &p
	}
	return route, nil
}

// modes checks write_mode= of a route with a target, and reads its details.
func (route *Route) modes(byKey map[string]Param, r *report) {
	mode, given := byKey["write_mode"]
	if given && !checkMode(route.WriteMode, mode.ValueAt, CodeParamValue, "write_mode", r) {
		mode.mendValue(r, modes)
		return
	}
	m := WriteMode{Mode: route.WriteMode}
	m.details(byKey, mode.ValueAt, "write_mode=", r)
	route.Heading, route.Merge, route.Union = m.Heading, m.Merge, m.Union
}

func readRoute(p Param, r *report) *Route {
	switch word := strings.ToLower(strings.TrimSpace(p.Value)); word {
	case RouteInline, RouteDiscard:
		return &Route{To: word}
	case "context", "":
		r.add(p.ValueAt, CodeParamValue, "", "output= takes inline, discard, file: PATH or variable: NAME, not %q", clip(p.Value))
		return nil
	}
	t, ok := parseTarget("output=", source{text: p.Value, at: p.ValueAt}, r)
	if !ok {
		return nil
	}
	if t.Scheme == SchemeFile {
		t.refuseFragment("output=", r)
		checkOutputPath(t, r)
	}
	return &Route{To: t.Scheme, Target: &t}
}
