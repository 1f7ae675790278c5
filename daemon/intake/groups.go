package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/daemon/intake/packing"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/local"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/export"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// Bounds of what is packed. They are those of an archive that is imported.
const (
	maxPacked     = 10_000
	maxPackedFile = 256 << 20
	maxPackedSize = 2 << 30
)

// judgeAfter is how long files that are ready wait for others before they are judged together. Those that the watcher knows to be on their way
// are waited for as long as they take.
const judgeAfter = 10 * time.Millisecond

// groups finds files of the import folder that are imported together: a folder that was dropped with Markdown notes, a note with
// the pictures that it shows, a web page with the files saved with it, and a document that is a folder. Each group is packed into a ZIP archive in the import folder, which is imported in its place. The files
// are removed once that import has ended, so a crash at any point loses none; they are then packed again, to the same bytes. If it comes
// while they are removed, what is left is in the bundle, and is removed too.
//
// Folders into which people drop one file after another are no groups: those with settings of their own, those below which files were
// imported by themselves before, and those that were empty when serve began.
type groups struct {
	watcher  *disk.Watcher
	settings *settings.Settings
	vault    *disk.Vault
	files    vault.Files
	imports  *Imports
	journal  *journal.Journal
	exec     *local.Executor
	log      *slog.Logger

	wake   chan struct{}                                    // a group has ended
	empty  map[string]bool                                  // folders of the import folder that had no file when serve began
	before map[string]bool                                  // files of the import folder when serve began
	told   map[string]string                                // digests of the files that the watcher has said are ready
	last   map[string]time.Time                             // when there was news below a folder of the import folder
	links  map[string][]export.Link                         // of notes, by digest
	refuse map[string]bool                                  // dropped folders that are too large to be packed
	leave  func(context.Context, engine.ImportRecord) error // ends the hold of a file

	mu      sync.Mutex
	pending map[string]pending // files that are ready and not judged yet, guarded by mu
	busy    map[string]int     // how many groups under way have a file, or are of a folder or archive, guarded by mu
	more    map[string]bool    // archives of groups under way for which more files have come, guarded by mu
}

// pending is a file that waits for others.
type pending struct {
	disk.Arrival
	since time.Time
	told  string // what it waits for, if that was reported
}

// group is what is packed.
type group struct {
	dir   string // that the names in the archive begin at
	zip   string // below the import folder
	top   string // the dropped folder; empty if only files of dir were dropped
	files []disk.Arrival
	done  bool                // an earlier serve imported them, and did not remove all of them
	onto  engine.ImportRecord // the import that they complete; none has no id
}

// begin notes which folders are empty, and which files there are.
func (g *groups) begin() {
	full := map[string]bool{}
	var folders []string
	dir := g.settings.Vault.ImportDir
	_ = fs.WalkDir(g.vault.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read is not known to be empty
		case d.IsDir():
			folders = append(folders, name)
		case !strings.EqualFold(d.Name(), ".DS_Store"):
			g.before[name] = true
			for up := path.Dir(name); vault.Within(up, dir); up = path.Dir(up) {
				full[up] = true
			}
		}
		return nil
	})
	for _, name := range folders {
		g.empty[name] = !full[name]
	}
}

// takes takes a file that is ready, and reports whether it did. Its import begins when judge has decided how.
func (g *groups) takes(news disk.Arrival) bool {
	for dir := path.Dir(news.Name); vault.Within(dir, g.settings.Vault.ImportDir); dir = path.Dir(dir) {
		g.last[dir] = time.Now()
		delete(g.refuse, dir)
	}
	if news.State != disk.StateReady || news.Followed {
		return false
	}
	g.told[news.Name] = news.SHA256
	if g.imports.isClaimed(news.Name) {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pending[news.Name] = pending{Arrival: news, since: time.Now()}
	return true
}

// again is how long it takes until the files that wait are to be judged again; false if none waits.
func (g *groups) again() (time.Duration, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.settings.Vault.QuietPeriod.Std() / 4, len(g.pending) > 0
}

// rouse has the files that wait judged again.
func (g *groups) rouse() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// judging is one look at the files that are ready.
type judging struct {
	*groups
	ctx       context.Context //nolint:containedctx // it lives as long as one call of judge
	receiving []string
	places    map[string]place
	left      map[string]pending
	singles   []disk.Arrival
	made      []group
	refused   []disk.Arrival // files of folders that are not packed, with why
}

// judge decides about the files that are ready. Those that it does not return wait, and so do the refused.
func (g *groups) judge(ctx context.Context) (singles []disk.Arrival, made []group, refused []disk.Arrival) {
	g.mu.Lock()
	defer g.mu.Unlock()
	j := &judging{groups: g, ctx: ctx, places: map[string]place{}, left: map[string]pending{}}
	maps.Copy(j.left, g.pending)
	told := map[string]string{}
	for _, a := range g.watcher.Status().Waiting {
		digest, known := g.told[a.Name]
		if known {
			told[a.Name] = digest
		}
		if !a.Followed && (a.State == disk.StateReceiving || a.State == disk.StateReady && digest != a.SHA256) { // on its way, if only from the watcher
			j.receiving = append(j.receiving, a.Name)
		}
	}
	g.told = told
	j.documents()
	j.pages()
	j.notes()
	j.late()
	j.folders()
	for _, a := range j.singles {
		delete(g.pending, a.Name)
	}
	for _, made := range j.made {
		g.busy[made.top]++
		g.busy[made.zip]++
		for _, a := range made.files {
			delete(g.pending, a.Name)
			g.busy[a.Name]++
		}
	}
	if len(g.pending) == 0 {
		clear(g.links)
	}
	return j.singles, j.made, j.refused
}

// place is what a folder of the import folder is for.
type place int

const (
	dropped   place = iota // it arrived with its files
	standing               // people drop one file after another into it
	container              // it holds the files of an archive or message, whose note links to their bundles
)

// folder returns the outermost folder of a file that was dropped as a whole, or "". contained reports whether the file came in an
// archive or message instead.
func (j *judging) folder(name string) (top string, contained bool) {
	dir := j.settings.Vault.ImportDir
	for part := range strings.SplitSeq(strings.TrimPrefix(path.Dir(name), dir), "/") {
		if part == "" {
			continue
		}
		dir = path.Join(dir, part)
		switch j.place(dir) {
		case dropped:
			return dir, false
		case container:
			return "", true
		}
	}
	return "", false
}

func (j *judging) place(dir string) place {
	known, ok := j.places[dir]
	if !ok {
		known = j.findPlace(dir)
		j.places[dir] = known
	}
	return known
}

func (j *judging) findPlace(dir string) place {
	below := strings.TrimPrefix(dir, j.settings.Vault.ImportDir+"/")
	bundle, isBundle := path.Join(j.settings.Vault.ImportedDir, below), false
	for i, name := range manifest.UnpackedFrom(below) {
		m, err := manifestIn(j.vault, path.Join(j.settings.Vault.ImportedDir, name))
		if err == nil && len(m.Children) > 0 {
			return container
		}
		isBundle = isBundle || i == 0 && !errors.Is(err, fs.ErrNotExist)
	}
	if isBundle {
		return dropped // the next version of a folder
	}
	if info, err := fs.Stat(j.vault.FS(), bundle); err == nil && info.IsDir() || j.empty[dir] {
		return standing
	}
	for _, name := range []string{config.FolderFile, strings.TrimSuffix(config.FolderFile, ".yaml") + ".yml"} {
		if _, err := fs.Stat(j.vault.FS(), path.Join(dir, name)); err == nil {
			return standing
		}
	}
	return dropped
}

// linksOf returns the links of a note.
func (j *judging) linksOf(a disk.Arrival) []export.Link {
	links, ok := j.links[a.SHA256]
	if !ok {
		links = packing.LinksOf(j.vault.FS().Open, a.Name)
		j.links[a.SHA256] = links
	}
	return links
}

// notes finds the notes outside of dropped folders that show files which arrive with them.
func (j *judging) notes() {
	byDir := map[string][]string{}
	for name := range j.left {
		if !export.IsNote(name) {
			continue
		}
		if top, contained := j.folder(name); top == "" && !contained {
			byDir[path.Dir(name)] = append(byDir[path.Dir(name)], name)
		}
	}
	for dir, notes := range byDir {
		slices.Sort(notes)
		j.notesIn(dir, notes)
	}
}

func (j *judging) notesIn(dir string, notes []string) {
	var names []string
	for _, name := range append(slices.Sorted(maps.Keys(j.left)), j.receiving...) {
		if strings.HasPrefix(name, dir+"/") && !export.IsNote(name) {
			names = append(names, strings.TrimPrefix(name, dir+"/"))
		}
	}
	tree := export.New(names)
	shared := map[string]bool{}
	for _, note := range notes {
		a := j.left[note].Arrival
		shown := map[int]bool{}
		tree.Mentions(j.linksOf(a), path.Base(note), shown)
		made := group{dir: dir, files: []disk.Arrival{a}, zip: strings.TrimSuffix(note, path.Ext(note)) + ".zip"}
		waits := false
		for i, embedded := range shown {
			if !embedded {
				continue
			}
			name := path.Join(dir, names[i])
			shared[name] = true
			p, ready := j.left[name]
			waits = waits || !ready
			made.files = append(made.files, p.Arrival)
		}
		switch {
		case waits:
		case j.remains(made):
			made.done = true
			j.made = append(j.made, made)
		case len(made.files) == 1 || !j.fits(made) || j.written(made):
			j.singles = append(j.singles, a)
		default:
			j.made = append(j.made, made)
		}
		delete(j.left, note)
	}
	for name := range shared {
		delete(j.left, name)
	}
}

// folders judges the files of dropped folders, and all that are left.
func (j *judging) folders() {
	in := map[string][]disk.Arrival{}
	for name, p := range j.left {
		top, _ := j.folder(name)
		if top == "" && j.noteComing(name) {
			continue
		}
		in[top] = append(in[top], p.Arrival)
	}
	for top, files := range in {
		slices.SortFunc(files, func(a, b disk.Arrival) int { return strings.Compare(a.Name, b.Name) })
		if top == "" {
			j.singles = append(j.singles, files...)
			continue
		}
		j.dropped(top, files)
	}
}

// noteComing reports whether a note is still being received that may show this file.
func (j *judging) noteComing(name string) bool {
	return slices.ContainsFunc(j.receiving, func(n string) bool { return export.IsNote(n) && n != name && vault.Within(name, path.Dir(n)) })
}

// dropped judges a dropped folder.
func (j *judging) dropped(top string, files []disk.Arrival) {
	if j.busy[top] > 0 || j.refuse[top] {
		return
	}
	under := func(name string) bool { return strings.HasPrefix(name, top+"/") }
	coming := slices.ContainsFunc(j.receiving, under)
	notes := slices.ContainsFunc(files, func(a disk.Arrival) bool { return export.IsNote(a.Name) })
	notesComing := slices.ContainsFunc(j.receiving, func(n string) bool { return under(n) && export.IsNote(n) }) || j.noteComing(files[0].Name)
	made := group{dir: top, top: top, files: files, zip: top + ".zip"}
	switch {
	case coming && (notes || notesComing), !notes && notesComing:
		return
	case j.remains(made):
		made.done = true
		j.made = append(j.made, made)
		return
	case !notes && coming && time.Since(j.pending[files[0].Name].since) < j.settings.Vault.StallPeriod.Std():
		return // a note may follow
	case !notes:
		j.singles = append(j.singles, files...)
		return
	case time.Since(j.last[top]) < j.settings.Vault.QuietPeriod.Std():
		return
	}
	names := make([]string, len(files))
	digests := map[string]disk.Arrival{}
	for i, a := range files {
		names[i] = strings.TrimPrefix(a.Name, top+"/")
		digests[names[i]] = a
	}
	found := packing.Look(names, func(name string) []export.Link { return j.linksOf(digests[name]) })
	switch {
	case len(files) == 1 || !found.Tree.Together(found.Mentioned) || j.written(made):
		j.singles = append(j.singles, files...)
	case j.fits(made):
		j.made = append(j.made, made)
	default:
		for _, a := range files {
			a.State, a.Reason = disk.StateRefused, fmt.Sprintf("the folder holds notes, and is too large to be imported as a whole (%d files): raise ingestion.max_file_size, or drop its folders one at a time", len(files))
			j.refused = append(j.refused, a)
		}
		j.refuse[top] = true
	}
}

// written reports whether a run wrote one of the files. They are imported one by one, so that the loop guard recognises them.
func (j *judging) written(made group) bool {
	return slices.ContainsFunc(made.files, func(a disk.Arrival) bool {
		writers, err := j.journal.Memory.Writers(j.ctx, a.Name, a.SHA256)
		return err != nil || len(writers) > 0
	})
}

// remains reports whether the files are what is left of a group that an earlier serve imported: all of them are in its bundle.
func (j *judging) remains(made group) bool {
	if slices.ContainsFunc(made.files, func(a disk.Arrival) bool { return !j.before[a.Name] }) {
		return false
	}
	rel := strings.TrimPrefix(made.zip, j.settings.Vault.ImportDir+"/")
	m, err := manifestIn(j.vault, path.Join(j.settings.Vault.ImportedDir, strings.TrimSuffix(rel, path.Ext(rel))))
	if err != nil || m.Source.Path != made.zip {
		return false
	}
	in := map[string]string{}
	for _, member := range m.Members {
		in[member.SourceName()] = cmp.Or(member.Source, member.SHA256)
	}
	if len(in) == 0 {
		r, err := j.journal.Imports.Get(j.ctx, m.Import.ID)
		had, bad := j.original(r)
		if err != nil || bad != nil {
			return false
		}
		in = had.Digests()
		had.Close()
	}
	return !slices.ContainsFunc(made.files, func(a disk.Arrival) bool {
		return in[packing.NameOf(strings.TrimPrefix(a.Name, made.dir+"/"))] != a.SHA256
	})
}

// fits reports whether the group can be packed within the limits.
func (j *judging) fits(made group) bool {
	total := int64(0)
	for _, a := range made.files {
		total += a.Size + 1024
		if a.Size > maxPackedFile {
			return false
		}
	}
	return len(made.files) <= maxPacked && total <= min(int64(j.settings.Ingestion.MaxFileSize), maxPackedSize) && j.vault.Takes(made.zip)
}

// carry packs a group, imports it, and removes its files.
func (g *groups) carry(ctx context.Context, made group) {
	now, err := g.carried(ctx, made)
	if err != nil && ctx.Err() == nil {
		g.log.Warn("files not imported together", "name", made.zip, "err", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy[made.top]--
	g.busy[made.zip]--
	delete(g.more, made.zip)
	for _, a := range made.files {
		g.busy[a.Name]--
		if g.busy[a.Name] > 0 || ctx.Err() != nil {
			continue
		}
		switch {
		case now[a.Name].Name != "":
			g.pending[a.Name] = pending{Arrival: now[a.Name], since: time.Now()}
		case err != nil:
			g.watcher.Release(a.Name)
		default:
			g.watcher.Done(a.Name)
		}
	}
}

// carried returns the files as they are now if some have come or changed meanwhile, so that they have to be packed again.
func (g *groups) carried(ctx context.Context, made group) (now map[string]disk.Arrival, err error) {
	for _, a := range made.files {
		if err := g.journal.Imports.Gone(ctx, a.Name); err != nil {
			return nil, err
		}
	}
	if made.done {
		return nil, g.clear(ctx, made)
	}
	files, open, done, err := g.contents(made)
	if err != nil {
		return nil, err
	}
	defer done()
	if made.onto.Held {
		if err := g.leave(ctx, made.onto); err != nil {
			return nil, err
		}
	}
	archive := packing.Piped(func(w io.Writer) error { return packing.Write(ctx, w, open, files) })
	defer archive.Close()
	run, err := g.imports.drop(ctx, archive, strings.TrimPrefix(made.zip, g.settings.Vault.ImportDir+"/"), request{})
	if err != nil {
		return nil, err
	}
	ended, err := g.exec.Wait(ctx, run)
	if err != nil {
		return nil, err
	}
	if mayPass(ended) {
		return nil, fmt.Errorf("the import is postponed: %s", ended.Failure.Message)
	}
	if kept, err := g.kept(ctx, run); err != nil || !kept {
		return nil, err // the files stay, and are left alone
	}
	if err := pause(ctx, g.settings.Vault.HoldPeriod.Std()); err != nil {
		return nil, err
	}
	now, changed, err := g.present(made)
	if err != nil {
		return nil, err
	}
	if !changed && !g.moreCame(made) {
		return nil, g.clear(ctx, made)
	}
	for { // the watcher says nothing of a file that it has handed out: wait here until nobody writes
		if err := pause(ctx, g.settings.Vault.QuietPeriod.Std()); err != nil {
			return nil, err
		}
		before := now
		if now, _, err = g.present(made); err != nil || maps.Equal(before, now) {
			return now, err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// present returns the files of a group that are still there, as they are now, and whether one of them has other bytes than were packed.
func (g *groups) present(made group) (now map[string]disk.Arrival, changed bool, err error) {
	now = map[string]disk.Arrival{}
	for _, a := range made.files {
		was := a.SHA256
		a.SHA256, a.Size, err = g.sum(a.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		now[a.Name] = a
		changed = changed || a.SHA256 != was
	}
	return now, changed, nil
}

func (g *groups) sum(name string) (digest string, size int64, err error) {
	f, err := g.vault.FS().Open(name)
	if err != nil {
		return "", 0, err
	}
	return packing.Sum(f)
}

// moreCame reports whether there are other files of the group than those that were packed.
func (g *groups) moreCame(made group) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if made.top == "" {
		return g.more[made.zip]
	}
	for name := range g.pending {
		if strings.HasPrefix(name, made.top+"/") {
			return true
		}
	}
	return slices.ContainsFunc(g.watcher.Status().Waiting, func(a disk.Arrival) bool {
		return a.State == disk.StateReceiving && strings.HasPrefix(a.Name, made.top+"/")
	})
}

// kept reports whether the content of a group's files is safe in the vault: in a bundle, or in the folder for failed files.
func (g *groups) kept(ctx context.Context, run string) (bool, error) {
	r, err := g.journal.Imports.Get(ctx, run)
	if err != nil {
		return false, err
	}
	switch r.State {
	case engine.ImportDone, engine.ImportPartial, engine.ImportDuplicate:
		return true, nil
	case engine.ImportFailed:
		_, err := fs.Stat(g.vault.FS(), r.Filed)
		return r.Filed != "" && err == nil, nil
	}
	return false, nil
}

// clear removes the files of an imported group. One that has changed stays: it is another file. A note goes after the pictures that
// it shows, so that none of them is left without it.
func (g *groups) clear(ctx context.Context, made group) error {
	var failed error
	for _, a := range slices.Backward(made.files) {
		g.mu.Lock()
		shared := g.busy[a.Name] > 1 // another note shows it too
		g.mu.Unlock()
		if shared {
			continue
		}
		if err := g.files.Remove(ctx, a.Name, a.SHA256); err != nil {
			if !errors.Is(err, vault.ErrConflict) {
				failed = err
			}
			continue
		}
		dir, top := path.Dir(a.Name), made.top
		if rel := strings.TrimPrefix(dir, made.dir+"/"); top == "" && dir != made.dir {
			first, _, _ := strings.Cut(rel, "/")
			top = path.Join(made.dir, first)
		}
		if top != "" {
			if err := g.files.RemoveEmptyFolders(dir, top); err != nil {
				failed = err
			}
		}
	}
	return failed
}
