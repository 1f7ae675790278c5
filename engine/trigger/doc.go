// Package trigger turns time, changes in the vault and finished imports into run requests. Every planned time gets a row
// in the slot ledger before its run is asked for, and the request's key holds the planned time, so that a restart fires
// nothing twice and forgets nothing. It reads plans through a function and starts runs through an interface; it keeps no
// state but changes that wait for more of their kind. What was just found, or edited, or enabled, never fires by itself.
package trigger
