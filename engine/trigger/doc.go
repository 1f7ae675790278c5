// Package trigger turns time, changes in the vault and finished imports into run requests. Every planned time gets a row
// in the slot ledger before its run is asked for, and the request's key holds the planned time; every change is in the
// journal until its run is. So a restart fires nothing twice and forgets nothing, and a clock that is set back makes no
// slot two. It reads plans through a function and starts runs through an interface. What was just found, or edited, or
// enabled, never fires by itself, and neither does what goes back to a run of the workflow itself.
package trigger
