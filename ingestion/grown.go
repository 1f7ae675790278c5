package ingestion

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// restoreBytes limits what is restored for a version whose original kept growing.
const restoreBytes = 64 << 20

// refuseOpen refuses to move or remove a file of the import folder while somebody has it open for writing: what is written to a
// removed file is lost.
func (f filing) refuseOpen(name string) error {
	if f.w.im.Writing == nil || !strings.HasPrefix(name, f.w.set.ImportDir+"/") {
		return nil
	}
	if reason := f.w.im.Writing(name); reason != "" {
		return &fault.Error{
			Code: failure.Vault, Message: fmt.Sprintf("%s stays where it is: %s", name, reason), Remedy: "it is filed once it is closed", Transient: true,
		}
	}
	return nil
}

// settle removes the version before if the new one has all of it, and repairs it otherwise.
func (f filing) settle(ctx context.Context, p plan, target string) error {
	if gone, err := superseding(f).supersede(ctx, p, target); gone || err != nil {
		return err
	}
	return f.restore(ctx, p, target)
}

// restore repairs the version before if its original kept growing after it was imported and is now this import's original, at
// target. If the new original begins with the old bytes, they are written back to that version, and its history records what
// happened. Calling it again changes nothing.
func (f filing) restore(ctx context.Context, p plan, target string) error {
	before := f.outgrown(p)
	m, ok := f.w.im.manifest(before)
	if !ok || m.Source.SHA256 == f.w.job.SHA256 || m.Source.Name != path.Base(m.Source.Name) {
		return nil
	}
	kept := path.Join(before, m.Source.Name)
	if f.w.im.exists(kept) || f.w.job.Where == "" && f.w.set.KeepOriginal != config.KeepInBundle {
		return nil // another file of this name: the version before has its own
	}
	restored, err := false, error(nil)
	if target != "" {
		restored, err = f.putBack(ctx, m, target, kept)
	}
	if err != nil || !restored && f.w.job.Where == "" {
		return err
	}
	return f.addHistory(ctx, before, manifest.History{Event: "grown", Import: f.w.job.ID, Source: f.w.job.Source, SHA256: f.w.job.SHA256, At: f.w.im.Now()})
}

// outgrown returns the bundle whose original kept growing: the version before, or an older one that the job's file came from.
func (f filing) outgrown(p plan) string {
	if dir := path.Dir(f.w.job.Where); f.w.job.Where != "" && dir != p.Previous {
		if m, ok := f.w.im.manifest(dir); ok && path.Join(dir, m.Source.Name) == f.w.job.Where {
			return dir
		}
	}
	return p.before(f.w.im)
}

// putBack writes the first bytes of a file as a manifest's original, and reports whether they are that original.
func (f filing) putBack(ctx context.Context, m manifest.Manifest, from, to string) (bool, error) {
	if m.Source.Size > restoreBytes {
		return false, nil
	}
	file, _, err := f.w.im.open(from)
	if err != nil {
		return false, fault.Storage("open "+from, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.NewSectionReader(file, 0, m.Source.Size))
	if err != nil {
		return false, fault.Storage("read "+from, err)
	}
	if digest(data) != m.Source.SHA256 {
		return false, nil
	}
	return true, fault.Storage("write "+to, f.w.im.Files.Write(ctx, to, data, ""))
}
