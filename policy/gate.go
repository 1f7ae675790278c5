package policy

import (
	"fmt"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
)

// Writer is a part of the program that changes the vault.
type Writer string

// The writers. Each has its own places; what is protected from one is protected from all.
const (
	ByOutput    Writer = "output"         // @output of a step
	ByRoute     Writer = "route"          // output=file: of an input or of a tool's result
	ByTool      Writer = "tool"           // a call of a model
	ByUndo      Writer = "undo"           // takes back what a run is on record for
	ByImport    Writer = "import"         // bundles, notes about failures, originals on their way
	ByDrop      Writer = "drop"           // puts a file into the import folder
	ByStatus    Writer = "status note"    // engine.status_note
	ByApprovals Writer = "approvals note" // the notes in which people approve
	ByInit      Writer = "init"           // a new vault's first files
	ByFix       Writer = "check --fix"    // mends workflow notes
)

// Action is what a writer wants to do to a file.
type Action string

// The actions. Those on folders are for imports.
const (
	Create  Action = "create"  // a file that is not there
	Change  Action = "write"   // the content of a file that is there
	Move    Action = "move"    // a file, or a folder of an import, to a name that is free
	Delete  Action = "delete"  // a file
	Fill    Action = "fill"    // put files below a folder: a hidden one of a bundle, or the import folder
	Publish Action = "publish" // give a filled folder its name
	Tidy    Action = "tidy"    // remove empty folders
)

// Named says who chose a place.
type Named string

// The ways in which a place gets its name. The zero value is for names that the author wrote, or that are made of values
// of the vault's owner.
const (
	ByAuthor       Named = ""
	ForeignSegment Named = "segment" // folder and extension are the author's; one cleaned part holds a foreign value
	ForeignPlace   Named = "place"   // a foreign value had any other part in it
)

// Permitted is what permissions.write says of a name.
type Permitted struct {
	Allowed  bool // the file may be written
	Explicit bool // and a list names it: it is not merely left open
}

// Gate decides about every change of the vault. It is plain data, and its decisions depend on nothing but the request. Zero
// fields stand for the default folders.
type Gate struct {
	WorkflowsDir string
	ImportDir    string
	ImportedDir  string
	StatusNote   string // the only place of the status note, and for nothing else; empty: nowhere
}

// ApprovalsDir is the folder of the notes in which people approve, below the folder of the workflows.
const ApprovalsDir = "_approvals"

// Request asks for one change.
type Request struct {
	Writer Writer
	Action Action
	Place  Target // the file or folder
	To     Target // of a move: the new name

	Workflow    string    // file of the workflow that runs
	Permitted   Permitted // by its permissions.write
	ToPermitted Permitted // of a move: the new name
	Named       Named     // who chose the place
	NameFrom    []string  // origins of the name, when a foreign value had a part in it
	Own         bool      // the file holds what this workflow wrote
	Granted     bool      // the workflow's author allows a place that foreign content names
	Asked       bool      // a person sees this change with its name, and agrees before it is made
	Recorded    bool      // of an undo: the record says that the run changed this file

	Use     Use      // of a tool: the call
	Origins []string // of the content: the untrusted things that the step was shown
}

// Verdict is what becomes of a request.
type Verdict string

// The verdicts. The zero value refuses.
const (
	VerdictRefused  Verdict = ""
	VerdictAllowed  Verdict = "allowed"
	VerdictNextFree Verdict = "next free name" // this place is not the workflow's: ask again for the next name that is free
	VerdictNeedsYes Verdict = "needs approval"
)

// Ruling is the gate's decision.
type Ruling struct {
	Verdict Verdict
	Reason  string // why not, in words that follow the name
	Hint    string // what a person can do

	name string // that was ruled on
	pass Pass   // zero unless allowed
}

// Pass is the gate's permission for one action on one name. Only a [Gate] makes one; the zero value permits nothing.
type Pass struct {
	action   Action
	name, to string
}

// Pass returns the permission. A ruling that allows nothing returns a *RefusedError.
func (r Ruling) Pass() (Pass, error) {
	if r.Verdict != VerdictAllowed {
		return Pass{}, &RefusedError{Name: r.name, Verdict: r.Verdict, Reason: r.Reason, Advice: r.Hint}
	}
	return r.pass, nil
}

// RefusedError is a change that the gate does not let through.
type RefusedError struct {
	Name    string
	Verdict Verdict
	Reason  string
	Advice  string
}

// Error implements error.
func (e *RefusedError) Error() string {
	if e.Name == "" {
		return "no permission to write was asked for"
	}
	return e.Name + " " + e.Reason
}

var _ failure.Reporter = (*RefusedError)(nil)

// Failure implements [failure.Reporter].
func (e *RefusedError) Failure() failure.Error {
	return failure.Error{Hint: e.Advice}
}

// Of returns the name that the pass permits the action on. A pass for another action, and the zero one, are an error.
func (p Pass) Of(actions ...Action) (string, error) {
	for _, a := range actions {
		if p.action == a && p.name != "" {
			return p.name, nil
		}
	}
	if p.name == "" {
		return "", &RefusedError{}
	}
	return "", &RefusedError{Name: p.name, Reason: fmt.Sprintf("has a permission for %s alone", p.action)}
}

// Name is the permitted file.
func (p Pass) Name() string { return p.name }

// To is the new name of a permitted move.
func (p Pass) To() string { return p.to }

// Action is the permitted action.
func (p Pass) Action() Action { return p.action }

// Decide rules on a request.
func (g Gate) Decide(r Request) Ruling {
	for i, place := range g.places(r) {
		if reason, hint := g.judge(r, place, i == 1); reason != "" {
			return Ruling{Reason: reason, Hint: hint, name: place.Name}
		}
	}
	out := Ruling{name: r.Place.Name}
	if out.Verdict, out.Reason, out.Hint = g.foreign(r); out.Verdict != VerdictAllowed {
		return out
	}
	out.pass = Pass{action: r.Action, name: r.Place.Name}
	if r.Action == Move {
		out.pass.to = r.To.Name
	}
	return out
}

func (g Gate) places(r Request) []Target {
	if r.Action == Move {
		return []Target{r.Place, r.To}
	}
	return []Target{r.Place}
}

// judge says why a writer must not touch a place; empty when it may.
func (g Gate) judge(r Request, p Target, isTarget bool) (reason, hint string) {
	if fault := p.fault(); fault != "" {
		return fault, "choose another name"
	}
	switch {
	case p.Link != "":
		return fmt.Sprintf("is reached through the link %s: nothing is written through links", p.Link), "name the file itself"
	case hidden(p.Name):
		return "is hidden: what begins with a dot is not vaultflow's", "choose another name"
	}
	same := Fold(p.Name)
	if settingsFile(same) && !(r.Writer == ByInit && r.Action == Create) {
		return "holds settings, which only people change", "choose another name"
	}
	return g.own(r, p, same, isTarget)
}

// own applies the rules of each writer.
func (g Gate) own(r Request, p Target, same string, isTarget bool) (reason, hint string) {
	approvals := g.workflows() + "/" + ApprovalsDir
	if (r.Writer == ByApprovals) != atOrBelow(same, Fold(approvals)) {
		if r.Writer == ByApprovals {
			return "is outside " + approvals, ""
		}
		return "is where a person approves: nothing else writes there", "write somewhere else"
	}
	if r.Writer != ByStatus && g.StatusNote != "" && same == Fold(g.StatusNote) {
		return "is the status note, which only serve writes", "write somewhere else"
	}
	if (r.Writer == ByImport || r.Writer == ByDrop) && atOrBelow(same, Fold(g.workflows())) {
		return "is among the workflows, where nothing is imported", "set vault.import_dir and vault.imported_dir to folders of their own"
	}
	switch r.Writer {
	case ByOutput, ByRoute, ByTool, ByUndo:
		if isTarget {
			r.Permitted = r.ToPermitted
		}
		return g.run(r, p, same)
	case ByImport:
		if below(same, Fold(g.imports())) || below(same, Fold(g.imported())) || r.Action == Fill && same == Fold(g.imported()) || p.Kept {
			return "", ""
		}
		return fmt.Sprintf("is outside %s and %s, where imports write", g.imports(), g.imported()), ""
	case ByDrop:
		if atOrBelow(same, Fold(g.imports())) && (r.Action == Fill || r.Action == Tidy) {
			return "", ""
		}
		return "is not the import folder " + g.imports(), ""
	case ByStatus:
		return g.status(r, p, same)
	case ByApprovals:
		if path.Dir(same) == Fold(approvals) && strings.HasSuffix(same, ".md") && r.Action != Move {
			return "", ""
		}
		return "is no note about approvals", ""
	case ByInit:
		if r.Action == Create && !p.Exists {
			return "", ""
		}
		return "is there already: init changes nothing", ""
	case ByFix:
		if below(same, Fold(g.workflows())) && r.Action == Change || r.Action == Move && (!isTarget || below(same, Fold(g.workflows()))) {
			return "", ""
		}
		return "is outside the folder of the workflows " + g.workflows(), ""
	}
	return "has no writer that the gate knows", ""
}

// status lets the status note through, at its one place.
func (g Gate) status(r Request, p Target, same string) (reason, hint string) {
	const elsewhere = "name a note elsewhere in engine.status_note"
	switch {
	case g.StatusNote == "" || same != Fold(g.StatusNote) || r.Action != Create && r.Action != Change:
		return "is not the status note", elsewhere
	case !strings.HasSuffix(same, ".md"):
		return "is no note", elsewhere
	case atOrBelow(same, Fold(g.workflows())):
		return "is among the workflows, which the status note must not be", elsewhere
	case atOrBelow(same, Fold(g.imports())), p.Kept, atOrBelow(same, Fold(g.imported())):
		return "is among the imports, which the status note must not be", elsewhere
	}
	return "", ""
}

// run applies the rules for what runs write, and what is taken back of them.
func (g Gate) run(r Request, p Target, same string) (reason, hint string) {
	undo := r.Writer == ByUndo
	switch {
	case r.Action != Create && r.Action != Change && r.Action != Move && r.Action != Delete:
		return "is not for runs to fill", ""
	case undo && !r.Recorded:
		return "was not changed by the run that is taken back", ""
	case atOrBelow(same, Fold(g.imports())):
		return "is inside the import folder " + g.imports(), "write somewhere else"
	case p.Kept:
		return "belongs to an imported document, which stays as it was imported; its note may be changed", "write somewhere else"
	case undo:
		return "", ""
	case r.Workflow != "" && same == Fold(r.Workflow):
		return "is the workflow itself, which no run changes", "write somewhere else"
	case !r.Permitted.Allowed:
		return "is outside the workflow's permissions.write", "add it to permissions.write"
	case atOrBelow(same, Fold(g.workflows())) && !r.Permitted.Explicit:
		return "is among the workflows, which runs change only when permissions.write names them", "add it to permissions.write, or write somewhere else"
	case atOrBelow(same, Fold(g.imported())) && p.Bundle == "" && (r.Writer == ByTool || r.Named != ByAuthor || p.Exists && !r.Own):
		return fmt.Sprintf("is in the folder of imports %s, beside no import's note", g.imported()), "write somewhere else"
	}
	if r.Writer == ByTool {
		if why := r.Use.Refused(r.Origins); why != "" && !r.Asked {
			return "is not for this call: " + why, ""
		}
	}
	return "", ""
}

// foreign applies the rules for places that foreign content named.
func (g Gate) foreign(r Request) (verdict Verdict, reason, hint string) {
	target := r.Place
	if r.Action == Move {
		target = r.To
	}
	switch {
	case r.Writer == ByUndo || r.Named == ByAuthor:
		return VerdictAllowed, "", ""
	case r.Named == ForeignPlace && !r.Granted && !r.Asked:
		return VerdictNeedsYes, fmt.Sprintf("is a place that content from outside named (%s)", strings.Join(r.NameFrom, ", ")),
			"write the folder and let the value be the file's name alone, such as Summaries/{item}; or add @approve outputs, or (untrusted=allow) behind the @output"
	case r.Named == ForeignSegment && target.Exists && !r.Own && !(r.Action == Move && r.Place.Name == target.Name):
		return VerdictNextFree, "is a file that this workflow did not make", ""
	}
	return VerdictAllowed, "", ""
}

func (g Gate) workflows() string { return orDefault(g.WorkflowsDir, "Workflows") }
func (g Gate) imports() string   { return orDefault(g.ImportDir, "Import") }
func (g Gate) imported() string  { return orDefault(g.ImportedDir, "Imported") }

func orDefault(dir, standard string) string {
	if dir = strings.Trim(dir, "/"); dir != "" {
		return dir
	}
	return standard
}
