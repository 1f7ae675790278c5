// Package workflow turns a note into a [Plan]: frontmatter, sections, and the directives of each step.
//
// [Parse] is pure: bytes in, a plan and diagnostics out, all mistakes in one pass. [Load] does it for every workflow of
// a vault, where one bad file never stops the others. [Check] adds what depends on the world outside the file: the
// clock, the models and tools that there are, the machine's time zone. [Inspect] looks into the vault for files that are
// not there and links that leave it. [Loops] looks at all plans together. [Fix] mends what needs no person.
//
// A plan is plain data that survives JSON, because a run pins it in its journal: editing a workflow changes the next
// run, not the one that is going. The package reads and never writes, and it keeps no state.
package workflow
