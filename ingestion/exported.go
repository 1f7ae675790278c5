package ingestion

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/archive"
	"github.com/vaultflow/vaultflow/ingestion/charset"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/export"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/vault"
)

// Bounds of an export.
const (
	maxTree = 10_000   // files
	maxNote = 16 << 20 // bytes of a note
)

// exporting keeps the files of an archive that holds Markdown notes together: its tree becomes one bundle, in which the notes find
// their pictures and each other.
type exporting struct {
	w    *work
	walk func(ctx context.Context, visit func(archive.Member, io.Reader) error) error
}

// survey is what an archive holds, as found before anything is written.
type survey struct {
	tree  *export.Tree
	files map[int]int // by position in the archive
	left  leftovers

	together, notes, packed bool // they belong together; there is a note, an archive among them
	single                  int  // the only note, if it shows all other files; or -1
}

// leftovers are the files that stay in an archive, with why. Those of a hidden folder count as one.
type leftovers struct {
	lines  []string
	hidden map[string]int
	order  []string
}

func (l *leftovers) add(m archive.Member, why string) {
	if dir := hiddenFolder(m); dir != "" && why == whyHidden {
		if l.hidden == nil {
			l.hidden = map[string]int{}
		}
		if l.hidden[dir]++; l.hidden[dir] == 1 {
			l.order = append(l.order, dir)
		}
		return
	}
	l.lines = append(l.lines, fmt.Sprintf("%s was left in the archive: %s", markdown.OneLine(m.Folder+m.Name, 100), why))
}

// hiddenFolder returns the path of the first hidden folder in a member's name, or "".
func hiddenFolder(m archive.Member) string {
	parts := strings.Split(strings.ReplaceAll(m.Folder+m.Name, `\`, "/"), "/")
	for i, part := range parts[:len(parts)-1] {
		if strings.HasPrefix(part, ".") && part != "." && part != ".." {
			return path.Join(parts[:i+1]...)
		}
	}
	return ""
}

// warnings lists what was left, at most 50 lines.
func (l *leftovers) warnings() []string {
	var lines []string
	for _, dir := range l.order {
		lines = append(lines, fmt.Sprintf("%s with %s was left in the archive: it is hidden", markdown.OneLine(dir, 100), counted(l.hidden[dir], "file")))
	}
	return bounded(append(lines, l.lines...), "%d more files were left in the archive")
}

// bounded returns at most 50 lines, and one about the others.
func bounded(lines []string, more string) []string {
	if len(lines) <= 50 {
		return lines
	}
	return append(slices.Clone(lines[:50]), fmt.Sprintf(more, len(lines)-50))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// survey reads the names and the notes of the archive, and finds whether its files belong together.
func (ex exporting) survey(ctx context.Context) (*survey, error) {
	s := &survey{files: map[int]int{}, single: -1}
	var names []string
	links := map[int][]export.Link{}
	at := -1
	err := ex.walk(ctx, func(m archive.Member, in io.Reader) error {
		at++
		name, why := ex.w.places.treeName(m)
		var text []byte
		if why == "" && export.IsNote(name) {
			var err error
			if text, err = io.ReadAll(io.LimitReader(in, maxNote+1)); err != nil {
				return err
			}
		}
		switch {
		case why != "":
		case len(text) > maxNote:
			why = fmt.Sprintf("a note of more than %d MB", maxNote>>20)
		case m.Size > archive.MaxMemberBytes:
			why = fmt.Sprintf("larger than %d MB", archive.MaxMemberBytes>>20)
		}
		switch {
		case why == whyIgnored:
			return nil
		case why != "":
			s.left.add(m, why)
			return nil
		case len(names) >= maxTree:
			return fault.Permanent(failure.TooLarge, "unpack it and drop its folders one at a time", "the archive has more than %d files", maxTree)
		}
		if export.IsNote(name) {
			s.notes = true
			links[len(names)] = export.Links(charset.Decode(text).Text)
		}
		s.packed = s.packed || filetype.KindOf(filetype.ByName(name)) == filetype.KindArchive
		s.files[at] = len(names)
		names = append(names, name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.tree = export.New(names)
	mentioned := map[int]bool{}
	for i, found := range links {
		s.tree.Mentions(found, names[i], mentioned)
	}
	s.together = s.tree.Together(mentioned)
	if note, ok := s.tree.Single(mentioned); ok {
		s.single = note
	}
	return s, nil
}

// exported keeps the files of the job's archive together, and reports whether they belong together. Archives in it stay files like
// others, unless they hold all the notes, as those of Notion do.
func (u unpacking) exported(ctx context.Context) (bool, error) {
	for _, walk := range []func(context.Context, func(archive.Member, io.Reader) error) error{u.flat, u.members} {
		ex := exporting{u.w, walk}
		s, err := ex.survey(ctx)
		switch {
		case err != nil:
			return false, err
		case s.together:
			return true, ex.extract(ctx, s)
		case s.notes || !s.packed:
			return false, nil
		}
	}
	return false, nil
}

// extract puts the files into the bundle. Like any attempt at an import, it may find files of an earlier one.
func (ex exporting) extract(ctx context.Context, s *survey) error {
	pl := ex.w.places
	rec := ex.w.store.begin(manifest.Document{})
	if s.single < 0 {
		s.tree.Place(vault.FormerNote, manifest.File, pl.original())
	} else {
		s.tree.PlaceSingle(s.single, vault.TextDir+"/"+pageName(1)+".txt")
		rec.Document.Pages = 1
		rec.Page = path.Join(path.Dir(ex.w.job.Source), s.tree.Files[s.single].From)
		if packed, err := (unpacking{ex.w}).packed(); err != nil {
			return err
		} else if packed && pl.set.KeepOriginal == config.KeepInBundle {
			rec.Kept = originalOf(path.Base(s.tree.Files[s.single].From))
		}
	}
	made := making{exporting: ex, survey: s, kept: rec.Kept}
	at := -1
	err := ex.walk(ctx, func(m archive.Member, in io.Reader) error {
		at++
		i, ok := s.files[at]
		if !ok {
			return nil
		}
		if s.tree.Files[i].To == "" {
			s.left.add(m, "its path is too long")
			return nil
		}
		data, err := io.ReadAll(io.LimitReader(in, archive.MaxMemberBytes+1))
		switch {
		case err != nil:
			return err
		case len(data) > archive.MaxMemberBytes:
			return archive.ErrBomb
		}
		return made.put(ctx, i, data)
	})
	if err != nil {
		return err
	}
	rec.Members = made.members
	rec.Warnings = append(bounded(made.remarks, "%d more notes have such remarks"), bounded(made.missing, "%d more pictures are not there")...)
	if made.remote > 0 {
		rec.Warnings = append(rec.Warnings, counted(made.remote, "picture")+" of the web stay links, because showing one would tell its host that you read the note")
	}
	rec.Warnings = append(rec.Warnings, s.left.warnings()...)
	if err := save(ctx, ex.w.store.records, documentName, rec); err != nil || s.single < 0 {
		return err
	}
	if _, err := ex.w.store.missing(1); err != nil {
		return err
	}
	ex.w.store.tally = tally{pages: 1}
	return ex.w.store.finish(ctx, made.page)
}

// making is what has been put into the bundle.
type making struct {
	exporting
	*survey
	kept             string // where a single note is kept as it is; empty if the archive is
	members          []manifest.Member
	page             manifest.Page // of a single note
	remarks, missing []string
	remote           int
}

// put puts a file into the bundle.
func (made *making) put(ctx context.Context, i int, data []byte) error {
	file := made.tree.Files[i]
	if export.IsNote(file.From) {
		text := made.note(i, data)
		if i == made.single {
			made.page = manifest.Page{N: 1, Status: manifest.PageDone, Text: &manifest.PageText{Source: manifest.TextNone}}
			if err := made.keep(ctx, made.kept, file.From, data, data); err != nil {
				return err
			}
			if text == "" {
				return nil
			}
			return (pageFiles{w: made.w}).keepText(ctx, &made.page, text, manifest.TextLayer)
		}
		return made.keep(ctx, file.To, file.From, []byte(text), data)
	}
	return made.keep(ctx, file.To, file.From, data, data)
}

// keep puts a file into the bundle, unless it has no name there. source is what the archive has.
func (made *making) keep(ctx context.Context, to, from string, data, source []byte) error {
	if to == "" {
		return nil
	}
	if err := put(ctx, made.w.store.bundle, to, data); err != nil {
		return err
	}
	member := manifest.Member{Path: to, Bytes: int64(len(data)), SHA256: digest(data)}
	if from != to {
		member.Name = from
	}
	if !bytes.Equal(data, source) {
		member.Source = digest(source)
	}
	made.members = append(made.members, member)
	return nil
}

func missingLine(note, what string) string {
	return fmt.Sprintf("%s shows %s, which did not come with it", markdown.OneLine(note, 100), markdown.OneLine(what, 100))
}

// note returns the text of a note as it is put into the bundle.
func (made *making) note(i int, data []byte) string {
	file := made.tree.Files[i]
	decoded := charset.Decode(data)
	if remark := decoded.Remark(); remark != "" {
		made.remarks = append(made.remarks, markdown.OneLine(file.From, 100)+": "+remark)
	}
	make := made.tree.Note
	if i == made.single {
		make = made.tree.Part
	}
	note := make(decoded.Text, i)
	for _, what := range note.Missing {
		made.missing = append(made.missing, missingLine(file.From, what))
	}
	made.remote += note.Remote
	return note.Text
}
