package step

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step/cite"
	"github.com/vaultflow/vaultflow/step/parts"
)

// Follower makes the outputs of parts follow their documents.
type Follower struct {
	plans   *Plans
	changes *change.Maker
	memory  Memory
	library Library
}

// Follow removes the outputs of parts that are gone, and renumbers the links to pages that have moved. What somebody edited, or
// another note links to, stays. All changes are recorded like those of outputs, so that they can be undone.
func (f *Follower) Follow(ctx context.Context, in engine.FollowIn) (engine.FollowOut, error) {
	s, err := f.plans.Context(ctx, in.StepRef)
	if err != nil {
		return engine.FollowOut{}, err
	}
	w := &following{Follower: f, ref: in.StepRef, s: s, shelf: f.library.open(ctx, nil)}
	w.linkers = w.linksTo(in.Parts.Gone)
	for _, part := range in.Parts.Gone {
		if err := w.retire(ctx, part); err != nil {
			return w.out, err
		}
	}
	w.pages = pagesMoved(in.Parts.Moved)
	for _, part := range in.Parts.Moved {
		if err := w.renumber(ctx, part); err != nil {
			return w.out, err
		}
	}
	return w.out, nil
}

// following is one call of Follow.
type following struct {
	*Follower
	ref   engine.StepRef
	s     Context
	shelf *shelf
	out   engine.FollowOut

	linkers map[string][]string    // files with links to what may be removed, by its name
	pages   map[string]*movedPages // of documents
}

func (w *following) warn(format string, args ...any) {
	w.out.Warnings = append(w.out.Warnings, fmt.Sprintf(format, args...))
}

// movedPage is a page before and now.
type movedPage struct{ was, is parts.Page }

// movedPages are the pages of a document before and now.
type movedPages struct {
	pages  map[int]movedPage // by their numbers before
	called map[string]string // what they are called now, by what they were called before: their printed numbers, else their numbers
}

// pagesMoved returns the pages of documents.
func pagesMoved(moves []engine.PartMove) map[string]*movedPages {
	all := map[string]*movedPages{}
	called := func(p parts.Page) string { return cmp.Or(p.Label, strconv.Itoa(p.N)) }
	for _, m := range moves {
		if all[m.Document] == nil {
			all[m.Document] = &movedPages{map[int]movedPage{}, map[string]string{}}
		}
		for i := range min(len(m.Pages), len(m.Now.Pages)) {
			p := movedPage{m.Pages[i], m.Now.Pages[i]}
			all[m.Document].pages[p.was.N], all[m.Document].called[called(p.was)] = p, called(p.is)
		}
	}
	return all
}

// retire removes the files that were made of a part which is gone.
func (w *following) retire(ctx context.Context, part engine.PartState) error {
	for _, name := range slices.Sorted(maps.Keys(part.Files)) {
		call := "retire:" + name
		now, err := w.changes.Current(name)
		switch {
		case err != nil:
			w.warn("%s stays, although %s is gone: %v", name, part.Key(), err)
			continue
		case now == "":
			if err := w.made(ctx, call); err != nil { // by an attempt before
				return err
			}
			continue
		case now != part.Files[name]:
			w.warn("%s stays, although %s is gone: it was edited", name, part.Key())
			continue
		}
		if from := w.linkedFrom(name); from != "" {
			w.warn("%s stays, although %s is gone: %s links to it", name, part.Key(), from)
			continue
		}
		if err := w.change(ctx, call, engine.Change{Kind: engine.ChangeDelete, Name: name, Before: now}); err != nil {
			return err
		}
	}
	return w.memory.ForgetPart(ctx, w.ref, part)
}

// made completes the record of a change that an earlier attempt made.
func (w *following) made(ctx context.Context, call string) error {
	if w.changes.Record == nil {
		return nil
	}
	c, _, made, err := w.changes.Record.Intended(ctx, w.ref, call)
	if errors.Is(err, engine.ErrNotFound) {
		return nil
	}
	if err == nil && !made {
		err = w.changes.Record.Made(ctx, w.ref, call, true)
	}
	if err == nil {
		w.out.Changes = append(w.out.Changes, c)
	}
	return err
}

// change makes a change. What the gate or the vault refuses is a warning.
func (w *following) change(ctx context.Context, call string, c engine.Change) error {
	ask := w.s.Asking(policy.ByOutput, c.Name, "")
	ask.Own = true
	by := change.Author{Ref: w.ref, Ask: ask}
	if w.changes.Origin != nil && c.Kind == engine.ChangeWrite {
		from, err := w.changes.Origin.Of(ctx, c.Name)
		if err != nil {
			return err
		}
		by.Shown = from.Origins // the text stays what it is made from
	}
	if err := w.changes.Make(ctx, by, call, c, ""); err != nil {
		if ctx.Err() != nil {
			return err
		}
		w.warn("%s stays as it is: %v", c.Name, err)
		return nil
	}
	w.out.Changes = append(w.out.Changes, c)
	return nil
}

// linkedFrom returns a file that links to another one and is still there, or "".
func (w *following) linkedFrom(name string) string {
	for _, from := range w.linkers[name] {
		if !slices.ContainsFunc(w.out.Changes, func(c engine.Change) bool { return c.Kind == engine.ChangeDelete && c.Name == from }) {
			return from
		}
	}
	return ""
}

// linksTo finds the notes, canvases and bases that link to files of parts. It reads the vault once.
func (w *following) linksTo(list []engine.PartState) map[string][]string {
	forms := map[string][2][]byte{} // how a link may write a file's name
	for _, part := range list {
		for name := range part.Files {
			stem := strings.ToLower(strings.TrimSuffix(path.Base(name), path.Ext(name)))
			forms[name] = [2][]byte{[]byte(stem), []byte(strings.ReplaceAll(stem, " ", "%20"))}
		}
	}
	linkers := map[string][]string{}
	if len(forms) == 0 {
		return linkers
	}
	//nolint:errcheck // the walker returns no error
	fs.WalkDir(w.changes.FS, ".", func(from string, d fs.DirEntry, err error) error {
		ext := strings.ToLower(path.Ext(from))
		switch {
		case err != nil:
			return nil //nolint:nilerr // an unreadable folder has no links that anybody sees
		case d.IsDir() && from != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || ext != ".md" && ext != ".canvas" && ext != ".base":
			return nil
		}
		data, err := fs.ReadFile(w.changes.FS, from)
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		lower := bytes.ToLower(data)
		for name, form := range forms {
			if name == from || !bytes.Contains(lower, form[0]) && !bytes.Contains(lower, form[1]) {
				continue
			}
			if ext != ".md" && bytes.Contains(data, []byte(name)) || w.leadsTo(string(data), from, name) {
				linkers[name] = append(linkers[name], from)
			}
		}
		return nil
	})
	return linkers
}

var anyLink = regexp.MustCompile(`\[\[([^\[\]|#\n]+)|\]\(<?([^()<>#\n]+)`)

// leadsTo reports whether a text of a note has a link to a file.
func (w *following) leadsTo(text, note, name string) bool {
	for _, m := range anyLink.FindAllStringSubmatch(text, -1) {
		target := strings.TrimSuffix(m[1]+strings.ReplaceAll(m[2], "%20", " "), `\`)
		if w.library.Links == nil {
			if strings.TrimSuffix(path.Base(target), ".md") == strings.TrimSuffix(path.Base(name), ".md") {
				return true
			}
		} else if loc := w.library.Links.Locate(strings.TrimSpace(target), note); loc.Found && loc.Name == name {
			return true
		}
	}
	return false
}

var pageNumber = regexp.MustCompile(`(?i)\b(?:pp?\.|pages?)[ \x{a0}]*\d|#page=\d|#\^p\d`)

// renumber moves the links of a part's unedited outputs to where its pages are now, and names the other outputs that have page
// numbers. Nothing else of the part has changed.
func (w *following) renumber(ctx context.Context, part engine.PartMove) error {
	state := part.PartState
	state.Part, state.Files = part.Now, maps.Clone(part.Files)
	for _, name := range part.Others {
		if data, _, err := w.changes.Vault.Read(name, w.changes.MaxText); err == nil && pageNumber.Match(data) {
			w.warn("the pages of %s moved; the page numbers in %s were not changed, because it is not written as a whole for this part alone", part.Document, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(part.Files)) {
		data, now, err := w.changes.Vault.Read(name, w.changes.MaxText)
		if err != nil {
			continue // it is gone: there is nothing to renumber
		}
		text := w.moved(part.Document, name, string(data))
		switch {
		case text == string(data) && (w.s.Step.Cite != nil || !pageNumber.Match(data)):
		case now != part.Files[name]:
			w.warn("the pages of %s moved; the page numbers in %s were not changed, because it was edited", part.Document, name)
		case w.s.Step.Cite == nil:
			w.warn("the pages of %s moved; the page numbers in %s were not changed, because they are no links of @cite", part.Document, name)
		default:
			digest, err := w.changes.Blobs.Put(ctx, []byte(text))
			if err != nil {
				return err
			}
			if err := w.change(ctx, "renumber:"+name, engine.Change{Kind: engine.ChangeWrite, Name: name, Before: now, After: digest}); err != nil {
				return err
			}
			state.Files[name] = digest
		}
	}
	return w.memory.Committed(ctx, w.ref, []engine.Mark{{Directive: engine.ForEachDirective, Name: state.Key(), SHA256: state.Digest(), Part: &state}}, nil)
}

// moved returns a text with its links to pages of a document moved.
func (w *following) moved(document, name, text string) string {
	w.shelf.output = name
	moved := w.pages[document]
	about := w.shelf.of(document)
	if about == nil {
		return text
	}
	return cite.Renumber(text, func(target string, page int, words string) (string, bool) {
		now, known := moved.pages[page]
		d, _ := w.shelf.Linked(target)
		if !known || now.is.N == page && now.is.Label == now.was.Label || d == nil || d.ID != about.ID {
			return "", false
		}
		return d.Link(now.is.N, moved.relabelled(words)), true
	})
}

var number = regexp.MustCompile(`[\p{L}\p{N}]+`)

// relabelled returns the words of a link with what its pages are called now.
func (m *movedPages) relabelled(words string) string {
	at := strings.LastIndex(words, "p. ")
	if at < 0 {
		return words
	}
	at += len("p. ")
	return words[:at] + number.ReplaceAllStringFunc(words[at:], func(n string) string { return cmp.Or(m.called[n], n) })
}
