package tools

import "github.com/vaultflow/vaultflow/content"

// Allowance is how many pictures and document pages tools may give: in one result, and in all results of a step. It
// belongs to one turn of a step and is not safe for concurrent use.
type Allowance struct {
	Result int // in one result
	Step   int // that the step may still be given

	given int
}

// Given is how many were given.
func (a *Allowance) Given() int { return a.given }

// left is how many the next result may hold.
func (a *Allowance) left() int { return max(min(a.Result, a.Step-a.given), 0) }

// spent says that the step has been given all that it may have.
func (a *Allowance) spent() bool { return a.given >= a.Step }

// take counts the media in a result.
func (a *Allowance) take(blocks []content.Block) {
	_, n := weight(blocks)
	a.given += n
}
