package engine

// Lost counts the batches that failed or were skipped while their steps went on without them: what a [Retry] with Failed takes
// up. The record must have its batches.
func (r RunRecord) Lost() int {
	n := 0
	for _, s := range r.Steps {
		if s.Status.Incomplete() {
			continue
		}
		for _, b := range s.Batches {
			if b.Status.Finished() && !b.Status.Succeeded() {
				n++
			}
		}
	}
	return n
}
