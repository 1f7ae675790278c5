package ingestion

import (
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/filetype"
)

// childrenOf gives files that are imported by themselves the folders of their bundles, in the bundle of what they came in. No
// two have the same, in any case of letters, none is the folder that others lie in, and none has the name of a file of the
// bundle.
func (w *work) childrenOf(names []string) []Child {
	taken := map[string]bool{}
	for _, name := range names {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			taken[strings.ToLower(dir)] = true
		}
	}
	children := make([]Child, 0, len(names))
	for _, name := range names {
		plain := path.Join(path.Dir(name), w.im.bundleBase(path.Base(name)))
		bundle := plain
		for n := 2; taken[strings.ToLower(bundle)] || w.takenHere(bundle); n++ {
			bundle = numbered(plain, n)
		}
		taken[strings.ToLower(bundle)] = true
		children = append(children, Child{Name: name, Bundle: bundle})
	}
	return children
}

// takenHere says whether a file of the job's own bundle has a name.
func (w *work) takenHere(name string) bool {
	return strings.EqualFold(name, w.im.originalName(w.job)) || slices.ContainsFunc(reservedNames, func(r string) bool { return strings.EqualFold(r, name) })
}

// came finds what the job's file came in: the bundle of an archive or message whose files were put into the folder of the
// import folder in which it lies, and the file's name in it.
func (w *work) came() (bundle string, m Manifest, name string) {
	rel, ok := strings.CutPrefix(w.job.Source, w.set.ImportDir+"/")
	if !ok {
		return "", m, ""
	}
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		bundle := path.Join(w.set.ImportedDir, dir)
		if m, ok := w.im.manifest(bundle); ok && len(m.Children) > 0 {
			return bundle, m, strings.TrimPrefix(rel, dir+"/")
		}
	}
	return "", m, ""
}

// home is where the note of an archive or a message links to for the job's file; empty when that came in none.
func (w *work) home() string {
	bundle, m, name := w.came()
	for _, c := range m.Children {
		if c.Name == name {
			return path.Join(bundle, c.Bundle)
		}
	}
	return ""
}

// fromArchive says whether the job's file came in an archive.
func (w *work) fromArchive() bool {
	_, m, _ := w.came()
	return m.Source.Kind == filetype.KindArchive && w.home() != ""
}

// address is the name that the job's bundle has when nothing else has it, and those that are kept for others: the note of an
// archive links to the bundles of its files before there are any, whichever of them is imported first.
func (w *work) address() (name string, kept map[string]bool) {
	name, kept = orElse(w.home(), w.im.bundleName(w.job)), map[string]bool{}
	bundle, m, _ := w.came()
	for _, c := range m.Children {
		if other := path.Join(bundle, c.Bundle); other != name {
			kept[other] = true
		}
	}
	return name, kept
}
