package engine

import "slices"

// Status is the state of a run or a step.
type Status string

// The statuses of runs and steps. Only Done and DoneWithOmissions mean that every declared output was written.
const (
	Triggered         Status = "triggered"           // accepted, not yet looked at
	Queued            Status = "queued"              // waits for its lane or for room
	Running           Status = "running"             // at work, or interrupted and waiting to be resumed
	Done              Status = "done"                // every declared output is present, non-empty and complete
	DoneWithOmissions Status = "done_with_omissions" // done, but something referenced was left out of the prompt, or a step was skipped for want of it
	Skipped           Status = "skipped"             // nothing was to be done; nothing was read or written
	Failed            Status = "failed"
	Refused           Status = "refused"   // the model refused to answer
	Empty             Status = "empty"     // the model answered nothing
	Truncated         Status = "truncated" // the answer ends before its end
	Invalid           Status = "invalid"   // the answer is not in the form that was asked for, after all repairs
	Unseen            Status = "unseen"    // the model answered, and cannot have seen the media that it was sent
	Cancelled         Status = "cancelled"
	AwaitingApproval  Status = "awaiting_approval" // parked until somebody decides
)

var statuses = []Status{
	Triggered, Queued, Running, AwaitingApproval, Done, DoneWithOmissions, Skipped, Failed, Refused, Empty, Truncated, Invalid, Unseen, Cancelled,
}

// Statuses lists all statuses in the order in which a run passes through them.
func Statuses() []Status { return slices.Clone(statuses) }

// Finished reports whether a run with this status has ended for good.
func (s Status) Finished() bool {
	switch s {
	case Triggered, Queued, Running, AwaitingApproval, "":
		return false
	}
	return true
}

// Failed reports whether it ended with a fault that somebody should know of, and wrote nothing. Cancelled is not such a
// status, because a person wanted it.
func (s Status) Failed() bool {
	switch s {
	case Failed, Refused, Empty, Truncated, Invalid, Unseen:
		return true
	}
	return false
}

// Incomplete reports whether something was left undone, so that a retry makes sense: it failed or was cancelled.
func (s Status) Incomplete() bool { return s.Failed() || s == Cancelled }

// Succeeded reports whether the run did what it was asked to do.
func (s Status) Succeeded() bool { return s == Done || s == DoneWithOmissions }

// ImportState is the state of an import; see the ingestion page, section 5.
type ImportState string

// The states of imports.
const (
	ImportSeen          ImportState = "seen"
	ImportReceiving     ImportState = "receiving" // the file still grows
	ImportQueued        ImportState = "queued"
	ImportWorking       ImportState = "working"
	ImportDone          ImportState = "done"
	ImportPartial       ImportState = "partial" // some pages failed, the others are there
	ImportNeedsPassword ImportState = "needs_password"
	ImportFailed        ImportState = "failed"
	ImportWaiting       ImportState = "waiting"   // failed of something that passes, such as a full disk; its file is where it arrived and is tried again
	ImportDuplicate     ImportState = "duplicate" // the same bytes were imported before
	ImportCancelled     ImportState = "cancelled"
)

// Finished reports whether an import in this state has ended.
func (s ImportState) Finished() bool {
	switch s {
	case ImportSeen, ImportReceiving, ImportQueued, ImportWorking, "":
		return false
	}
	return true
}
