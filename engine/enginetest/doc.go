// Package enginetest is the contract that every executor passes: [Exercise]. It brings a world of its own, in which
// activities are counted and can be made to fail, hang, panic and die, and journals that die after a chosen append or whose
// disk is full for a while.
//
// What the comments of engine.Executor and engine.Journal promise, and the file that proves it:
//
//   - Steps in order, chosen ones, honest outcomes, restages, repeats of transient failures, panics: order.go.
//   - Start: two requests with one key are one run; what makes no sense leaves no run: order.go, limits.go.
//   - Lanes: one run of a workflow at a time, in the order in which they were asked for, whatever the clock says; overlap
//     skip, queue and replace; bounded runs; imports apart from workflows, small ones beside large ones: control.go, faults.go.
//   - Resume: after a death at each append, before and after it is on disk, everything is written once and bought once, in
//     plain runs, imports, nested runs, parked runs and runs that use the whole language; a body that has become another one is
//     not guessed; a shutdown leaves runs to be resumed: crash.go, nested.go, approve.go.
//   - Errors that pass put a run off, before the others of its lane and with all that it has bought; it goes on by itself and
//     can be cancelled: faults.go.
//   - Cancel of runs that wait, are at work, are put off or are parked, and of those that they wait for: control.go, faults.go,
//     nested.go, ending.go.
//   - Timeouts of runs and steps; Wait that is given up, and for no run: limits.go.
//   - Retry from the failed activity, of batches, of steps, of what was left out, and of interrupted runs: control.go,
//     batches.go, again.go.
//   - Wake and parked runs: approve.go.
//   - Subscribe: a subscriber that does not keep up is told how much it lost: control.go.
//   - Batches, conditions, tools, repairs and kept answers: batches.go, talk.go.
package enginetest
