package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/failure"
)

// The activities of a workflow run, in order. Each is idempotent; its input and output structs follow. New fields of
// input structs must be `omitempty` or `omitzero`, because an unfinished run of an older version is checked against the
// digest of its recorded input.
const (
	ActivityResolve  = "resolve"  // inputs to files with digests: ResolveIn, ResolveOut
	ActivityAssemble = "assemble" // prompt and receipt: AssembleIn, AssembleOut
	ActivityGenerate = "generate" // the model's answer: GenerateIn, GenerateOut
	ActivityStage    = "stage"    // answer and outputs to new contents: StageIn, StageOut
	ActivityCommit   = "commit"   // new contents to the vault: CommitIn, CommitOut

	ActivityWhen     = "when"      // the step's conditions: StepIn, WhenOut
	ActivityExpand   = "expand"    // the items of an @for_each: StepIn, ExpandOut
	ActivityUseTools = "use_tools" // the tools that the model called: UseToolsIn, UseToolsOut
	ActivityFollow   = "follow"    // outputs after the documents whose parts they were made of: FollowIn, FollowOut
	ActivityValidate = "validate"  // the answer against its schema: ValidateIn, ValidateOut
)

// The activities of an import, in order.
const (
	ActivityClassify = "classify" // bytes to a handler: ClassifyIn, ClassifyOut
	ActivityExtract  = "extract"  // pages, text, pictures: ExtractIn, ExtractOut
	ActivityPublish  = "publish"  // the bundle appears: PublishIn, PublishOut
	ActivityFile     = "file"     // the original moves to its place: FileIn, FileOut
)

// StepRef names a step of a run. The plan is the blob Plan; Index counts its steps from zero.
type StepRef struct {
	Run      string    `json:"run"`
	Workflow string    `json:"workflow"`
	Plan     string    `json:"plan"`
	Index    int       `json:"index"`
	Step     string    `json:"step"`
	At       time.Time `json:"at"`              // the time for date patterns, in the workflow's zone
	Batch    int       `json:"batch,omitempty"` // of an @for_each, from 1; 0 outside of one
	Items    []Item    `json:"items,omitempty"` // of the batch

	Subject []string `json:"subject,omitempty"` // the files that the run is about: Trigger.Files
	// Chosen are the untrusted things that chose them, for a run that a model asked for.
	Chosen []string `json:"chosen,omitempty"`
}

// Item is what one run of an @for_each step is about: a file, or an entry of a list.
type Item struct {
	Name    string `json:"name"`              // vault name, or the entry's text (clipped to a line of 200 characters)
	SHA256  string `json:"sha256,omitempty"`  // of the file's content, or the blob that holds the entry
	Value   bool   `json:"value,omitempty"`   // an entry of a list: SHA256 is a blob
	Pending bool   `json:"pending,omitempty"` // mark it when its batch commits

	Part *ItemPart `json:"part,omitempty"` // of the document Name; nil: all of it
}

// StepIn asks whether the step's @when conditions hold, or for the items of its @for_each.
type StepIn struct {
	StepRef
	Vars []Var `json:"vars,omitempty"`
}

// WhenOut is the answer. Marks are the contents that `changed` has seen, with When.Key's directive index; they are stored
// when the step commits, with @for_each when all its batches have succeeded (by a commit of its own, without files).
type WhenOut struct {
	Skip   bool   `json:"skip,omitempty"`
	Reason string `json:"reason,omitempty"` // the condition that does not hold, as written: "@when exists a.md"
	Marks  []Mark `json:"marks,omitempty"`
}

// ExpandOut lists them in batches. The list is pinned by the journal: files that arrive later belong to a later run.
type ExpandOut struct {
	Batches  [][]Item     `json:"batches,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
	Parts    *PartsChange `json:"parts,omitempty"` // of documents; nil: nothing but the items
}

// FollowIn asks for the changes of outputs that changes of documents require, when all parts are done.
type FollowIn struct {
	StepRef
	Parts PartsChange `json:"parts"`
}

// FollowOut lists what was changed.
type FollowOut struct {
	Changes  []Change `json:"changes,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// ResolveIn asks which files the step's inputs are now.
type ResolveIn struct {
	StepRef
	Vars    []Var   `json:"vars,omitempty"`
	Trigger Trigger `json:"trigger"`
}

// ResolveOut names them. Missing lists the required inputs that nothing was found for, as written; then the step is
// skipped and nothing else was read.
type ResolveOut struct {
	Inputs   []ResolvedInput `json:"inputs,omitempty"`
	Missing  []string        `json:"missing,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
}

// ResolvedInput is what one @input directive found, in order.
type ResolvedInput struct {
	Directive int            `json:"directive"` // counts the step's inputs from zero
	Files     []ResolvedFile `json:"files,omitempty"`
	Variable  string         `json:"variable,omitempty"` // name, for a variable input
	Digest    string         `json:"digest,omitempty"`   // the variable's blob; empty when it is not set
	Origins   []string       `json:"origins,omitempty"`  // untrusted things that the variable, or files of this run, were made from
}

// ResolvedFile is a file and the content that was seen.
type ResolvedFile struct {
	Name    string `json:"name"`
	SHA256  string `json:"sha256"`
	Pending bool   `json:"pending,omitempty"` // the directive selects pending files: mark it when the step commits
	Changes bool   `json:"changes,omitempty"` // the directive shows changes: mark it likewise
	Since   string `json:"since,omitempty"`   // digest with which the step last finished, for Changes; empty if it never did
}

// AssembleIn asks for the prompt.
type AssembleIn struct {
	StepRef
	Inputs []ResolvedInput `json:"inputs,omitempty"`
	Vars   []Var           `json:"vars,omitempty"`
}

// AssembleOut is the prompt and what was left out of it.
type AssembleOut struct {
	Prompt   string   `json:"prompt,omitempty"`  // blob: the request without bytes of media
	Receipt  string   `json:"receipt,omitempty"` // blob: the receipt's JSON
	Text     string   `json:"text,omitempty"`    // blob: the resolved inputs as text, for @model none
	Model    string   `json:"model,omitempty"`   // alias
	Warnings []string `json:"warnings,omitempty"`
	Omitted  []string `json:"omitted,omitempty"` // in records of earlier versions: a line for each reference that the model does not get to see
	Key      string   `json:"key,omitempty"`     // with @cache: the digest of prompt (without nonce), model and settings
	Origins  []string `json:"origins,omitempty"` // the untrusted things in it, as policy.Trust names them

	Omissions []Omission `json:"omissions,omitempty"` // of what the model gets less than was written
	Unmet     []Omission `json:"unmet,omitempty"`     // of them those of required inputs: the model is not asked

	Sent Sent `json:"sent,omitzero"`
	// Sketch is a blob, with @approve prompt: the parts of all that may be sent first, also to the fallback, with their digests.
	Sketch string `json:"sketch,omitempty"`
}

// Sent identifies a prompt, and compares it with its last preview.
type Sent struct {
	Digest      string    `json:"digest,omitempty"`      // of all that is sent but the frames' nonce
	Previewed   time.Time `json:"previewed,omitzero"`    // when the same step was last previewed for the same files; zero: never
	Differences []string  `json:"differences,omitempty"` // from that preview, with reasons; none: it was sent as previewed
}

// AsPreviewed reports in words whether what was sent is what was previewed, and lists the differences. head is empty without a preview, and if
// nothing was sent.
func (r WorkRecord) AsPreviewed(zone *time.Location) (head string, differences []string) {
	when := r.Sent.Previewed.In(zone).Format("2006-01-02 15:04:05")
	switch {
	case r.Sent.Previewed.IsZero() || r.Calls == 0 || r.Cached:
		return "", nil
	case len(r.Sent.Differences) == 0:
		return "sent as previewed (" + when + ")", nil
	}
	return "differs from the preview of " + when, r.Sent.Differences
}

// differs adds a difference, once. Without a preview there is none.
func (s *Sent) differs(how string) {
	if !s.Previewed.IsZero() {
		s.Differences = addOnce(s.Differences, how)
	}
}

// GenerateIn asks the model.
type GenerateIn struct {
	StepRef
	Prompt string `json:"prompt"`
	Model  string `json:"model,omitempty"`
	Turns  []Turn `json:"turns,omitempty"` // what was said behind the prompt, in order
	Key    string `json:"key,omitempty"`   // see AssembleOut.Key; only with the first call of a step
	// RunUSD and SpentUSD are what the records say that earlier steps of the run, and earlier calls of the step, have cost.
	// They bound nothing: what is reserved and spent is counted by the journal, for all that works at the same time.
	RunUSD   float64 `json:"run_usd,omitempty"`
	SpentUSD float64 `json:"spent_usd,omitempty"`
}

// Turn is an answer of the model before the last one, and our reply: the results of its tool calls, or what is wrong with
// the answer. Both are blobs.
type Turn struct {
	Raw   string `json:"raw"`   // as GenerateOut.Raw
	Reply string `json:"reply"` // content.MarshalBlocks of the user's turn
}

// UseToolsIn asks for the tools that the model called in an answer.
type UseToolsIn struct {
	StepRef
	Prompt string `json:"prompt"`          // blob, for the chunks that read_chunks returns
	Raw    string `json:"raw"`             // blob: the answer with the calls
	Model  string `json:"model,omitempty"` // alias
	Media  int    `json:"media,omitempty"` // pictures in earlier results of the step, for max_step_images
	Vars   []Var  `json:"vars,omitempty"`
	// Origins are the untrusted things that the model had been shown when it called: in the prompt, and in earlier results.
	Origins []string `json:"origins,omitempty"`
	Round   int      `json:"round,omitempty"` // counts the rounds of tools of this work, from 1
	// Verdicts are the decisions about the calls of a step with `@approve tools`.
	Verdicts []Verdict `json:"verdicts,omitempty"`
	// Turns are what was said behind the prompt before this answer, for a step with Origins: what its model was shown.
	Turns []Turn `json:"turns,omitempty"`
	// Pictures are those in earlier results of the step; Evicted names media that the model does not see any more.
	Pictures []GivenPicture `json:"pictures,omitempty"`
	Evicted  []string       `json:"evicted,omitempty"`
}

// GivenPicture is a picture in a result of a tool. Bytes are estimated, as it is sent.
type GivenPicture struct {
	Name  string `json:"name"`
	Key   string `json:"key"` // equal for the same picture
	Bytes int64  `json:"bytes,omitempty"`
	Note  string `json:"note,omitempty"` // that embeds it; empty if the model named the picture itself
	Line  int    `json:"line,omitempty"` // from 1
}

// UseToolsOut is the next user turn. A tool that fails, or is not on offer, is a result that says so, and no error. An empty
// Reply means that the answer holds no call at all; the body fails the step as incomplete then.
type UseToolsOut struct {
	Reply    string   `json:"reply"`
	Media    int      `json:"media,omitempty"` // pictures in these results
	Shown    []string `json:"shown,omitempty"` // ids of deferred chunks that the model has been given now
	Warnings []string `json:"warnings,omitempty"`
	Origins  []string `json:"origins,omitempty"` // the untrusted things in these results
	// Vars are variables that now have other values: results of tools that were sent there, or that were too long. The
	// work's further calls see them; when its outputs are written they are set for the steps that follow.
	Vars    []StagedVar    `json:"vars,omitempty"`
	Results []RoutedResult `json:"results,omitempty"` // for StageIn
	Changes []Change       `json:"changes,omitempty"` // what the tools did to the vault, in order
	// Of the runs that tools started: what they cost with all that they started, and the files that they wrote.
	NestedUSD   float64  `json:"nested_usd,omitempty"`
	NestedFiles []string `json:"nested_files,omitempty"`

	Defused []Defused `json:"defused,omitempty"` // in what the tools wrote
	Undone  []string  `json:"undone,omitempty"`  // approved calls that failed, with the reasons

	// Omissions are what the notes that tools have shown embed and the model did not get, and those of runs that tools started.
	Omissions []Omission `json:"omissions,omitempty"`

	Pages    []PagesShown   `json:"pages,omitempty"`    // that the tools have shown, in a workflow with @cite
	Pictures []GivenPicture `json:"pictures,omitempty"` // in these results
}

// RoutedResult is the text of a tool's result that goes to a file when the step's outputs are written.
type RoutedResult struct {
	Use  string `json:"use"`  // name of the tool; its @tools line names the target
	Text string `json:"text"` // blob
}

// ValidateIn asks whether an answer fits the step's @schema, or is what a JSON output needs.
type ValidateIn struct {
	StepRef
	Answer string `json:"answer"`           // blob
	Prompt string `json:"prompt,omitempty"` // blob, as in GenerateIn: it holds the schema that the step is pinned to
	Last   bool   `json:"last,omitempty"`   // no repair is left
}

// ValidateOut is the verdict. An answer with Problems is not written: Reply asks the model to correct it, unless
// ValidateIn.Last. An answer that is not JSON at all is also a problem, not an error.
type ValidateOut struct {
	Answer   string   `json:"answer,omitempty"` // blob: the JSON alone, without a fence around it; empty: the answer as it is
	Problems []string `json:"problems,omitempty"`
	Reply    string   `json:"reply,omitempty"` // blob: content.MarshalBlocks of the user's turn
}

// Why a model stopped.
const (
	StopEnd     = "end"
	StopLength  = "length"
	StopRefusal = "refusal"
	StopToolUse = "tool_use"
)

// GenerateOut is the model's answer, whatever it is: an empty answer, a refusal and a cut-off answer are paid for and
// recorded, and the body sets the status. An error means that there was no answer.
type GenerateOut struct {
	Answer   string     `json:"answer,omitempty"` // blob: the visible text
	Raw      string     `json:"raw,omitempty"`    // blob: the blocks and what the provider sent, thinking included
	Empty    bool       `json:"empty,omitempty"`  // nothing but blanks
	Stop     string     `json:"stop"`             // end, length, refusal, or the provider's own word
	Model    string     `json:"model,omitempty"`  // the provider's name of the model that answered
	Provider string     `json:"provider,omitempty"`
	Usage    cost.Usage `json:"usage"`
	Omitted  []string   `json:"omitted,omitempty"` // in records of earlier versions, and of a fallback's prompt: a line for each omission
	Lost     []Omission `json:"lost,omitempty"`    // left out while sending: a file that had vanished, or what the service refused
	Warnings []string   `json:"warnings,omitempty"`
	Differs  []string   `json:"differs,omitempty"` // how the call differs from the one that its prompt was made for
	Evicted  []string   `json:"evicted,omitempty"` // names of media that were left out of the request to fit
	Unseen   []string   `json:"unseen,omitempty"`  // names of media that were sent and that the model cannot have seen
	Cached   bool       `json:"cached,omitempty"`  // an earlier answer was used, and nothing paid
	Alias    string     `json:"alias,omitempty"`   // when a fallback answered: the further calls of the step go to it

	Rewritten []string `json:"rewritten,omitempty"` // how the request was changed before it was answered

	Omissions []Omission `json:"omissions,omitzero"` // of the fallback's prompt, with its first answer: they replace those of the prompt
	Receipt   string     `json:"receipt,omitempty"`  // blob: of the fallback's prompt, with its first answer

	Count TokenCount `json:"count,omitzero"` // of the request that was answered

	Pages []PagesShown `json:"pages,omitempty"` // in the prompt, with the first call of a step in a workflow with @cite

	Settled []cost.Settlement `json:"settled,omitempty"` // costs of answered requests; the journal settles them together with this record
}

// StageIn asks what the step's outputs will be. Nothing is written to the vault.
type StageIn struct {
	StepRef
	Answer    string          `json:"answer,omitempty"` // blob: the answer, or the resolved text for @model none
	Inputs    []ResolvedInput `json:"inputs,omitempty"` // for routed inputs
	Vars      []Var           `json:"vars,omitempty"`
	Attempt   int             `json:"attempt"`             // from 1; above 1 somebody changed a target in between
	Committed []StagedFile    `json:"committed,omitempty"` // targets that earlier attempts have written, or that were rejected: leave them out
	Results   []RoutedResult  `json:"results,omitempty"`   // of tools, in order; their targets are "tool:0", "tool:1", …
	Foreign   *Foreign        `json:"foreign,omitempty"`   // nil: the step was shown nothing untrusted
	Pages     []PagesShown    `json:"pages,omitempty"`     // with @cite: what the step was shown, and those whose outputs it reads
	Omitted   []string        `json:"omitted,omitempty"`   // for outputs with omissions=on
}

// Foreign is set when a step was shown something untrusted. Pictures, code and links are then made inert in what it writes,
// except links that Prompt and Turns already contained.
type Foreign struct {
	Origins []string `json:"origins"`
	Prompt  string   `json:"prompt,omitempty"` // blob, as in GenerateIn
	Turns   []Turn   `json:"turns,omitempty"`
}

// StageOut is the step's result, ready to be written. Every @output of the step must be the target of a file or a
// variable, or of a file in StageIn.Committed; the body fails the step otherwise.
type StageOut struct {
	Files    []StagedFile `json:"files,omitempty"`
	Moves    []StagedMove `json:"moves,omitempty"`
	Vars     []StagedVar  `json:"vars,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
	Defused  []Defused    `json:"defused,omitempty"` // in the files

	Citations Citations `json:"citations,omitzero"` // in the answer
}

// Defused is a place in a file that was made inert, because the step that wrote it had been shown something untrusted.
type Defused struct {
	Name   string `json:"name"` // of the file
	Line   int    `json:"line"`
	Reason string `json:"reason"`         // "a picture from example.org"
	Text   string `json:"text,omitempty"` // the beginning of the original text
}

// String describes the place.
func (d Defused) String() string {
	text := fmt.Sprintf("%s:%d: %s", d.Name, d.Line, d.Reason)
	if d.Text != "" {
		text += ": " + d.Text
	}
	return text
}

// StagedVar is a variable to be set for the steps that follow; a shared one is kept for later runs of the workflow too.
type StagedVar struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Shared bool   `json:"shared,omitempty"` // scope=workflow
	Target string `json:"target"`           // as in StagedFile.Targets
}

// StagedFile is a file to be written. All outputs of the step to the same file are one StagedFile.
type StagedFile struct {
	Name    string   `json:"name"`
	Base    string   `json:"base,omitempty"` // digest of the content it builds on; empty: the file must not exist
	New     string   `json:"new"`            // digest of the new content, which is the blob of that digest
	Targets []string `json:"targets"`        // the directives it serves, such as "output:0" and "input:2"
	Seen    bool     `json:"seen,omitempty"` // the user has read and approved the new content: it is not foreign any more

	Edited bool `json:"edited,omitempty"` // New is what the user wrote in place of what was staged

	// Of a name in which content from outside had a part: how (segment or place), what that came from, and whether the author
	// allows it. Files that were staged before there was this record have a name of the author's.
	Named    string   `json:"named,omitempty"`
	NameFrom []string `json:"name_from,omitempty"`
	Granted  bool     `json:"granted,omitempty"`

	About string            `json:"about,omitempty"` // the file or entry that the name is made from; see step.Memory
	Own   map[string]string `json:"own,omitempty"`   // see [Change]
}

// StagedMove is a file to be moved, or an imported document, once the step's files are written.
type StagedMove struct {
	Change Change   `json:"change"`
	Linked []string `json:"linked,omitempty"` // for approval: files with links to it, which will change

	// Of a new name in which the answer or content from outside had a part, as in [StagedFile].
	Named    string   `json:"named,omitempty"`
	NameFrom []string `json:"name_from,omitempty"`
	Granted  bool     `json:"granted,omitempty"`
}

// Mark records that a pending input's file was processed with this content.
type Mark struct {
	Directive int    `json:"directive"`
	Name      string `json:"name"`
	SHA256    string `json:"sha256"`

	Part *PartState `json:"part,omitempty"` // Name and SHA256 are those of a part of a document
}

// CommitIn asks for the writes. For each file: when its content has the digest New, it is done already (this process
// died after writing); when it has Base, it is written; anything else is a conflict. All bases are looked at before
// the first write. Marks and Shared are stored only when no file is in conflict.
type CommitIn struct {
	StepRef
	Files  []StagedFile `json:"files,omitempty"`
	Moves  []StagedMove `json:"moves,omitempty"` // made once all files are written
	Shared []Var        `json:"shared,omitempty"`
	Marks  []Mark       `json:"marks,omitempty"`
	Cache  *CacheEntry  `json:"cache,omitempty"` // keep the answer for @cache
	// Origins are the untrusted things that the step was shown: the files are recorded as made from them, except those that
	// the user has seen.
	Origins []string `json:"origins,omitempty"`
}

// CacheEntry is an answer that may be used again. The body asks to keep one with the commit of a good answer that was
// bought in one go: no tools were used, nothing was left out while sending, no fallback answered, and it did not come from
// the cache itself. Answer is what the model said, before ValidateOut.Answer.
type CacheEntry struct {
	Key      string `json:"key"`
	Answer   string `json:"answer"`        // blob
	Raw      string `json:"raw,omitempty"` // blob
	Model    string `json:"model,omitempty"`
	Provider string `json:"provider,omitempty"`
}

// CommitOut lists what was written.
type CommitOut struct {
	Written   []StagedFile `json:"written,omitempty"`
	Changes   []Change     `json:"changes,omitempty"`   // moves, and links that followed
	Conflicts []string     `json:"conflicts,omitempty"` // names whose content was neither Base nor New, or New by another writer
	Raced     bool         `json:"raced,omitempty"`     // all conflicts are with what other runs of this process wrote last
	Warnings  []string     `json:"warnings,omitempty"`
}

// ClassifyIn asks what the bytes are.
type ClassifyIn struct{ ImportPlan }

// ClassifyOut says it.
type ClassifyOut struct {
	Gone            bool            `json:"gone,omitempty"`      // the file is not there any more, or has other bytes now
	Duplicate       string          `json:"duplicate,omitempty"` // id of the import that had the same bytes and settings
	DuplicateBundle string          `json:"duplicate_bundle,omitempty"`
	DuplicateBare   bool            `json:"duplicate_bare,omitempty"` // the user has removed the note of that bundle
	Kind            string          `json:"kind,omitempty"`
	MediaType       string          `json:"media_type,omitempty"`
	Route           json.RawMessage `json:"route,omitempty"` // ingestion's routing decision with its evidence
}

// ExtractIn asks for pages, text and pictures. The activity keeps each finished page and resumes with the next one after
// a kill.
type ExtractIn struct {
	ImportPlan
	Route json.RawMessage `json:"route,omitempty"`
}

// ExtractOut is what was extracted.
type ExtractOut struct {
	Extracted   string   `json:"extracted,omitempty"` // blob: ingestion's record of the extraction
	Pages       int      `json:"pages,omitempty"`
	FailedPages []int    `json:"failed_pages,omitempty"`
	Unread      []int    `json:"unread,omitempty"`   // pages whose text could not be recognised
	Lost        []int    `json:"lost,omitempty"`     // pages of which the file lacks the content or a part of it
	Damaged     bool     `json:"damaged,omitempty"`  // the file lacks something that has no page of its own
	NotSeen     []int    `json:"not_seen,omitempty"` // pages that a model was to read and did not
	Lacks       string   `json:"lacks,omitempty"`    // why the file was not read, if another attempt may read it
	Lacking     []int    `json:"lacking,omitempty"`  // pages below the quality that was asked for, which another attempt may make better
	Warnings    []string `json:"warnings,omitempty"`
}

// PublishIn asks for the bundle.
type PublishIn struct {
	ImportPlan
	Route     json.RawMessage `json:"route,omitempty"`
	Extracted string          `json:"extracted,omitempty"`
}

// PublishOut names it.
type PublishOut struct {
	Bundle string `json:"bundle"` // vault name of the folder
	Note   string `json:"note"`   // vault name of the note
}

// FileIn asks for the original to be moved into its bundle, or to the failed imports with a note about the failure.
type FileIn struct {
	ImportPlan
	State   ImportState    `json:"state"` // done, partial, duplicate, failed or needs_password
	Bundle  string         `json:"bundle,omitempty"`
	Failure *failure.Error `json:"failure,omitempty"`
}

// FileOut is where the original is now.
type FileOut struct {
	Name string `json:"name,omitempty"` // vault name; empty when it was removed or left where it was
	Held bool   `json:"held,omitempty"` // it is left in the import folder for a while; Name is its copy's, where there is one
}
