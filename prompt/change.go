package prompt

// What an input with `changes` shows of a file.
const (
	Whole     = "whole"
	Changed   = "changed"
	Unchanged = "unchanged"
)

// Change is a file compared with what it was when the step last finished.
type Change struct {
	Fate string // Whole, Changed or Unchanged
	Diff string // unified, if Changed
	Why  string // it is shown whole, for the prompt
}
