package ingestion

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
)

// restoreBytes bounds what is put back for a version whose original went on growing.
const restoreBytes = 64 << 20

// letGo refuses to move or remove a file of the import folder while somebody has it open for writing: what is written to a
// removed file is lost.
func (w *work) letGo(name string) error {
	if w.im.Writing == nil || !strings.HasPrefix(name, w.set.ImportDir+"/") {
		return nil
	}
	if reason := w.im.Writing(name); reason != "" {
		return &Error{
			Code: failure.Vault, Message: fmt.Sprintf("%s stays where it is: %s", name, reason), Remedy: "it is put away when it was closed", Transient: true,
		}
	}
	return nil
}

// restore sees to the version before when its original went on growing after it was taken, and is now the one of this
// import, at target: what that version was made of is put back, where the new original begins with it, and its history says
// what happened. Repeated, it does the same.
func (w *work) restore(ctx context.Context, p plan, target string) error {
	before := w.halfOf(p)
	m, ok := w.im.manifest(before)
	if !ok || m.Source.SHA256 == w.job.SHA256 || m.Source.Name != path.Base(m.Source.Name) {
		return nil
	}
	kept := path.Join(before, m.Source.Name)
	if w.im.exists(kept) || w.job.Where == "" && w.set.KeepOriginal != KeepInBundle {
		return nil // another file of the same name: the version before has its own
	}
	restored, err := false, error(nil)
	if target != "" {
		restored, err = w.putBack(ctx, m, target, kept)
	}
	if err != nil || !restored && w.job.Where == "" {
		return err
	}
	return w.addHistory(ctx, before, History{Event: "grown", Import: w.job.ID, Source: w.job.Source, SHA256: w.job.SHA256, At: w.im.Now()})
}

// halfOf is the bundle whose original went on growing: the version before, or an older one that the job's file was taken from.
func (w *work) halfOf(p plan) string {
	if dir := path.Dir(w.job.Where); w.job.Where != "" && dir != p.Previous {
		if m, ok := w.im.manifest(dir); ok && path.Join(dir, m.Source.Name) == w.job.Where {
			return dir
		}
	}
	return p.before(w.im)
}

// putBack writes the bytes of a manifest's original from the beginning of a file, and reports whether it begins with them.
func (w *work) putBack(ctx context.Context, m Manifest, from, to string) (bool, error) {
	if m.Source.Size > restoreBytes {
		return false, nil
	}
	file, _, err := w.im.open(from)
	if err != nil {
		return false, storage("open "+from, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.NewSectionReader(file, 0, m.Source.Size))
	if err != nil {
		return false, storage("read "+from, err)
	}
	if digest(data) != m.Source.SHA256 {
		return false, nil
	}
	return true, storage("write "+to, w.im.Files.Write(ctx, to, data, ""))
}
