package local

import "github.com/vaultflow/vaultflow/engine"

// singlesInARow is how many single files go before a file of an archive or folder that waits has its turn.
const singlesInARow = 3

// fairness decides which waiting import begins. Files that arrived alone go before those of archives and folders, which take turns:
// otherwise a letter waits for the 400 files of an archive that was dropped before it. The zero value is ready to use; the queue's mu
// guards it.
type fairness struct {
	turn   int
	served map[string]int // the turn in which a drop was served last; none of single files
	row    int            // single files since the last file of a drop
}

// before reports whether a goes before b, which was created earlier.
func (f *fairness) before(a, b *job) bool {
	first, second := a.drop(), b.drop()
	switch {
	case (first == "") != (second == ""):
		return (first == "") == (f.row < singlesInARow)
	default:
		return f.served[first] < f.served[second]
	}
}

// begins records that an import begins.
func (f *fairness) begins(j *job) {
	f.turn++
	if j.drop() == "" {
		f.row++
		return
	}
	if f.row = 0; f.served == nil {
		f.served = map[string]int{}
	}
	f.served[j.drop()] = f.turn
}

// drop names what a file arrived with. Pages that are made again belong to none in particular and wait like a file of a folder.
func (j *job) drop() string {
	switch i := j.spec.Import; {
	case i == nil:
		return ""
	case i.Mend != "":
		return "."
	default:
		return i.Drop
	}
}

// next returns the index of the waiting run that begins now, or -1. Imports begin in the order of fairness, other runs in that of
// their creation. The caller holds mu.
func (q *queue) next() int {
	chosen := -1
	q.turn.wanted = false
	blocked := map[string]bool{} // lanes in which a postponed run waits
	for i, j := range q.waiting {
		blocked[j.lane] = blocked[j.lane] || j.postponed
		kind := j.kind()
		switch {
		case blocked[j.lane] || q.lanes[j.lane] != nil || q.busy[kind]+q.places(j) > q.room(kind) || q.crowded(j):
		case kind == engine.KindWorkflow && q.places(j) > 0 && !q.turn.come(q.busy[kind] == 0):
		case kind != engine.KindImport:
			return i
		case chosen < 0 || q.fair.before(j, q.waiting[chosen]):
			chosen = i
		}
	}
	if len(q.waiting) == 0 {
		q.fair.served = nil // nobody remembers drops that are gone
	}
	return chosen
}
