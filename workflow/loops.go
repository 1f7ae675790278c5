package workflow

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/vault"
)

func sortLoaded(all []Loaded) {
	slices.SortFunc(all, func(a, b Loaded) int { return vault.Natural(a.Plan.Name, b.Plan.Name) })
}

// Folders are the vault's folders with a special meaning.
type Folders struct {
	Import   string // files written here are imported
	Imported string // imported notes appear below it
}

// Loops reports workflows that can start each other in a loop: an output of one matches a watch glob of the next, or is
// imported and fires its on_import. It only warns, because the engine's content check ends a loop after one round. Workflows
// that are not enabled are left out. There is one diagnostic for each workflow in a loop, at the output that closes it.
func Loops(plans []*Plan, dirs Folders) []diag.Diagnostic {
	var live []*Plan
	for _, p := range plans {
		if p.Meta.Enabled && (len(p.Meta.Watch) > 0 || p.Meta.OnImport != nil) {
			live = append(live, p)
		}
	}
	var list []diag.Diagnostic
	for _, p := range live {
		for _, s := range p.Steps {
			for _, out := range s.fileOutputs() {
				if path := circle(p, s, out, live, dirs); path != nil {
					list = append(list, directives.At(out.Target.At, directives.CodeWatchLoop, "write outside the watched folder, or narrow watch",
						"this output can start %s", describe(path)))
				}
			}
		}
	}
	return diag.Sort(list)
}

func describe(path []*Plan) string {
	if len(path) == 1 {
		return "the workflow itself again"
	}
	names := make([]string, len(path))
	for i, p := range path {
		names[i] = p.Name
	}
	return "a loop: " + strings.Join(names, " → ")
}

// circle returns the shortest way from an output of a step of p back to p, ending with p, or nil. An output that writes back to the
// file that started the run is meant to, and starts no run of p.
func circle(p *Plan, s Step, out directives.Output, live []*Plan, dirs Folders) []*Plan {
	type step struct {
		plan *Plan
		path []*Plan
	}
	var queue []step
	seen := map[*Plan]bool{}
	push := func(plan *Plan, s Step, out directives.Output, path []*Plan) {
		written := dirs.written(plan, s, out)
		for _, next := range live {
			if next == plan && writesBack(s, out) {
				continue
			}
			triggers := func(n names) bool { return dirs.triggers(n, next) }
			if !seen[next] && slices.ContainsFunc(written, triggers) {
				seen[next] = true
				queue = append(queue, step{next, append(slices.Clone(path), next)})
			}
		}
	}
	push(p, s, out, nil)
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if at.plan == p {
			return at.path
		}
		for _, s := range at.plan.Steps {
			for _, out := range s.fileOutputs() {
				push(at.plan, s, out, at.path)
			}
		}
	}
	return nil
}

// names are the names of files that match a glob, given by its parts. link: of existing notes only.
type names struct {
	glob []string
	link bool
}

// writesBack reports whether an output is the very file that started the run, or that an @for_each reads.
func writesBack(s Step, out directives.Output) bool {
	if out.Target.Link || out.Target.Literal {
		return false
	}
	return out.Target.Path == "{trigger}" || out.Target.Path == "{item}" && s.ForEach != nil && s.ForEach.Parts == "" && s.ForEach.Target.Scheme != directives.SchemeVariable
}

// written returns the names that an output may write. The file that started a run is a watched one, or the note of an import.
func (d Folders) written(p *Plan, s Step, out directives.Output) []names {
	if !writesBack(s, out) {
		return []names{{strings.Split(Shape(out.Target), "/"), out.Target.Link}}
	}
	if s.ForEach != nil && s.ForEach.Target.Scheme == directives.SchemeFile && out.Target.Path == "{item}" {
		return []names{{strings.Split(Shape(s.ForEach.Target), "/"), s.ForEach.Target.Link}}
	}
	var all []names
	for _, glob := range p.Meta.Watch {
		all = append(all, names{glob: strings.Split(glob, "/")})
	}
	if p.Meta.OnImport != nil {
		all = append(all, names{glob: below(d.Imported)})
	}
	return all
}

// folded returns a glob in small letters: neither watch nor on_import distinguishes case.
func folded(glob []string) []string {
	out := make([]string, len(glob))
	for i, part := range glob {
		out[i] = strings.ToLower(part)
	}
	return out
}

// triggers reports whether a file that an output may write matches a watch glob, or fires on_import once imported. It may be
// true too often, but never wrongly false.
func (d Folders) triggers(n names, p *Plan) bool {
	name := folded(n.glob)
	watches := func(name []string) bool {
		return slices.ContainsFunc(p.Meta.Watch, func(glob string) bool { return overlap(name, folded(strings.Split(glob, "/"))) })
	}
	if watches(name) {
		return true
	}
	if d.Import == "" || n.link || !overlap(name, folded(below(d.Import))) { // a link leads to an existing note
		return false
	}
	return p.Meta.OnImport.mayFire(name) || watches(folded(below(d.Imported)))
}

// below returns a glob for everything in a folder.
func below(dir string) []string { return append(strings.Split(dir, "/"), "**", "*") }

// mayFire reports whether importing a source whose name matches a glob may fire the workflow.
func (o *OnImport) mayFire(name []string) bool {
	return o != nil && (len(o.Globs) == 0 || slices.ContainsFunc(o.Globs, func(glob string) bool {
		if isWord(glob) {
			glob = "*" + glob + "*"
		}
		parts := folded(strings.Split(glob, "/"))
		return overlap(name, parts) || len(parts) == 1 && overlap(name[len(name)-1:], parts)
	}))
}

// Shape returns a glob for the names that an output may write: patterns become `*`, and the usual extension is added. A
// wikilink may lead to a note of its name anywhere.
func Shape(t directives.Target) string {
	name := t.Path
	if !t.Literal {
		name = braces(name)
	}
	if directives.KindOf(name) == "" {
		name += ".md"
	}
	if t.Link {
		return "**/" + name[strings.LastIndexByte(name, '/')+1:]
	}
	return name
}

// braces replaces each pattern with `*`, and doubled braces with single ones.
func braces(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "{{") || strings.HasPrefix(s[i:], "}}"):
			b.WriteByte('?')
			i++
		case s[i] == '{':
			end := strings.IndexByte(s[i:], '}')
			if end < 0 {
				return b.String() + "*"
			}
			if strings.Contains(s[i:i+end], "/") {
				b.WriteString("*/**/") // a date format with folders
			}
			if name := s[i+1 : i+end]; name == "trigger" || name == "trigger-folder" || name == "item-folder" {
				b.WriteString("**/") // a path
			}
			b.WriteByte('*')
			i += end
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// overlap reports whether a name can match both globs. It may be true too often, but never wrongly false: `**` is exact, and
// two parts with wildcards overlap unless their fixed beginnings or ends differ.
func overlap(a, b []string) bool {
	failed := map[[2]int]bool{} // lengths of the ends already tried, because many `**` would repeat them
	var fits func(a, b []string) bool
	fits = func(a, b []string) (ok bool) {
		key := [2]int{len(a), len(b)}
		if failed[key] {
			return false
		}
		defer func() { failed[key] = !ok }()
		switch {
		case len(a) > 0 && a[0] == "**":
			return fits(a[1:], b) || len(b) > 0 && fits(a, b[1:])
		case len(b) > 0 && b[0] == "**":
			return fits(a, b[1:]) || len(a) > 0 && fits(a[1:], b)
		case len(a) == 0 || len(b) == 0:
			return len(a) == len(b)
		}
		return partsOverlap(a[0], b[0]) && fits(a[1:], b[1:])
	}
	return fits(a, b)
}

func partsOverlap(a, b string) bool {
	const wild = "*?[{\\"
	switch inA, inB := strings.ContainsAny(a, wild), strings.ContainsAny(b, wild); {
	case !inA && !inB:
		return a == b
	case !inA:
		return doublestar.MatchUnvalidated(b, a)
	case !inB:
		return doublestar.MatchUnvalidated(a, b)
	}
	headA, headB := a[:strings.IndexAny(a, wild)], b[:strings.IndexAny(b, wild)]
	tailA, tailB := tail(a), tail(b)
	return (strings.HasPrefix(headA, headB) || strings.HasPrefix(headB, headA)) &&
		(strings.HasSuffix(tailA, tailB) || strings.HasSuffix(tailB, tailA))
}

func tail(s string) string { return s[strings.LastIndexAny(s, "*?]}")+1:] }
