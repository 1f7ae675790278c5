package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Kinds of a [Change].
const (
	ChangeCreate = "create"
	ChangeWrite  = "write"
	ChangeMove   = "move"
	ChangeDelete = "delete"
)

// Moved ends the name of a workflow for writes that make a file no workflow's own: it was moved, or only its links were changed. No
// workflow has such a name.
const Moved = "//moved"

// Change is what a run did to a file of the vault. Before and After are SHA-256 digests; the contents are blobs of these
// digests, so that the change can be undone. Of a move they are equal, and the content is in the vault. Its type in
// machine output is "change".
type Change struct {
	Kind   string `json:"kind"` // create, write, move or delete
	Name   string `json:"name"`
	To     string `json:"to,omitempty"`     // of a move: the new name
	Before string `json:"before,omitempty"` // empty: there was no file
	After  string `json:"after,omitempty"`  // empty: there is none any more
	Tool   string `json:"tool,omitempty"`   // empty: an output of the step, or an undo
	// Of an imported document, which moves as one: Name and To are its folder, and these the names of its note in it. Before and After
	// identify the document.
	Note   string `json:"note,omitempty"`
	NoteTo string `json:"note_to,omitempty"`
	Links  int    `json:"links,omitempty"` // links to files that moved, rewritten: nothing else in the file changed
	// Doubt is set when the process died during the change and somebody has edited the file since, so nobody knows whether
	// it was made. The file is left alone.
	Doubt bool `json:"doubt,omitempty"`
	// Own has digests of what the run wrote below headings, by heading. Other lines there are somebody else's. What other changes
	// wrote is what After has and Before has not.
	Own map[string]string `json:"own,omitempty"`
}

// String describes the change: "moved a.md to b.md".
func (c Change) String() string {
	text := map[string]string{ChangeCreate: "made ", ChangeWrite: "changed ", ChangeMove: "moved ", ChangeDelete: "deleted "}[c.Kind] + c.Name
	switch {
	case c.Links == 1:
		text = "changed a link in " + c.Name
	case c.Links > 1:
		text = fmt.Sprintf("changed %d links in %s", c.Links, c.Name)
	}
	if c.To != "" {
		text += " to " + c.To
	}
	if c.Doubt {
		text += ", perhaps: somebody changed it while the program was down"
	}
	return text
}

// NameAfter returns the name that a file has after a move: of the file itself, or of one in a document's folder.
func (c Change) NameAfter(name string) string {
	below, inside := strings.CutPrefix(name, c.Name+"/")
	switch {
	case c.Kind != ChangeMove:
		return name
	case name == c.Name:
		return c.To
	case !inside:
		return name
	case below == c.Note:
		below = c.NoteTo
	}
	return c.To + "/" + below
}

// MarshalJSON adds `"type":"change"`.
func (c Change) MarshalJSON() ([]byte, error) {
	type plain Change
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{"change", plain(c)})
}

// heardTools takes over what the tools of one round left behind.
func (w *work) heardTools(out UseToolsOut) {
	w.rec.Changes = append(w.rec.Changes, out.Changes...)
	w.results = append(w.results, out.Results...)
	w.rec.NestedUSD += out.NestedUSD
	w.nested = append(w.nested, out.NestedFiles...)
	w.rec.Defused = append(w.rec.Defused, out.Defused...)
	w.lose(out.Omissions)
	for _, v := range out.Vars {
		w.toolVars = slices.DeleteFunc(slices.Clone(w.toolVars), func(o StagedVar) bool { return o.Name == v.Name && o.Shared == v.Shared })
		w.toolVars = append(w.toolVars, v)
		w.vars = v.put(w.vars, w.rec.Origins)
	}
}

// withTools are the variables that tools have set, and behind them those of the stage.
func (w *work) withTools(staged []StagedVar) []StagedVar {
	return append(slices.Clone(w.toolVars), staged...)
}

// put sets a variable in a list of a run's variables, unless it is kept between runs only.
func (v StagedVar) put(vars []Var, origins []string) []Var {
	if v.Shared {
		return vars
	}
	for _, before := range vars {
		if before.Name == v.Name { // to which the new value may have been joined
			origins = addAll(before.Origins, origins)
		}
	}
	return setVar(vars, Var{v.Name, v.Digest, origins})
}
