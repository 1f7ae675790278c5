// Package workflow turns a note into a [Plan]: frontmatter, sections, and the directives of each step.
//
// [Parse] is pure: bytes in, a plan and diagnostics out, with all mistakes in one pass. [Load] does so for every workflow of
// a vault, and one bad file never stops the others. [Check] adds what depends on the world outside the file: the clock, the
// available models and tools, the machine's time zone. [Inspect] checks the vault for missing files and links that leave it.
// [Loops] checks all plans together. [Fix] makes the mechanical corrections.
//
// A plan is plain data that survives JSON, because a run pins it in its journal: editing a workflow changes the next
// run, not the one that is going. The package reads and never writes, and it keeps no state.
package workflow
