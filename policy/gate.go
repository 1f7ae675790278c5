package policy

import (
	"fmt"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
)

// Writer is a part of the program that changes the vault.
type Writer string

// The writers. Each has its own places; what is protected is protected from all of them.
const (
	ByOutput    Writer = "output"         // @output of a step
	ByRoute     Writer = "route"          // output=file: of an input or of a tool's result
	ByTool      Writer = "tool"           // a call of a model
	ByUndo      Writer = "undo"           // undoes the recorded changes of a run
	ByImport    Writer = "import"         // bundles, notes about failures, originals being filed
	ByDrop      Writer = "drop"           // puts a file into the import folder
	ByStatus    Writer = "status note"    // engine.status_note
	ByApprovals Writer = "approvals note" // the notes in which users approve
	ByInit      Writer = "init"           // a new vault's first files
	ByFix       Writer = "check --fix"    // fixes workflow notes
	ByIdentity  Writer = "identity"       // the vault's id, and nothing else
)

// IdentityFile holds the vault's id. It is the only hidden file that vaultflow writes, and only [ByIdentity] does.
const IdentityFile = ".vaultflow/vault.json"

// Action is what a writer wants to do to a file.
type Action string

// The actions. Those on folders are for imports.
const (
	Create  Action = "create"  // a new file
	Change  Action = "write"   // the content of an existing file
	Move    Action = "move"    // a file, or an import's folder, to a free name
	Delete  Action = "delete"  // a file
	Fill    Action = "fill"    // put files into a folder: a bundle's hidden one, or the import folder
	Publish Action = "publish" // rename a filled folder to its final name
	Tidy    Action = "tidy"    // remove empty folders
)

// Named is who chose a place.
type Named string

// Who names a place. The zero value is for names written by the author, or made of the owner's values.
const (
	ByAuthor       Named = ""
	ForeignSegment Named = "segment" // folder and extension are the author's; one cleaned part is a foreign value
	ForeignPlace   Named = "place"   // a foreign value determined anything else
)

// Permitted is what permissions.write allows for a name.
type Permitted struct {
	Allowed  bool // the file may be written
	Explicit bool // and a list names it, rather than leaving it open
}

// Gate decides about every change to the vault. It is plain data, and its decisions depend only on the request. Zero fields
// mean the default folders.
type Gate struct {
	WorkflowsDir string
	ImportDir    string
	ImportedDir  string
	StatusNote   string // the only place for the status note, and for nothing else; empty: nowhere
}

// ApprovalsDir is the folder of approval notes, below the workflows folder.
const ApprovalsDir = "_approvals"

// Request asks for one change.
type Request struct {
	Writer Writer
	Action Action
	Place  Target // the file or folder
	To     Target // of a move: the new name

	Workflow    string    // file of the running workflow
	Permitted   Permitted // by its permissions.write
	ToPermitted Permitted // of a move: the new name
	Named       Named     // who chose the place
	NameFrom    []string  // origins of the name, if a foreign value is part of it
	Own         bool      // the file contains what this workflow wrote
	Granted     bool      // the workflow's author allows foreign content to name the place
	Asked       bool      // the user sees this change with its name, and approves it first
	Recorded    bool      // of an undo: the run is on record for changing this file
	Version     Target    // of an import: the document, moved aside, of which a new version appears
	Links       bool      // only links to files that move are rewritten

	Use     Use      // of a tool: the call
	Origins []string // of the content: the untrusted sources that the step was shown
}

// Verdict is the answer to a request.
type Verdict string

// The verdicts. The zero value refuses.
const (
	VerdictRefused  Verdict = ""
	VerdictAllowed  Verdict = "allowed"
	VerdictNextFree Verdict = "next free name" // this place is not the workflow's: ask again for the next free name
	VerdictNeedsYes Verdict = "needs approval"
)

// Ruling is the gate's decision.
type Ruling struct {
	Verdict Verdict
	Reason  string // why not, in words that follow the name
	Hint    string // what the user can do

	name string // the name in question
	pass Pass   // zero unless allowed
}

// Pass is the gate's permission for one action on one name. Only a [Gate] creates one; the zero value permits nothing.
type Pass struct {
	action   Action
	name, to string
}

// Pass returns the permission, or a *RefusedError if the ruling allows nothing.
func (r Ruling) Pass() (Pass, error) {
	if r.Verdict != VerdictAllowed {
		return Pass{}, &RefusedError{Name: r.name, Verdict: r.Verdict, Reason: r.Reason, Advice: r.Hint}
	}
	return r.pass, nil
}

// RefusedError is a change that the gate refuses.
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

// Of returns the name on which the pass permits the action. A pass for another action is an error, and so is the zero pass.
func (p Pass) Of(actions ...Action) (string, error) {
	for _, a := range actions {
		if p.action == a && p.name != "" {
			return p.name, nil
		}
	}
	if p.name == "" {
		return "", &RefusedError{}
	}
	return "", &RefusedError{Name: p.name, Reason: fmt.Sprintf("has permission only for %s", p.action)}
}

// Name returns the permitted file.
func (p Pass) Name() string { return p.name }

// To returns the new name of a permitted move.
func (p Pass) To() string { return p.to }

// Action returns the permitted action.
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

// judge returns why a writer must not touch a place, or "" if it may.
func (g Gate) judge(r Request, p Target, isTarget bool) (reason, hint string) {
	if fault := p.fault(); fault != "" {
		return fault, "choose another name"
	}
	switch {
	case p.Link != "":
		return fmt.Sprintf("is reached through the link %s: nothing is written through links", p.Link), "name the file itself"
	case r.Writer == ByIdentity:
		if p.Name == IdentityFile && (r.Action == Create || r.Action == Change) {
			return "", ""
		}
		return "is not the vault's id", ""
	case hidden(p.Name):
		return "is hidden: vaultflow does not change names that start with a dot", "choose another name"
	}
	same := Fold(p.Name)
	if settingsFile(same) && !(r.Writer == ByInit && r.Action == Create) {
		return "holds settings, which only users change", "choose another name"
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
		return "is in the workflows folder, where nothing is imported", "set vault.import_dir and vault.imported_dir to folders of their own"
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
		if g.versions(r) {
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
		return "is not an approval note", ""
	case ByInit:
		if r.Action == Create && !p.Exists {
			return "", ""
		}
		return "exists already: init changes nothing", ""
	case ByFix:
		if below(same, Fold(g.workflows())) && r.Action == Change || r.Action == Move && (!isTarget || below(same, Fold(g.workflows()))) {
			return "", ""
		}
		return "is outside the folder of the workflows " + g.workflows(), ""
	}
	return "has no writer that the gate knows", ""
}

// versions reports whether an import makes a version of a document that a run has moved elsewhere: its folder moves aside, and the new
// one appears in its place.
func (g Gate) versions(r Request) bool {
	aside, known := r.To, r.Action == Move && r.Place.Document
	if r.Action == Publish {
		aside, known = r.Version, r.Version.Document
	}
	return known && strings.HasPrefix(aside.Name, r.Place.Name+" (version ") && path.Dir(aside.Name) == path.Dir(r.Place.Name)
}

// status allows the status note at its one place.
func (g Gate) status(r Request, p Target, same string) (reason, hint string) {
	const elsewhere = "name a note elsewhere in engine.status_note"
	switch {
	case g.StatusNote == "" || same != Fold(g.StatusNote) || r.Action != Create && r.Action != Change:
		return "is not the status note", elsewhere
	case !strings.HasSuffix(same, ".md"):
		return "is not a note", elsewhere
	case atOrBelow(same, Fold(g.workflows())):
		return "is in the workflows folder, where the status note must not be", elsewhere
	case atOrBelow(same, Fold(g.imports())), p.Kept, atOrBelow(same, Fold(g.imported())):
		return "is in a folder of imports, where the status note must not be", elsewhere
	}
	return "", ""
}

// run applies the rules for what runs write and undo.
func (g Gate) run(r Request, p Target, same string) (reason, hint string) {
	undo := r.Writer == ByUndo
	switch {
	case r.Action != Create && r.Action != Change && r.Action != Move && r.Action != Delete:
		return "is not for runs to fill", ""
	case undo && !r.Recorded:
		return "was not changed by the run being undone", ""
	case atOrBelow(same, Fold(g.imports())):
		return "is inside the import folder " + g.imports(), "write somewhere else"
	case p.Kept && !(r.Links && !p.Original && strings.HasSuffix(same, ".md")):
		return "belongs to an imported document, which is never changed; only its note may be", "write somewhere else"
	case r.Links && atOrBelow(same, Fold(g.workflows())):
		return "is in the workflows folder, where you change paths yourself", ""
	case undo, r.Links && r.Action == Change && p.Exists:
		return "", ""
	case r.Workflow != "" && same == Fold(r.Workflow):
		return "is the workflow itself, which no run changes", "write somewhere else"
	case !r.Permitted.Allowed:
		return "is not covered by the workflow's permissions.write", "add it to permissions.write"
	case atOrBelow(same, Fold(g.workflows())) && !r.Permitted.Explicit:
		return "is in the workflows folder, which runs change only when permissions.write names it", "add it to permissions.write, or write somewhere else"
	case atOrBelow(same, Fold(g.imported())) && p.Bundle == "" && !(r.Action == Move && r.Place.Document) && (r.Writer == ByTool || r.Named != ByAuthor || p.Exists && !r.Own):
		return fmt.Sprintf("is in the folder of imports %s, beside no import's note", g.imported()), "write somewhere else"
	}
	if r.Writer == ByTool {
		if why := r.Use.Refused(r.Origins); why != "" && !r.Asked {
			return "is not for this call: " + why, ""
		}
	}
	return "", ""
}

// foreign applies the rules for places named by foreign content.
func (g Gate) foreign(r Request) (verdict Verdict, reason, hint string) {
	target := r.Place
	if r.Action == Move {
		target = r.To
	}
	switch {
	case r.Writer == ByUndo || r.Named == ByAuthor:
		return VerdictAllowed, "", ""
	case r.Named == ForeignPlace && !r.Granted && !r.Asked:
		return VerdictNeedsYes, fmt.Sprintf("is a path chosen by content from outside (%s)", strings.Join(r.NameFrom, ", ")),
			"write the folder and use the value as the file name only, such as Summaries/{item}; or add @approve outputs, or (untrusted=allow) to the @output"
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
