// Package engine knows the order of a run and nothing else: which activity follows which, what counts as done, and what a
// run says about itself. Its bodies ([RunWorkflow], [RunImport]) are deterministic: no clock, no I/O, no goroutine, no map
// range. Everything that touches the world is an activity asked for through [Flow]; an [Executor] carries activities out,
// keeps their outcomes in a [Journal], and returns the same outcomes when a run is resumed. Batches of an @for_each are
// prepared beside each other in branches ([Flow].Fork), each with a sequence of records of its own, and written one after
// another: what a run leaves behind does not depend on how fast answers came.
//
// The package also holds the words that others use to talk about runs: requests, events, failures, and the views
// ([RunRecord], [StepRecord], [ImportRecord], [SlotRecord], [WorkflowStatus]) that the command line, the dashboard and
// the API print. Inputs and outputs of activities are small JSON: names and digests, never bytes. A digest is the
// lower-case hexadecimal SHA-256 of a content; a content that is not in the vault lies as a blob under its digest.
package engine
