package tools

import "github.com/vaultflow/vaultflow/content"

// Allowance limits the pictures and document pages in tool results. It belongs to one turn of a step and is not safe for
// concurrent use.
type Allowance struct {
	Result int // in one result
	Step   int // in all results that the step may still receive

	given int
}

// Given returns how many were sent.
func (a *Allowance) Given() int { return a.given }

// left returns how many the next result may hold.
func (a *Allowance) left() int { return max(min(a.Result, a.Step-a.given), 0) }

// spent reports whether the step has received all it may have.
func (a *Allowance) spent() bool { return a.given >= a.Step }

// take counts the media in a result.
func (a *Allowance) take(blocks []content.Block) {
	_, n := weight(blocks)
	a.given += n
}
