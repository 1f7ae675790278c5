package failure

import "slices"

// Code names a kind of failure. The list is closed: journals, exit codes, messages and tests refer to these values, and
// [Of] reports anything else as [Internal].
type Code string

// The codes.
const (
	Internal         Code = "internal"          // no more specific code is known
	Panic            Code = "panic"             // an activity panicked
	Cancelled        Code = "cancelled"         // somebody cancelled the run
	Timeout          Code = "timeout"           // the run or the document took longer than allowed
	Diverged         Code = "diverged"          // the journal does not match the run's order; nothing is guessed
	UnknownActivity  Code = "unknown_activity"  // this executor has no such activity
	InvalidWorkflow  Code = "invalid_workflow"  // the plan or the chosen steps make no sense
	InvalidSettings  Code = "invalid_settings"  // the settings are wrong
	UnknownModel     Code = "unknown_model"     // no alias has this name
	ModelNotSuitable Code = "model_not_capable" // images=required and a model without vision, for example
	Input            Code = "input"             // an input cannot be read or selected
	Output           Code = "output"            // an output cannot be named or written
	Conflict         Code = "conflict"          // somebody kept changing the file that was to be written
	Vault            Code = "vault"             // the vault's file system failed; Class may be [ClassDiskFull]
	State            Code = "state"             // the journal or the blobs failed
	Permission       Code = "permission"        // refused by permissions
	Budget           Code = "budget"            // refused by a budget; Class is the cap's scope
	Provider         Code = "provider"          // a model's or recognition service's provider failed; Class is its error class
	EmptyAnswer      Code = "empty_answer"      // the model's answer was empty
	Refusal          Code = "refusal"           // the model refused
	CutOff           Code = "cut_off"           // the answer reached its length limit
	Incomplete       Code = "incomplete_answer" // the answer stopped early for another reason
	InvalidAnswer    Code = "invalid_answer"    // the answer does not match its schema or format, even after repair
	Unseen           Code = "unseen_media"      // the model cannot have seen the media it was sent
	ToolRounds       Code = "tool_rounds"       // the model kept calling tools and never answered
	Retry            Code = "retry"             // the run cannot be retried this way
	NeedsPassword    Code = "needs_password"    // an encrypted document
	Unsupported      Code = "unsupported"       // a kind of file that this version does not read
	Corrupt          Code = "corrupt"           // a broken document
	TooLarge         Code = "too_large"         // above a limit
	Worker           Code = "worker"            // the worker is missing or died

	// Failures of one page, or of the process that reads a document. Manifests hold them.
	NotPDF        Code = "not_pdf"        // named or declared as a PDF, and is none
	PageFailed    Code = "page_failed"    // one page cannot be read
	Crashed       Code = "crashed"        // the worker died while reading the document
	Memory        Code = "memory"         // reading it needed more memory than allowed
	TooMuch       Code = "too_much"       // the worker sent more for a page than any page has and is not trusted further
	WorkerMissing Code = "worker_missing" // the program is missing or is not a worker
	Unconfined    Code = "unconfined"     // confinement was required and is not available
)

var codes = []Code{
	Internal, Panic, Cancelled, Timeout, Diverged, UnknownActivity, InvalidWorkflow, InvalidSettings, UnknownModel,
	ModelNotSuitable, Input, Output, Conflict, Vault, State, Permission, Budget, Provider, EmptyAnswer, Refusal, CutOff,
	Incomplete, InvalidAnswer, Unseen, ToolRounds, Retry, NeedsPassword, Unsupported, Corrupt, TooLarge, Worker,
	NotPDF, PageFailed, Crashed, Memory, TooMuch, WorkerMissing, Unconfined,
}

func (c Code) listed() bool { return slices.Contains(codes, c) }

// Codes returns every code.
func Codes() []Code { return slices.Clone(codes) }
