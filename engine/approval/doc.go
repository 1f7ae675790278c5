// Package approval keeps the notes in which people approve what runs propose, and wakes the runs when somebody has
// decided: by a box in a note, by a command, in the dashboard, or by letting the time pass. The notes stand in a folder of
// the vault where no workflow looks; proposals and decisions are the journal's. The package keeps no state on disk: a note
// says itself whether anybody but its own boxes has changed it.
package approval
