package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/failure"
)

// ActivityApprove asks whether a step may send its prompt, write its files or make its tool calls (@approve): ApproveIn, ApproveOut. Until
// somebody decides, its error is [Park]: the run leaves its lane and its worker, and continues after [Executor].Wake.
const ActivityApprove = "approve"

// ApproveIn asks for a prompt, for files, or for the calls of an answer. It is asked again, with what is left, until all is decided.
type ApproveIn struct {
	StepRef
	Files []StagedFile `json:"files,omitempty"` // that would be committed
	Moves []StagedMove `json:"moves,omitempty"` // that would be made
	Again bool         `json:"again,omitempty"` // a target changed before an approved content was written: this is a new one
	Tools *UseToolsIn  `json:"tools,omitempty"` // the round of calls that would be carried out

	Prompt *AskedPrompt `json:"prompt,omitempty"` // that would be sent

	Origins  []string  `json:"origins,omitempty"`  // the untrusted things that the model of the files was shown
	Revise   bool      `json:"tells,omitempty"`    // the model is asked to revise files that are rejected with a reason
	Declined []Verdict `json:"declined,omitempty"` // about files of the same answer, asked for before
}

// AskedPrompt is a prompt for approval, and what it would be made from again.
type AskedPrompt struct {
	Prompt  string  `json:"prompt"` // blob, as in AssembleOut
	Sketch  string  `json:"sketch"` // blob, as in AssembleOut
	Vars    []Var   `json:"vars,omitempty"`
	Trigger Trigger `json:"trigger"`
}

// ApproveOut has the decisions: for a prompt one, for files at least one verdict, for calls all of them. What needs no approval has a verdict if
// it is a file (its content is there already), and none if it is a call.
type ApproveOut struct {
	Verdicts []Verdict `json:"verdicts,omitempty"`
	Reply    string    `json:"reply,omitempty"` // blob: content.MarshalBlocks of the reply to the model; see ApproveIn.Revise
	// Outdated is set instead of a verdict when the prompt would be another one now: how it differs from the one that was asked for.
	Outdated []string `json:"outdated,omitempty"`
}

// Verdict is a decision about a file that is to be written, or about a call of a tool.
type Verdict struct {
	Name     string `json:"name,omitempty"`   // of a file
	To       string `json:"to,omitempty"`     // of a file that moves: its new name
	Call     string `json:"call,omitempty"`   // of a call: its place in the step
	Effect   string `json:"effect,omitempty"` // of a call: what it would do, for people
	Before   string `json:"before,omitempty"` // the digests that the user saw; empty when the call changes no file
	After    string `json:"after,omitempty"`
	Approved bool   `json:"approved,omitempty"`
	By       string `json:"by,omitempty"`     // one of the Decided constants
	Who      string `json:"who,omitempty"`    // the user, if known
	Reason   string `json:"reason,omitempty"` // why not, in the user's words
	Edited   string `json:"edited,omitempty"` // blob: what the user wrote in place of After, and approved
}

// Who decided.
const (
	DecidedDashboard = "dashboard"
	DecidedCommand   = "command"
	DecidedNote      = "note"    // a box in the approvals note
	DecidedTimeout   = "timeout" // nobody, in time
)

// What became of a [Proposal].
const (
	ProposalApproved  = "approved"
	ProposalRejected  = "rejected"
	ProposalWithdrawn = "withdrawn" // what it builds on has changed: it was proposed again, or is not needed any more
)

// ProposalCall is the Kind of a proposal for a call that changes no file by itself. Others have the kind of their [Change].
const ProposalCall = "call"

// ProposalPrompt is the Kind of a proposal to send a prompt. Its Name is the model, with what the prompt is about.
const ProposalPrompt = "send"

// Proposal is a change, a tool call or a prompt that needs approval. Its type in machine output is "approval".
type Proposal struct {
	Run      string    `json:"run"`
	Item     int       `json:"item"` // number within the run, from 1
	Workflow string    `json:"workflow"`
	Index    int       `json:"index"` // of the step
	Step     string    `json:"step"`
	Batch    int       `json:"batch,omitempty"`
	Key      string    `json:"key"`                 // what is proposed: an equal key in the same work is the same proposal
	Kind     string    `json:"kind"`                // create, write, move, delete, call, send
	Name     string    `json:"name,omitempty"`      // of the file
	To       string    `json:"to,omitempty"`        // of a move
	Tool     string    `json:"tool,omitempty"`      // empty for an output
	Input    string    `json:"input,omitempty"`     // blob: the arguments of the call, or the prompt as people read it
	Before   string    `json:"before,omitempty"`    // blob: the content now
	After    string    `json:"after,omitempty"`     // blob: the content then
	Again    bool      `json:"again,omitempty"`     // the file changed since it was proposed before
	Origins  []string  `json:"origins,omitempty"`   // the untrusted things that the model was shown before
	Linked   []string  `json:"linked,omitempty"`    // of a move: files with links to what moves, which will change
	NameFrom []string  `json:"name_from,omitempty"` // the untrusted things that had a part in the file's name
	Created  time.Time `json:"created"`
	Deadline time.Time `json:"deadline,omitzero"` // without a decision by then it is rejected
	Decision string    `json:"decision,omitempty"`
	By       string    `json:"by,omitempty"` // one of the Decided constants
	Decided  time.Time `json:"decided,omitzero"`
	Who      string    `json:"who,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Edited   string    `json:"edited,omitempty"` // blob: what the user wrote in place of After

	// Differences are those of a prompt from the one that was approved last, with reasons; none: none was approved yet.
	Differences []string `json:"differences,omitempty"`
}

// MarshalJSON adds `"type":"approval"`.
func (p Proposal) MarshalJSON() ([]byte, error) {
	type plain Proposal
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{"approval", plain(p)})
}

// Open reports whether it still waits.
func (p Proposal) Open() bool { return p.Decision == "" }

// String describes the proposal: "write Plans/today.md".
func (p Proposal) String() string {
	text := p.Name
	if p.To != "" {
		text += " to " + p.To
	}
	switch {
	case p.Kind == ProposalPrompt:
		return "send the prompt to " + p.Name
	case p.Kind == ProposalCall:
		return "call " + p.Tool
	case p.Tool != "":
		return fmt.Sprintf("%s %s (%s)", p.Kind, text, p.Tool)
	}
	return p.Kind + " " + text
}

// Why lists why a prompt waits, in lines that follow "the prompt of STEP: ". It is empty for other proposals.
func (p Proposal) Why() []string {
	switch {
	case p.Kind != ProposalPrompt:
		return nil
	case len(p.Differences) == 0:
		return []string{"none for these files was approved yet"}
	}
	lines := []string{"differs from the one that was approved last:"}
	for _, d := range p.Differences {
		lines = append(lines, "  "+visible.Name(d))
	}
	return lines
}

// permitted asks for approval of the calls of a round. Without @approve, none is needed.
func (c *conversation) permitted(use UseToolsIn) ([]Verdict, error) {
	if !c.step.ApproveTools {
		return nil, nil
	}
	var out ApproveOut
	err := c.flow.Do(ActivityApprove, ApproveIn{StepRef: c.ref, Tools: &use}, &out)
	return out.Verdicts, err
}

// undecided are the files and moves of a step on their way to approval.
type undecided struct {
	files []StagedFile
	moves []StagedMove
}

func (u undecided) empty() bool { return len(u.files)+len(u.moves) == 0 }

// approved asks for approval of files and moves, and returns those that are approved, the rejected files, and what is undecided. Without
// @approve, all are approved.
func (d *delivery) approved(all undecided) (yes undecided, no []StagedFile, open undecided, err error) {
	if !d.step.ApproveOutputs || all.empty() {
		return all, nil, open, nil
	}
	files := all.files
	var out ApproveOut
	in := ApproveIn{StepRef: d.ref, Files: files, Moves: all.moves, Again: d.again, Revise: d.revise, Declined: d.declined}
	if d.body.pinned.Body >= 4 {
		in.Origins = d.rec.Origins
	}
	if err := d.flow.Do(ActivityApprove, in, &out); err != nil {
		return yes, nil, open, err
	}
	d.reply = out.Reply
	for _, m := range all.moves {
		i := slices.IndexFunc(out.Verdicts, func(v Verdict) bool { return v.Name == m.Change.Name && v.To == m.Change.To })
		switch {
		case i < 0:
			open.moves = append(open.moves, m)
		case out.Verdicts[i].Approved:
			yes.moves = append(yes.moves, m)
		default:
			d.stays = true
			d.rec.Rejected = append(d.rec.Rejected, rejection(out.Verdicts[i]))
			if d.revise {
				d.declined = append(d.declined, out.Verdicts[i])
			}
		}
	}
	for _, f := range files {
		i := slices.IndexFunc(out.Verdicts, func(v Verdict) bool { return v.Name == f.Name && v.To == "" })
		switch {
		case i < 0:
			open.files = append(open.files, f)
		case out.Verdicts[i].Approved:
			yes.files = append(yes.files, f.approved(out.Verdicts[i]))
		default:
			no = append(no, f)
			d.rec.Rejected = append(d.rec.Rejected, rejection(out.Verdicts[i]))
			if d.revise {
				d.declined = append(d.declined, out.Verdicts[i])
			}
		}
	}
	if len(open.files) == len(files) && len(open.moves) == len(all.moves) {
		return yes, nil, open, failure.New(failure.Internal, "", "an approval without a verdict")
	}
	return yes, no, open, nil
}

// approved returns the file as it may be written once approved.
func (f StagedFile) approved(v Verdict) StagedFile {
	f.Seen = v.By != "" // what has its content already was shown to nobody
	if v.Edited != "" {
		f.New, f.Edited = v.Edited, true
	}
	return f
}

func rejection(v Verdict) string {
	if v.By == DecidedTimeout {
		return v.What() + " (nobody approved it in time)"
	}
	text := fmt.Sprintf("%s (rejected by %s", v.What(), v.Decider())
	if v.Reason != "" {
		text += ": " + v.Reason
	}
	return text + ")"
}

// What names the file, and where it moves.
func (v Verdict) What() string {
	if v.To != "" {
		return v.Name + " to " + v.To
	}
	return v.Name
}

// Decider names who decided: "command", or "ada (dashboard)".
func (v Verdict) Decider() string { return decider(v.Who, v.By) }

// Decider names who decided, as [Verdict.Decider] does.
func (p Proposal) Decider() string { return decider(p.Who, p.By) }

// Outcome returns the decision with who made it, when and why: "rejected by command, 2026-11-23 05:10: wrong year".
func (p Proposal) Outcome(zone *time.Location) string {
	text := p.Decision
	switch {
	case p.By == DecidedTimeout:
		text += ", because nobody answered in time"
	case p.By != "":
		text += " by " + p.Decider()
	}
	if !p.Decided.IsZero() {
		text += p.Decided.In(zone).Format(", 2006-01-02 15:04")
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

func decider(who, by string) string {
	if who == "" {
		return by
	}
	return fmt.Sprintf("%s (%s)", who, by)
}

// askAgain asks the model again when all files of its answer were rejected with a reason. It reports whether it did.
func (d *delivery) askAgain() (bool, error) {
	if !d.revise || d.reply == "" || len(d.done) > 0 || d.moved {
		return false, nil
	}
	for _, said := range d.rec.Rejected {
		d.rec.Warnings = append(d.rec.Warnings, "not approved, and the model was asked again: "+said)
	}
	d.flow.Note(Event{Kind: EventInfo, Step: d.step.Name, Message: "rejected with a reason; the model is asked again: " + strings.Join(d.rec.Rejected, ", ")})
	d.rec.Rejected = nil
	return true, d.talk.tell(d.reply)
}

// rejected sets the status and reason of a work whose files were not all approved.
func (d *delivery) rejected() {
	switch n := len(d.rec.Rejected); {
	case n == 0:
	case len(d.done) == 0 && !d.moved:
		d.skip("not approved: " + strings.Join(d.rec.Rejected, ", "))
	default:
		d.rec.Status = DoneWithOmissions
		d.rec.Reason = fmt.Sprintf("%d of %d files not approved: %s", n, n+len(d.done), strings.Join(d.rec.Rejected, ", "))
	}
}
