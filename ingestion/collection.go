package ingestion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/archive"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/vault"
)

// collection is an archive. Its files are put into a folder of the import folder that is called like the archive, where they
// are imported like others that are dropped there; their bundles come to lie in the archive's own. Archives in an archive are
// walked through with it. What else turns out to be one stays unopened, so that none unpacks without end.
type collection struct{}

func (collection) name() string { return "archive" }

// Extract walks through the whole archive before anything of it is put anywhere: a broken one fails as a whole.
func (collection) extract(ctx context.Context, w *work) error {
	if _, known, err := w.document(); err != nil || known {
		return err
	}
	if w.fromArchive() {
		return keeper{}.extract(ctx, w)
	}
	var names, left []string
	taken := map[string]bool{}
	err := w.members(ctx, func(m archive.Member, in io.Reader) error {
		n, err := io.Copy(io.Discard, io.LimitReader(in, archive.MaxMemberBytes+1))
		if err != nil {
			return err
		}
		if m.Size < 0 {
			m.Size = n
		}
		name, why := w.memberName(m, taken)
		if why == "" && n > archive.MaxMemberBytes {
			why = fmt.Sprintf("larger than %d MB", archive.MaxMemberBytes>>20)
		}
		switch {
		case why == "ignored":
		case why != "":
			left = append(left, fmt.Sprintf("%s was left in the archive: %s", markdown.OneLine(m.Folder+m.Name, 100), why))
		case len(names) >= archive.MaxMembers:
			return permanent(failure.TooLarge, "unpack it and drop the folder", "the archive has more than %d files", archive.MaxMembers)
		default:
			taken[strings.ToLower(name)] = true
			names = append(names, name)
		}
		return nil
	})
	if errors.Is(err, errors.ErrUnsupported) {
		return keeper{}.extract(ctx, w)
	}
	if err := archiveFault(err); err != nil {
		return err
	}
	rec := w.begin(Document{})
	rec.Children, rec.Warnings = w.childrenOf(names), append(rec.Warnings, left[:min(len(left), 50)]...)
	if len(left) > 50 {
		rec.Warnings = append(rec.Warnings, fmt.Sprintf("%d more files were left in the archive", len(left)-50))
	}
	if len(names) == 0 {
		rec.Message = "There is no file in the archive that can be imported. The original is kept unchanged."
	}
	return save(ctx, w.records, documentName, rec)
}

// archiveFault says what a person can do about an archive that cannot be walked through.
func archiveFault(err error) error {
	var known *Error
	switch {
	case err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, archive.ErrBomb):
		return permanent(failure.TooLarge, "unpack it yourself if you trust it, and drop the folder", "the archive was not unpacked: %v", err)
	}
	return permanent(failure.Corrupt, "unpack it with another program and drop the folder", "the archive cannot be read: %v", err)
}

// members visits the files of the job's archive, or the attachments of its message.
func (w *work) members(ctx context.Context, visit func(archive.Member, io.Reader) error) error {
	if w.job.Route.Kind == filetype.KindEmail {
		return w.attached(visit)
	}
	file, size, err := w.im.open(w.job.at())
	if err != nil {
		return storage("open "+w.job.at(), err)
	}
	defer file.Close()
	return archive.Walk(file, size, w.job.Route.MediaType, w.job.base(), func(m archive.Member, in io.Reader) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return visit(m, in)
	})
}

// memberName is the safe name of a archive.Member below the collection's folder, or why it is left in the archive; "ignored" is
// for files that mean nothing outside of the machine they come from.
func (w *work) memberName(m archive.Member, taken map[string]bool) (name, why string) {
	parts := strings.Split(strings.ReplaceAll(m.Name, `\`, "/"), "/")
	for i, part := range parts {
		switch {
		case part == ".." || i == 0 && (part == "" || strings.Contains(part, ":")):
			return "", "its name leads out of the archive"
		case part == "__MACOSX" || part == ".DS_Store" || part == "Thumbs.db" || part == "desktop.ini" || strings.HasPrefix(part, "._"):
			return "", "ignored"
		}
	}
	parts = slices.DeleteFunc(append(strings.Split(m.Folder, "/"), parts...), func(p string) bool { return p == "" || p == "." })
	switch {
	case m.Special != "":
		return "", "it is " + m.Special
	case m.Locked:
		return "", "it is encrypted; unpack it and drop the files"
	case len(parts) == 0 || len(parts) > archive.MaxFolders:
		return "", "it lies too deep"
	case slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, ".") }):
		return "", "it is hidden"
	}
	if w.takenHere(parts[0]) && len(parts) > 1 {
		parts[0] += " (2)" // a file of the bundle has the name
	}
	for i, part := range parts {
		parts[i] = w.im.SafeName(part, nameBytes)
	}
	name = path.Join(parts...)
	if w.im.Takes != nil && !w.im.Takes(path.Join(w.inbox(w.im.bundleName(w.job)), name)) {
		return "", "the import folder ignores files of this name"
	}
	for n := 2; taken[strings.ToLower(name)]; n++ {
		name = numberedFile(path.Join(parts...), n)
	}
	return name, ""
}

// inbox is the folder of the import folder that the members are put into, so that their bundles come to lie in the
// archive's own.
func (w *work) inbox(bundle string) string {
	return path.Join(w.set.ImportDir, strings.TrimPrefix(bundle, w.set.ImportedDir+"/"))
}

// release puts the members into the import folder. Repeated after a crash, it writes those again that were imported
// meanwhile; they end as duplicates.
func (w *work) release(ctx context.Context, bundle string) error {
	m, ok := w.im.manifest(bundle)
	if !ok || len(m.Children) == 0 {
		return nil
	}
	w.job.Route.Kind, w.job.Route.MediaType = m.Source.Kind, m.Source.MediaType
	taken := map[string]bool{}
	return w.members(ctx, func(f archive.Member, in io.Reader) error {
		name, why := w.memberName(f, taken)
		if why != "" || !slices.ContainsFunc(m.Children, func(c Child) bool { return c.Name == name }) {
			return nil
		}
		taken[strings.ToLower(name)] = true
		data, err := io.ReadAll(io.LimitReader(in, archive.MaxMemberBytes+1))
		if err != nil {
			return err
		}
		return w.putMember(ctx, path.Join(w.inbox(bundle), name), data)
	})
}

// putMember writes a archive.Member under the first name that is free, or that holds the same bytes.
func (w *work) putMember(ctx context.Context, name string, data []byte) error {
	for n := 1; ; n++ {
		to := numberedFile(name, n)
		have, err := w.im.sumOf(ctx, to)
		if err != nil || have == digest(data) {
			return err
		}
		if have != "" && n < maxNumber {
			continue
		}
		err = w.im.Files.Write(ctx, to, data, "")
		if taken := errors.Is(err, fs.ErrExist) || errors.Is(err, vault.ErrConflict); taken && n < maxNumber {
			continue // another spelling of the name is there
		}
		return storage("write "+to, err)
	}
}

// write lists the files with links to what is made of them.
func (collection) write(n *note) error {
	if n.rec.Message != "" {
		return keeper{}.write(n)
	}
	n.children("The files of the archive are imported each by itself:")
	return nil
}

// children lists the files that are imported by themselves, with links to what is made of them.
func (n *note) children(sentence string) {
	n.line("")
	n.line(sentence)
	n.line("")
	for _, c := range n.m.Children {
		n.line("- [[./" + path.Join(c.Bundle, strings.TrimSuffix(noteName, ".md")) + "|" + markdown.Alias(c.Name) + "]]")
	}
}
