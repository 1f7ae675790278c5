package ingestion

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/archive"
	"github.com/vaultflow/vaultflow/ingestion/export"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/vault"
)

// superseding removes a version that is all in the next one.
type superseding struct{ w *work }

// supersede removes the version before, and reports whether it is gone, if that loses nothing: the new original, at target, has all
// bytes of the old one, no run can have read it, and nobody changed anything in it. So a file to which a program appends is one
// bundle. Calling it again finishes what a crash has interrupted.
func (f superseding) supersede(ctx context.Context, p plan, target string) (bool, error) {
	now, ok := f.w.im.manifest(p.Target)
	if f.w.im.Used == nil || !ok || now.Import.ID != f.w.job.ID || !strings.HasPrefix(p.Aside, f.w.set.ImportedDir+"/") {
		return false, nil
	}
	was, ok := present(f.w.im, p.Aside)
	at := slices.IndexFunc(now.Import.History, func(h manifest.History) bool { return h.Import == p.PreviousImport && h.Event == "version" })
	if !ok || was.Import.ID != p.PreviousImport || at < 0 {
		return false, nil
	}
	decided := now.Import.History[at].Bundle == ""
	if !decided {
		if used, err := f.w.im.Used(ctx, was.Import.Started); err != nil || used {
			return false, fault.Storage("look for runs that read "+p.Aside, err)
		}
		if all, err := f.hasAllOf(ctx, was, p.Aside, now, target); err != nil || !all {
			return false, err
		}
	}
	files, untouched, err := f.untouched(ctx, was, p.Aside)
	if err != nil || !untouched {
		return false, err
	}
	if err := filing(f).editManifest(ctx, p.Target, func(m *manifest.Manifest) bool {
		m.Import.History[at].Bundle = ""
		return !decided
	}); err != nil {
		return false, err
	}
	for _, file := range files { // the manifest comes last: without it, nothing shows what the others are
		if err := f.w.im.Files.Remove(ctx, file.Name, file.SHA256); err != nil {
			return false, fault.Storage("remove "+file.Name, err)
		}
		if err := f.w.im.Files.RemoveEmptyFolders(path.Dir(file.Name), p.Aside); err != nil {
			return false, fault.Storage("remove the empty folders of "+p.Aside, err)
		}
	}
	return true, nil
}

// hasAllOf reports whether the original at target has all bytes of an earlier version's: it begins with them, or it packs the same
// files and more.
func (f superseding) hasAllOf(ctx context.Context, was manifest.Manifest, old string, now manifest.Manifest, target string) (bool, error) {
	have, err := f.packedIn(ctx, now, target)
	if err != nil {
		return false, err
	}
	if len(have) > 0 {
		had, err := f.packedIn(ctx, was, path.Join(old, was.Source.Name))
		if len(had) == 0 {
			had = []string{was.Source.SHA256}
		}
		return err == nil && !slices.ContainsFunc(had, func(sum string) bool { return !slices.Contains(have, sum) }), err
	}
	if target == "" || now.Source.Size < was.Source.Size {
		return false, nil
	}
	file, _, err := f.w.im.open(target)
	if err != nil {
		return false, fault.Storage("open "+target, err)
	}
	defer file.Close()
	sum, err := digestReader(ctx, io.NewSectionReader(file, 0, was.Source.Size))
	return sum == was.Source.SHA256, fault.Storage("read "+target, err)
}

// packedIn returns the digests of the files that vaultflow packed for an import; none if its original is no such archive.
func (f superseding) packedIn(ctx context.Context, m manifest.Manifest, original string) (sums []string, err error) {
	for _, member := range m.Members {
		sum := member.SHA256
		if member.Source != "" {
			sum = member.Source
		}
		sums = append(sums, sum)
	}
	if m.KeepsMember() {
		return sums, nil
	}
	file, size, err := f.w.im.open(original)
	if errors.Is(err, fs.ErrNotExist) || original == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Storage("open "+original, err)
	}
	defer file.Close()
	if archive.Comment(file, size) != export.PackComment {
		return nil, nil
	}
	sums = nil
	err = archive.Members(file, size, m.Source.MediaType, m.Source.Name, func(_ archive.Member, in io.Reader) error {
		sum, err := digestReader(ctx, in)
		sums = append(sums, sum)
		return err
	})
	return sums, fault.Storage("read "+original, err)
}

// untouched lists the files of a bundle, its manifest last, and reports whether all of them are as its import made them.
func (f superseding) untouched(ctx context.Context, m manifest.Manifest, bundle string) (files []vault.File, same bool, err error) {
	made := map[string]string{manifest.File: "", m.NoteName(): "", m.Source.Name: m.Source.SHA256}
	for note := range m.Generated {
		made[note] = ""
	}
	for _, p := range m.Pages {
		for _, name := range p.Files() {
			made[name] = ""
		}
		for _, image := range append([]manifest.PageImage{}, p.Others...) {
			made[image.Path] = image.SHA256
		}
		if p.Image != nil {
			made[p.Image.Path] = p.Image.SHA256
		}
	}
	for _, a := range m.Assets {
		made[a.Path] = a.SHA256
	}
	for _, member := range m.Members {
		made[member.Path] = member.SHA256
	}
	same = true
	err = fs.WalkDir(f.w.im.Files.FS(), bundle, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel := name[len(bundle)+1:]
		want, known := made[rel]
		if !known || !d.Type().IsRegular() || f.w.im.Writing != nil && f.w.im.Writing(name) != "" {
			same = false
			return fs.SkipAll
		}
		sum, err := f.w.im.sumOf(ctx, name)
		if err != nil {
			return err
		}
		files = append(files, vault.File{Name: name, SHA256: sum})
		switch digests, isNote := m.Generated[rel]; {
		case isNote:
			data, err := fs.ReadFile(f.w.im.Files.FS(), name)
			if err != nil {
				return err
			}
			now := vault.PageDigests(string(data))
			for page, digest := range digests {
				same = same && now[page] == digest
			}
		case rel == manifest.File:
		case want != "":
			same = same && sum == want
		default: // texts of pages, whose digests are not recorded
			info, err := d.Info()
			same = same && err == nil && !info.ModTime().After(m.Import.Finished)
		}
		return nil
	})
	slices.SortStableFunc(files, func(a, b vault.File) int {
		last := func(f vault.File) int {
			if path.Base(f.Name) == manifest.File {
				return 1
			}
			return 0
		}
		return last(a) - last(b)
	})
	return files, same && m.Generated != nil, fault.Storage("read "+bundle, err)
}
