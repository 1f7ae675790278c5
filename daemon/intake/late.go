package intake

import (
	"cmp"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/daemon/intake/packing"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/ingestion/export"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// mostRecent bounds the imports that are looked through for the page or note to which files belong that arrive after it.
const mostRecent = 1000

// late finds files that belong to a page or note that was imported before they arrived: together they become the next version of its
// bundle. Files whose page or note may still come wait for it.
func (j *judging) late() {
	pages, others := map[string][]string{}, map[string][]string{}
	for name := range j.left {
		switch page, folder := j.pageOf(name); {
		case export.IsNote(name) || export.IsPage(name) && page == "" || j.amongNotes(name):
		case page != "":
			pages[page] = append(pages[page], name)
			others[folder] = append(others[folder], name)
		default:
			others[path.Dir(name)] = append(others[path.Dir(name)], name)
		}
	}
	if len(others) == 0 {
		return
	}
	recent, err := j.journal.Imports.List(j.ctx, journal.ImportFilter{Limit: mostRecent})
	if err != nil {
		j.log.Warn("files are not matched with earlier imports", "err", err)
		return
	}
	for _, r := range recent {
		stem := strings.TrimSuffix(r.Source, path.Ext(r.Source))
		switch names := pages[stem]; {
		case !r.State.Finished() && r.SHA256 == "", r.State.Finished() && r.State != engine.ImportDone && r.State != engine.ImportPartial:
		case names != nil && (export.IsPage(r.Source) || path.Ext(r.Source) == ".zip"):
			j.join(r, names)
			delete(pages, stem)
		case !r.State.Finished() || time.Since(r.Finished) < followFor:
			j.join(r, j.shownBy(r))
		}
	}
	for dir, names := range others {
		top, _ := j.folder(names[0])
		if _, folder := j.pageOf(names[0]); top == "" || folder == "" && !export.ForNote(dir) || time.Since(j.last[dir]) > j.settings.Vault.StallPeriod.Std() {
			continue
		}
		for _, name := range names {
			j.wait(name, "waits for the page or note that "+path.Base(dir)+" belongs to")
		}
	}
}

// pageOf returns the page that a file was saved with, without its extension, and the folder of its files; "" if it is in no such folder.
func (j *judging) pageOf(name string) (page, folder string) {
	for dir := path.Dir(path.Dir(name)); vault.Within(dir, j.settings.Vault.ImportDir); dir = path.Dir(dir) {
		if p, f, ok := export.PageOf(name, dir); ok {
			page, folder = p, f
		}
	}
	return page, folder
}

// wait leaves a file for the next look, and reports once what it waits for.
func (j *judging) wait(name, reason string) {
	p, ok := j.left[name]
	delete(j.left, name)
	if !ok || p.told == reason {
		return
	}
	p.told = reason
	j.pending[name] = p
	if err := j.journal.Imports.Arriving(j.ctx, name, engine.ImportReceiving, p.Size, reason, time.Now()); err != nil {
		j.log.Warn("file not listed", "name", name, "err", err)
	}
}

// shownBy lists the files that the note of an import shows.
func (j *judging) shownBy(r engine.ImportRecord) (shown []string) {
	dir := path.Dir(r.Source)
	if !export.IsNote(r.Source) && path.Ext(r.Source) != ".zip" || !vault.Within(dir, j.settings.Vault.ImportDir) {
		return nil
	}
	links, known := j.links[r.ID]
	if !known {
		if had, err := j.original(r); err == nil {
			if at := slices.IndexFunc(had.Names, func(name string) bool { return export.IsNote(name) && beside(r.Source, name) }); at >= 0 {
				links = packing.LinksOf(had.Open, had.Names[at])
			}
			had.Close()
		}
		j.links[r.ID] = links
	}
	if len(links) == 0 {
		return nil
	}
	var names []string
	for name := range j.left {
		if strings.HasPrefix(name, dir+"/") && !export.IsNote(name) {
			names = append(names, strings.TrimPrefix(name, dir+"/"))
		}
	}
	mentioned := map[int]bool{}
	export.New(names).Mentions(links, path.Base(r.Source), mentioned)
	for i, embedded := range mentioned {
		if embedded {
			shown = append(shown, path.Join(dir, names[i]))
		}
	}
	return shown
}

// beside reports whether a file of an import's original is the page or note with the import's name.
func beside(source, name string) bool {
	base := path.Base(source)
	return strings.TrimSuffix(name, path.Ext(name)) == strings.TrimSuffix(base, path.Ext(base))
}

// join makes a group of files that complete an import, unless something is still under way.
func (j *judging) join(r engine.ImportRecord, names []string) {
	stem := strings.TrimSuffix(r.Source, path.Ext(r.Source))
	made := group{dir: path.Dir(r.Source), zip: stem + ".zip", onto: r}
	news := time.Time{}
	for _, name := range names {
		if p, ok := j.left[name]; ok {
			made.files = append(made.files, p.Arrival)
			if last := j.last[path.Dir(name)]; last.After(news) {
				news = last
			}
		}
	}
	if len(made.files) == 0 {
		return
	}
	slices.SortFunc(made.files, func(a, b disk.Arrival) int { return strings.Compare(a.Name, b.Name) })
	had, err := j.original(r)
	if err != nil {
		return // it was moved or removed: the files are imported by themselves
	}
	defer had.Close()
	at := slices.IndexFunc(had.Names, func(name string) bool { return beside(r.Source, name) && (export.IsPage(name) || export.IsNote(name)) })
	if at < 0 {
		return // another archive of this name
	}
	if r.Held {
		if sum, size, err := j.sum(r.Source); err == nil && sum == r.SHA256 {
			made.files = append([]disk.Arrival{{Name: r.Source, State: disk.StateReady, SHA256: sum, Size: size}}, made.files...)
		}
	}
	busy := j.busy[made.zip] > 0
	j.more[made.zip] = j.more[made.zip] || busy
	switch still := time.Since(news); {
	case busy || !r.State.Finished() || still < j.settings.Vault.QuietPeriod.Std(),
		still < j.settings.Vault.StallPeriod.Std() && j.lacks(path.Join(made.dir, had.Names[at]), had, made.files):
		for _, name := range names {
			j.wait(name, "waits for other files of "+path.Base(stem))
		}
	default:
		j.take(made, false)
	}
}

// lacks reports whether a page names files that were saved with it and are not there yet.
func (j *judging) lacks(page string, had packing.Source, files []disk.Arrival) bool {
	if !export.IsPage(page) {
		return false
	}
	f, err := had.Open(path.Base(page))
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, packing.MaxNoteText))
	if err != nil {
		return false
	}
	dir := path.Dir(page)
	return slices.ContainsFunc(export.Named(page, text), func(name string) bool {
		return !slices.Contains(had.Names, packing.NameOf(strings.TrimPrefix(name, dir+"/"))) &&
			!slices.ContainsFunc(files, func(a disk.Arrival) bool { return a.Name == name })
	})
}

// original opens the files that an import was made of.
func (g *groups) original(r engine.ImportRecord) (packing.Source, error) {
	m, err := manifestIn(g.vault, r.Bundle)
	if err == nil && m.Import.ID == r.ID && m.KeepsMember() {
		at, out := map[string]string{}, packing.Source{Close: func() {}}
		for _, member := range m.Members {
			name := packing.NameOf(member.SourceName())
			at[name], out.Names = path.Join(r.Bundle, member.Path), append(out.Names, name)
		}
		out.Open = func(name string) (fs.File, error) { return g.vault.FS().Open(at[name]) }
		return out, nil
	}
	filed := func(string) (fs.File, error) { return g.vault.FS().Open(cmp.Or(r.Filed, r.Source)) }
	f, err := filed("")
	if err != nil {
		return packing.Source{}, err
	}
	if path.Ext(r.Source) == ".zip" {
		return packing.Members(f)
	}
	return packing.Source{Names: []string{path.Base(r.Source)}, Open: filed, Close: func() {}}, f.Close()
}

// contents returns the files of a group's archive and how to open them: those that have arrived, and those of the import that they
// complete.
func (g *groups) contents(made group) (files []packing.File, open packing.Opener, done func(), err error) {
	here := map[string]bool{}
	for _, a := range made.files {
		name := strings.TrimPrefix(a.Name, made.dir+"/")
		files, here[name] = append(files, packing.File{Name: name, Want: a.SHA256}), true
	}
	arrived := func(name string) (fs.File, error) { return g.vault.FS().Open(path.Join(made.dir, name)) }
	if made.onto.ID == "" {
		return files, arrived, func() {}, nil
	}
	had, err := g.original(made.onto)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, name := range had.Names {
		if !here[name] {
			files = append(files, packing.File{Name: name})
		}
	}
	slices.SortFunc(files, func(a, b packing.File) int { return strings.Compare(a.Name, b.Name) })
	return files, func(name string) (fs.File, error) {
		if here[name] {
			return arrived(name)
		}
		return had.Open(name)
	}, had.Close, nil
}
