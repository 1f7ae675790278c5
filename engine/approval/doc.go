// Package approval keeps the notes in which the user approves what runs propose, and wakes the runs after a decision: a
// ticked box, a command, the dashboard, or a deadline. The notes are in a folder of the vault where no workflow looks;
// proposals and decisions are in the journal. The package keeps no state on disk: each note shows whether more than its
// boxes was edited.
package approval
