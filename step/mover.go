package step

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step/relink"
	"github.com/vaultflow/vaultflow/vault"
)

// Mover moves files, and imported documents as one, and lets links follow them.
type Mover struct{ Changes *change.Maker }

// Request returns the request to the gate for a move: permissions.write must cover the file at both places, of a document every file.
func (m Mover) Request(s Context, who policy.Writer, c engine.Change) policy.Request {
	ask := s.Asking(who, c.Name, c.To)
	if c.Note == "" {
		return ask
	}
	ask.Permitted, ask.ToPermitted = s.permitted(path.Join(c.Name, c.Note)), s.permitted(path.Join(c.To, c.NoteTo))
	for name, is := range m.files(c) {
		ask.Permitted.Allowed = ask.Permitted.Allowed && s.permitted(name).Allowed
		ask.ToPermitted.Allowed = ask.ToPermitted.Allowed && s.permitted(is).Allowed
	}
	return ask
}

// files returns the files that a move moves, with their new names. Of one that was made it returns the same.
func (m Mover) files(c engine.Change) map[string]string {
	if c.Note == "" {
		return map[string]string{c.Name: c.To}
	}
	files := map[string]string{}
	//nolint:errcheck // the walker returns no error
	fs.WalkDir(m.Changes.FS, c.Name, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name] = c.NameAfter(name)
		}
		return nil
	})
	if len(files) > 0 {
		return files
	}
	back := moveBack(c)
	//nolint:errcheck // as above
	fs.WalkDir(m.Changes.FS, c.To, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[back.NameAfter(name)] = name
		}
		return nil
	})
	return files
}

func moveBack(c engine.Change) engine.Change {
	return engine.Change{Kind: engine.ChangeMove, Name: c.To, To: c.Name, Note: c.NoteTo, NoteTo: c.Note}
}

// Plan returns the move of a file to a new name, which has no extension, or ends with a / if only the folder changes. If the file is
// the note of an imported document, the document moves. A name that is taken gets a number. The change is zero if the file is there
// already.
func (m Mover) Plan(from, to string, taken func(name string) bool) (engine.Change, error) {
	c := engine.Change{Kind: engine.ChangeMove, Name: from}
	ext := path.Ext(from)
	if dir := m.Changes.DocumentOf(from); dir != "" {
		c.Name, ext = dir, ""
	}
	if folder, keeps := strings.CutSuffix(to, "/"); keeps {
		to = path.Join(folder, path.Base(c.Name))
	} else if !strings.EqualFold(path.Ext(to), ext) || ext == "" {
		to += ext
	}
	if ext != "" && len(path.Base(to)) > vault.MaxPartBytes {
		return c, failure.New(failure.Output, "shorten it", "the name %s is too long", to)
	}
	for n := 1; n <= maxNumber; n++ {
		c.To = numberedStem(to, ext, n)
		if c.To == c.Name {
			return engine.Change{}, nil
		}
		place := policy.Look(m.Changes.FS, c.To)
		if place.Exists && place.Name != c.Name || taken != nil && taken(c.To) {
			continue
		}
		return m.identified(c)
	}
	return c, failure.New(failure.Output, "move the old files", "%s and %d more names are taken", to, maxNumber-1)
}

func numberedStem(name, ext string, n int) string {
	if n < 2 {
		return name
	}
	return fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), n, ext)
}

// Identified returns the move of a file to a whole name, or of an imported document, given by its note, to a folder.
func (m Mover) Identified(from, to string) (engine.Change, error) {
	c := engine.Change{Kind: engine.ChangeMove, Name: from, To: to}
	if dir := m.Changes.DocumentOf(from); dir != "" {
		c.Name = dir
	}
	return m.identified(c)
}

// identified adds the digests to a move, and the names of a document's note.
func (m Mover) identified(c engine.Change) (engine.Change, error) {
	note, digest := m.Changes.Document(c.Name)
	if note == "" {
		digest, err := m.Changes.Digest(c.Name)
		if err != nil || digest == "" {
			return c, failure.New(failure.Output, "", "%s is not there any more", c.Name)
		}
		c.Before, c.After = digest, digest
		return c, nil
	}
	c.Note, c.NoteTo = note, note
	if note != vault.FormerNote {
		plain := manifest.NoteFor(c.To)
		c.NoteTo = plain
		for n := 2; c.NoteTo != note && policy.Look(m.Changes.FS, path.Join(c.Name, c.NoteTo)).Exists; n++ {
			c.NoteTo = vault.Numbered(plain, n)
		}
	}
	c.Before, c.After = digest, m.Changes.DocumentAs(c.Name, c.NoteTo)
	return c, nil
}

// linking is a look at the links of a vault in which files move.
type linking struct {
	Mover
	moves *relink.Moves
	back  map[string]string // names before the moves, by those that the files have now
	names []string          // of the files that can have links, as they are now
}

// linking reads the vault's names. The moves are made already, or are about to be. No link that has to follow means the fresh files.
func (m Mover) linking(c engine.Change, fresh []string) linking {
	l := linking{Mover: m, back: map[string]string{}}
	files := m.files(c)
	var before []string
	made := false
	for was, is := range files {
		if _, err := fs.Stat(m.Changes.FS, was); err != nil {
			l.back[is], made = was, true
		}
	}
	if c.Note == "" && !made && policy.FoldName(c.Name) == policy.FoldName(c.To) && !m.listed(c.Name) {
		l.back[c.To] = c.Name
	}
	//nolint:errcheck // the walker returns no error
	fs.WalkDir(m.Changes.FS, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // an unreadable folder has no links that anybody sees
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		if !slices.Contains(fresh, name) {
			before = append(before, l.was(name))
		}
		if relink.Has(name) {
			l.names = append(l.names, name)
		}
		return nil
	})
	l.moves = relink.New(before, files, fresh...)
	return l
}

// listed reports whether a folder has a file with just this name.
func (m Mover) listed(name string) bool {
	entries, err := fs.ReadDir(m.Changes.FS, path.Dir(name))
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == path.Base(name) })
}

func (l linking) was(name string) string {
	if was, moved := l.back[name]; moved {
		return was
	}
	return name
}

// Linked returns the files with links that a move changes, under the names that they will have.
func (m Mover) Linked(c engine.Change) []string {
	l := m.linking(c, nil)
	var list []string
	for _, name := range l.names {
		data, _, err := m.Changes.Vault.Read(name, m.Changes.MaxText)
		if err == nil && l.moves.Rewrite(l.was(name), data).Links > 0 && m.follows(name) {
			list = append(list, l.moves.To(name))
		}
	}
	return list
}

// follows reports whether links in a file may be rewritten.
func (m Mover) follows(name string) bool {
	r := policy.Request{Writer: policy.ByOutput, Action: policy.Change, Place: policy.Look(m.Changes.FS, name), Links: true}
	return m.Changes.Gate.Decide(r).Verdict == policy.VerdictAllowed
}

// Make makes a move, and then changes the links. Called again after a crash it makes what is missing. It returns the changes, also with
// an error. The fresh files came into the vault just before, so that no link means them.
func (m Mover) Make(ctx context.Context, by change.Author, call string, c engine.Change, said string, fresh ...string) (made []engine.Change, warnings []string, err error) {
	done, err := m.moved(ctx, by, call, c)
	if err != nil {
		return nil, nil, err
	}
	if !done {
		if err := m.Changes.Make(ctx, by, call, c, said); err != nil {
			return nil, nil, err
		}
	}
	links, warnings, err := m.Follow(ctx, by, call, c, fresh...)
	return append([]engine.Change{c}, links...), warnings, err
}

// moved reports whether an earlier attempt has made a move, and completes its record.
func (m Mover) moved(ctx context.Context, by change.Author, call string, c engine.Change) (bool, error) {
	if m.Changes.Record == nil {
		return false, nil
	}
	before, made, err := m.Changes.Record.Latest(ctx, by.Ref, call)
	if errors.Is(err, engine.ErrNotFound) || err == nil && (before.Name != c.Name || before.To != c.To) {
		return false, nil
	}
	if err != nil || made {
		return made, err
	}
	at, err := change.StateOf(before, m.Changes.Digest)
	if err != nil || at != change.After {
		return false, err
	}
	return true, m.Changes.Made(ctx, by.Ref, call, before)
}

// Follow changes the links to what a move has moved, in every note, canvas and base. It returns what it changed, and what it did not.
func (m Mover) Follow(ctx context.Context, by change.Author, call string, c engine.Change, fresh ...string) (made []engine.Change, warnings []string, err error) {
	l := m.linking(c, fresh)
	for _, name := range l.names {
		if err := ctx.Err(); err != nil {
			return made, warnings, fmt.Errorf("follow links: %w", err)
		}
		one, warning, err := l.follow(ctx, by, call+":links:"+name, name)
		if err != nil {
			return made, warnings, err
		}
		if one.Name != "" {
			made = append(made, one)
		}
		if warning != "" {
			warnings = append(warnings, warning)
		}
	}
	return made, append(warnings, l.workflows(c)...), nil
}

// maxFollows is how often the links of a file are rewritten while somebody else changes it.
const maxFollows = 5

// follow changes the links of one file.
func (l linking) follow(ctx context.Context, by change.Author, call, name string) (made engine.Change, warning string, err error) {
	data, digest, err := l.Changes.Vault.Read(name, l.Changes.MaxText)
	if err != nil {
		return made, "", nil //nolint:nilerr // too large, or gone: it has no links that anybody sees
	}
	result := l.moves.Rewrite(l.was(name), data)
	if len(result.Lost) > 0 {
		warning = fmt.Sprintf("%s: no link can name a file with this new name: %s", name, strings.Join(result.Lost, ", "))
	}
	before, wrote, err := l.Changes.Record.Latest(ctx, by.Ref, call)
	switch {
	case errors.Is(err, engine.ErrNotFound):
	case err != nil:
		return made, "", err
	case wrote:
		return before, "", nil
	case before.After == digest:
		return before, "", l.Changes.Record.Made(ctx, by.Ref, call, true)
	}
	for range maxFollows {
		if result.Links == 0 {
			return engine.Change{}, warning, nil
		}
		made = engine.Change{Kind: engine.ChangeWrite, Name: name, Before: digest, Links: result.Links}
		if made.After, err = l.Changes.Blobs.Put(ctx, result.Data); err != nil {
			return engine.Change{}, "", err
		}
		author := change.Author{Ref: by.Ref, Ask: policy.Request{Writer: policy.ByOutput}}
		if l.Changes.Origin != nil {
			from, err := l.Changes.Origin.Of(ctx, name)
			if err != nil {
				return engine.Change{}, "", err
			}
			author.Shown = from.Origins // the text stays what it is made from
		}
		err = l.Changes.Make(ctx, author, call, made, "")
		if !errors.Is(err, vault.ErrConflict) {
			break
		}
		if data, digest, err = l.Changes.Vault.Read(name, l.Changes.MaxText); err != nil {
			return engine.Change{}, "", nil //nolint:nilerr // as above
		}
		result = l.moves.Rewrite(l.was(name), data)
	}
	switch {
	case err == nil:
		return made, warning, nil
	case failure.IsTransient(err) || ctx.Err() != nil:
		return engine.Change{}, "", err
	case failure.Of(err).Code == failure.Permission:
		return engine.Change{}, "", nil // named among the workflows, or where nobody has links
	}
	return engine.Change{}, fmt.Sprintf("the links in %s were not changed: %v", name, err), nil
}

// workflows returns a warning for each workflow that names what moved. Its paths decide what it reads and writes: only the user
// changes them.
func (l linking) workflows(c engine.Change) []string {
	dir := l.Changes.Gate.WorkflowsDir
	if dir == "" {
		dir = "Workflows"
	}
	old := vault.Fold(strings.TrimSuffix(c.Name, ".md"))
	var list []string
	for _, name := range l.names {
		if !vault.Within(name, dir) || vault.Within(name, path.Join(dir, policy.ApprovalsDir)) {
			continue
		}
		data, _, err := l.Changes.Vault.Read(name, l.Changes.MaxText)
		if err == nil && (strings.Contains(vault.Fold(string(data)), old) || l.moves.Rewrite(l.was(name), data).Links > 0) {
			list = append(list, fmt.Sprintf("%s names %s, which is %s now: change it there yourself", name, c.Name, c.To))
		}
	}
	return list
}
