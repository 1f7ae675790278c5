package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
)

// GoneReason is the reason of an import whose file is no longer there.
const GoneReason = "the file is gone or changed; put it into the import folder"

// RunImport is the body of an import: classify, extract, publish, file the original. The original is filed last, so that
// a file which is still in the import folder is one whose import has not ended.
func RunImport(f Flow, p ImportPlan) Outcome {
	b := &importBody{flow: f, rec: ImportRecord{ID: p.Run, Source: p.Source, SHA256: p.SHA256, Size: p.Size}}
	b.ref = p
	b.say(ImportWorking)
	var kind ClassifyOut
	if err := f.Do(ActivityClassify, ClassifyIn{b.ref}, &kind); err != nil {
		return b.fail(err)
	}
	b.rec.Kind, b.rec.MediaType = kind.Kind, kind.MediaType
	switch {
	case kind.Gone:
		b.rec.Reason = GoneReason
		b.say(ImportCancelled)
		return Outcome{Status: Skipped, Reason: b.rec.Reason, Import: &b.rec}
	case kind.Duplicate != "":
		b.rec.DuplicateOf, b.rec.Bundle = kind.Duplicate, kind.DuplicateBundle
		b.rec.Reason = "the same bytes were imported before"
		if kind.DuplicateBare {
			b.rec.Reason += "; the note of " + b.rec.Bundle + " is gone: to have it made again, remove that folder and drop the file again"
		}
		return b.end(ImportDuplicate)
	}
	return b.work(kind)
}

type importBody struct {
	flow Flow
	ref  ImportPlan
	rec  ImportRecord
}

func (b *importBody) say(s ImportState) {
	b.rec.State = s
	rec := b.rec
	b.flow.Note(Event{Kind: EventImport, State: s, Message: rec.Reason, Import: &rec})
}

func (b *importBody) work(kind ClassifyOut) Outcome {
	b.say(ImportWorking)
	var pages ExtractOut
	if err := b.flow.Do(ActivityExtract, ExtractIn{b.ref, kind.Route}, &pages); err != nil {
		return b.fail(err)
	}
	b.rec.Pages, b.rec.FailedPages, b.rec.Warnings = pages.Pages, pages.FailedPages, pages.Warnings
	b.rec.Page = pages.Pages - len(pages.FailedPages)
	b.say(ImportWorking)
	var made PublishOut
	if err := b.flow.Do(ActivityPublish, PublishIn{b.ref, kind.Route, pages.Extracted}, &made); err != nil {
		return b.fail(err)
	}
	b.rec.Bundle, b.rec.Note = made.Bundle, made.Note
	b.rec.Lacking, b.rec.NotSeen = pages.Lacking, pages.NotSeen
	b.rec.Final = (pages.Damaged || len(pages.Lost) > 0) && pages.Lacks == "" && len(otherwise(pages))+len(pages.Unread)+len(pages.Lacking)+len(pages.NotSeen) == 0
	if b.rec.Reason = shortOf(pages); b.rec.Reason != "" {
		return b.end(ImportPartial)
	}
	return b.end(ImportDone)
}

// shortOf describes what the file or its pages lack, or returns "".
func shortOf(pages ExtractOut) string {
	var parts []string
	if pages.Lacks != "" {
		parts = append(parts, "the file was not read: "+pages.Lacks)
	}
	if pages.Damaged {
		parts = append(parts, "the file is damaged or cut off: ask for the file again")
	}
	add := func(list []int, what string) {
		if len(list) > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d pages %s", len(list), pages.Pages, what))
		}
	}
	add(otherwise(pages), "failed")
	add(pages.Lost, "are missing in the file, or part of them: ask for the file again")
	add(pages.Unread, "have text that could not be recognised")
	add(pages.Lacking, "are below the quality that was asked for and will be made again")
	return strings.Join(parts, "; ")
}

// otherwise returns the pages that failed although the file has them.
func otherwise(pages ExtractOut) []int {
	return slices.DeleteFunc(slices.Clone(pages.FailedPages), func(n int) bool { return slices.Contains(pages.Lost, n) })
}

// end files the original of an import that has a bundle. A failure to do so does not undo the import.
func (b *importBody) end(s ImportState) Outcome {
	out := Outcome{Status: Done, Reason: b.rec.Reason, Import: &b.rec}
	if s == ImportPartial {
		out.Status = DoneWithOmissions
	}
	stopped, bad := b.file(s, nil)
	if stopped {
		return Outcome{Status: Running}
	}
	if bad != nil {
		out.Status, out.Reason = DoneWithOmissions, "imported, but the original stayed where it was: "+bad.Message
	}
	b.say(s)
	return out
}

// fail ends an import that has no bundle. A cancelled one leaves its original alone.
func (b *importBody) fail(err error) Outcome {
	if Stopped(err) {
		return Outcome{Status: Running}
	}
	f := failure.Of(err)
	state := ImportFailed
	switch f.Code {
	case failure.Cancelled:
		state = ImportCancelled
	case failure.NeedsPassword:
		state = ImportNeedsPassword
	default:
		if f.Retryable && (b.ref.Where == "" || b.ref.Where == b.ref.Source) {
			state = ImportWaiting
		}
	}
	if b.ref.Mend != "" { // the bundle is there as it was
		b.rec.Bundle, b.rec.Filed, b.rec.Reason = b.ref.Mend, b.ref.Where, "what is missing could not be made: "+f.Message
		b.say(ImportPartial)
		return Outcome{Status: DoneWithOmissions, Reason: b.rec.Reason, Import: &b.rec}
	}
	b.rec.Reason, b.rec.Error, b.rec.Hint, b.rec.Code = f.Message, f.Message, f.Hint, f.Code
	if f.Class == failure.ClassDiskFull {
		b.rec.Reason = "the disk is full"
	}
	if state != ImportCancelled {
		if stopped, _ := b.file(state, f); stopped {
			return Outcome{Status: Running}
		}
	}
	b.say(state)
	return Outcome{Status: failureStatus(f), Reason: f.Message, Failure: f, Import: &b.rec}
}

// file asks for the original to be put in its place and keeps the fault as a warning.
func (b *importBody) file(s ImportState, why *failure.Error) (stopped bool, bad *failure.Error) {
	var out FileOut
	err := b.flow.Do(ActivityFile, FileIn{b.ref, s, b.rec.Bundle, why}, &out)
	if err != nil {
		bad = failure.Of(err)
		b.rec.Warnings = append(b.rec.Warnings, "the original was not moved: "+bad.Message)
	}
	b.rec.Filed, b.rec.Held = out.Name, out.Held
	return Stopped(err), bad
}
