package ingestion

import (
	"archive/zip"
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
	"github.com/vaultflow/vaultflow/ingestion/export"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/vault"
)

// unpacking puts the files of an archive or message into the import folder.
type unpacking struct{ w *work }

// collection is an archive. Its files go to a folder of the import folder with the archive's name, and are imported like any others;
// their bundles are inside the archive's own. Archives in the archive are read with it. Any that appear later stay closed, so that
// nothing unpacks forever. An archive that holds notes is an export: its files stay together, see [exporting].
type collection struct{}

func (collection) name() string { return "archive" }

// Extract reads the whole archive before it unpacks anything: a broken one fails as a whole.
func (collection) extract(ctx context.Context, w *work) error {
	if rec, known, err := w.store.document(); err != nil || known && rec.Document.Pages == 0 {
		return err
	}
	if done, err := w.store.composedBefore(); err != nil || done {
		return err
	}
	if w.places.fromArchive() {
		return keeper{}.extract(ctx, w)
	}
	together, err := unpacking{w}.savedPage(ctx)
	if err == nil && !together {
		together, err = unpacking{w}.exported(ctx)
	}
	if together || err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return archiveFault(err)
	}
	var names, left []string
	taken := map[string]bool{}
	err = unpacking{w}.members(ctx, func(m archive.Member, in io.Reader) error {
		n, err := io.Copy(io.Discard, io.LimitReader(in, archive.MaxMemberBytes+1))
		if err != nil {
			return err
		}
		if m.Size < 0 {
			m.Size = n
		}
		name, why := w.places.memberName(m, taken)
		if why == "" && n > archive.MaxMemberBytes {
			why = fmt.Sprintf("larger than %d MB", archive.MaxMemberBytes>>20)
		}
		switch {
		case why == whyIgnored:
		case why != "":
			left = append(left, fmt.Sprintf("%s was left in the archive: %s", markdown.OneLine(m.Folder+m.Name, 100), why))
		case len(names) >= archive.MaxMembers:
			return fault.Permanent(failure.TooLarge, "unpack it and drop the folder", "the archive has more than %d files", archive.MaxMembers)
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
	rec := w.store.begin(manifest.Document{})
	rec.Children, rec.Warnings = w.places.childrenOf(names), append(rec.Warnings, left[:min(len(left), 50)]...)
	if len(left) > 50 {
		rec.Warnings = append(rec.Warnings, fmt.Sprintf("%d more files were left in the archive", len(left)-50))
	}
	if len(names) == 0 {
		rec.Message = "There is no file in the archive that can be imported. The original is kept unchanged."
	}
	return save(ctx, w.store.records, documentName, rec)
}

// archiveFault explains an archive that cannot be read, with advice.
func archiveFault(err error) error {
	var known *fault.Error
	switch {
	case err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, archive.ErrBomb):
		return fault.Permanent(failure.TooLarge, "unpack it yourself if you trust it, and drop the folder", "the archive was not unpacked: %v", err)
	}
	return fault.Permanent(failure.Corrupt, "copy or download it again; if that does not help, unpack what is left of it with another program and drop the folder", "the archive cannot be read: %s", damage(err))
}

// damage says in words what is wrong with a file that cannot be unpacked.
func damage(err error) string {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends early, and a part of it is missing"
	case errors.Is(err, zip.ErrFormat), errors.Is(err, io.EOF):
		return "the list of its files, at its end, is missing or damaged"
	case errors.Is(err, zip.ErrAlgorithm):
		return "it is packed in a way that is not read"
	}
	return err.Error()
}

// members visits the files of the job's archive and of those in it, or the attachments of its message.
func (u unpacking) members(ctx context.Context, visit func(archive.Member, io.Reader) error) error {
	switch u.w.job.Route.Kind {
	case filetype.KindEmail:
		return u.attached(visit)
	case filetype.KindPDF:
		return attaching(u).members(visit)
	}
	return u.visit(ctx, archive.Walk, visit)
}

// flat visits the files of the job's archive. Archives in it are files like others.
func (u unpacking) flat(ctx context.Context, visit func(archive.Member, io.Reader) error) error {
	return u.visit(ctx, archive.Members, visit)
}

// packed reports whether vaultflow made the job's archive, of files that it found.
func (u unpacking) packed() (bool, error) {
	file, size, err := u.w.im.open(u.w.job.at())
	if err != nil {
		return false, fault.Storage("open "+u.w.job.at(), err)
	}
	defer file.Close()
	return archive.Comment(file, size) == export.PackComment, nil
}

type walker func(r io.ReaderAt, size int64, mediaType, name string, visit func(archive.Member, io.Reader) error) error

func (u unpacking) visit(ctx context.Context, walk walker, visit func(archive.Member, io.Reader) error) error {
	file, size, err := u.w.im.open(u.w.job.at())
	if err != nil {
		return fault.Storage("open "+u.w.job.at(), err)
	}
	defer file.Close()
	return walk(file, size, u.w.job.Route.MediaType, u.w.job.base(), func(m archive.Member, in io.Reader) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return visit(m, in)
	})
}

// release puts the members into the import folder. After a crash it also writes those that were imported in the meantime; they end
// as duplicates.
func (u unpacking) release(ctx context.Context, bundle string) error {
	m, ok := u.w.im.manifest(bundle)
	if !ok || len(m.Children) == 0 {
		return nil
	}
	u.w.job.Route.Kind, u.w.job.Route.MediaType = m.Source.Kind, m.Source.MediaType
	taken := map[string]bool{}
	return u.members(ctx, func(f archive.Member, in io.Reader) error {
		name, why := u.w.places.memberName(f, taken)
		if why != "" || !slices.ContainsFunc(m.Children, func(c manifest.Child) bool { return c.Name == name }) {
			return nil
		}
		taken[strings.ToLower(name)] = true
		data, err := io.ReadAll(io.LimitReader(in, archive.MaxMemberBytes+1))
		if err != nil {
			return err
		}
		return u.putMember(ctx, path.Join(u.w.places.inbox(bundle), name), data)
	})
}

// putMember writes a member under the first name that is free or has the same bytes.
func (u unpacking) putMember(ctx context.Context, name string, data []byte) error {
	for n := 1; ; n++ {
		to := vault.Numbered(name, n)
		have, err := u.w.im.sumOf(ctx, to)
		if err != nil || have == digest(data) {
			return err
		}
		if have != "" && n < maxNumber {
			continue
		}
		err = u.w.im.Files.Write(ctx, to, data, "")
		if taken := errors.Is(err, fs.ErrExist) || errors.Is(err, vault.ErrConflict); taken && n < maxNumber {
			continue // another spelling of the name exists
		}
		return fault.Storage("write "+to, err)
	}
}
