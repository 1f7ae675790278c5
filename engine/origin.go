package engine

import (
	"slices"
	"strings"
)

// What a step writes after it was shown something untrusted is untrusted for later steps: the body keeps origins with
// variables and with the files that the run has written.

// foreignFile is a file that a step of the run has written after it was shown something untrusted.
type foreignFile struct {
	name    string
	origins []string
}

// taint adds untrusted things that the model was shown. Each is listed once.
func (w *work) taint(origins []string) { w.rec.Origins = addAll(w.rec.Origins, origins) }

// markForeign says of the step's inputs which were made from something untrusted in this run. The journal's own list is
// not changed.
func (w *work) markForeign() {
	w.inputs = slices.Clone(w.inputs)
	for _, item := range w.ref.Items {
		w.taint(w.madeHere(item.Name))
	}
	for i := range w.inputs {
		in := &w.inputs[i]
		for _, v := range w.vars {
			if in.Variable != "" && v.Name == in.Variable && v.Digest == in.Digest {
				in.Origins = addAll(in.Origins, v.Origins)
			}
		}
		for _, f := range in.Files {
			in.Origins = addAll(in.Origins, w.madeHere(f.Name))
		}
	}
}

// madeHere are the origins of a file that an earlier step of the run has written.
func (w *work) madeHere(name string) []string {
	var origins []string
	for _, foreign := range w.written {
		if strings.EqualFold(foreign.name, name) {
			origins = addAll(origins, foreign.origins)
		}
	}
	return origins
}

// wrote remembers the files of a work that was shown something untrusted.
func (b *body) wrote(w *work) {
	if len(w.rec.Origins) == 0 {
		return
	}
	b.written = slices.Clip(b.written)                      // works at the side look at the list that they were given
	approved := b.pinned.Body >= 4 && w.step.ApproveOutputs // the user saw what was written
	for _, out := range w.rec.Outputs {
		if out.Kind == "file" && !approved {
			b.written = append(b.written, foreignFile{out.Name, w.rec.Origins})
		}
	}
	for _, c := range w.rec.Changes {
		name := c.Name
		if c.To != "" {
			name = c.To
		}
		b.written = append(b.written, foreignFile{name, w.rec.Origins})
	}
	for _, name := range w.nested {
		b.written = append(b.written, foreignFile{name, w.rec.Origins})
	}
}

// madeFrom are the origins of a variable's new value, to which the value before may have been joined.
func (b *body) madeFrom(name string, origins []string) []string {
	for _, v := range b.vars {
		if v.Name == name {
			return addAll(v.Origins, origins)
		}
	}
	return origins
}

// addAll adds texts to a list that does not hold them yet. The list itself is not changed.
func addAll(list, more []string) []string {
	list = slices.Clone(list)
	for _, text := range more {
		list = addOnce(list, text)
	}
	return list
}
