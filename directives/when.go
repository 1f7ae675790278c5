package directives

// Tests of a [When].
const (
	WhenExists   = "exists"   // a file fits the path or glob
	WhenMissing  = "missing"  // none does
	WhenChanged  = "changed"  // a file has a content in which this step has not been carried out yet
	WhenEmpty    = "empty"    // a variable is not set, or holds nothing but blanks
	WhenNonempty = "nonempty" // it holds something
)

// When is one `@when`; a step with several runs when all of them hold.
type When struct {
	At     Position `json:"at"`
	Index  int      `json:"index"` // counts the step's conditions from 0; a part of the key of changed state
	Not    bool     `json:"not,omitempty"`
	Test   string   `json:"test"`
	Target Target   `json:"target"`
}

// Key is the identity of the state of `changed`.
func (w When) Key(workflow, step string) PendingKey {
	return PendingKey{Workflow: workflow, Step: step, Directive: ForEachIndex - 1 - w.Index}
}
