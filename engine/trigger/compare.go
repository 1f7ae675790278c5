package trigger

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/workflow"
)

// compare looks for what changed while nobody watched: for a workflow with catch_up latest or all, which was followed with
// the same globs before, a file that differs from what is kept has changed. Any other workflow begins now.
func (w *watching) compare(ctx context.Context, plans []*workflow.Plan) {
	if w.cfg.Files == nil {
		return
	}
	maps.DeleteFunc(w.watched, func(name, _ string) bool { return planOf(plans, name) == nil }) // until it is valid again
	for _, p := range plans {
		globs := ""
		if p.Meta.Enabled && p.Meta.CatchUp != "none" {
			globs = strings.Join(p.Meta.Watch, "\n")
		}
		if before, looked := w.watched[p.Name]; looked && before == globs {
			continue
		}
		if err := w.follow(ctx, p, globs); err != nil {
			if ctx.Err() == nil {
				w.cfg.failed(ctx, "watched files not compared, it is tried again", "workflow", p.Name, "err", err)
			}
			continue
		}
		w.watched[p.Name] = globs
	}
}

func (w *watching) follow(ctx context.Context, p *workflow.Plan, globs string) error {
	if globs == "" {
		return w.cfg.Watches.Unwatch(ctx, p.Name)
	}
	files, unread, err := w.cfg.Files.List(func(name string) bool {
		return w.watches(p, name) && (w.cfg.Ours == nil || !w.cfg.Ours(name))
	})
	if err != nil {
		return err
	}
	before, followed, err := w.cfg.Watches.Watched(ctx, p.Name, globs)
	if err != nil {
		return err
	}
	if !followed {
		if err := w.read(ctx, files); err != nil {
			return err
		}
		return w.cfg.Watches.Watch(ctx, p.Name, globs, files)
	}
	changes := w.differences(files, before, len(unread) > 0)
	for _, c := range changes {
		if err := w.take(ctx, []*workflow.Plan{p}, c); err != nil {
			return err
		}
	}
	if len(changes) > 0 {
		w.cfg.Logger.Info("files changed while nobody watched", "workflow", p.Name, "count", len(changes))
	}
	return nil
}

// readMost is the largest file that is read only to know later whether it was changed or just touched, in bytes.
const readMost = 1 << 20

// read completes files with their digests, so that one which is only touched later counts as unchanged.
func (w *watching) read(ctx context.Context, files []vault.File) error {
	for i, f := range files {
		if f.Size > readMost {
			continue
		}
		now, err := w.cfg.Files.Look(f.Name)
		if err == nil {
			files[i] = now
		} else if !errors.Is(err, fs.ErrNotExist) {
			w.cfg.Logger.Warn("watched file not read", "name", f.Name, "err", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// differences reads the files whose size or time differs from what is kept.
func (w *watching) differences(files []vault.File, before map[string]vault.File, partly bool) []vault.Change {
	var changes []vault.Change
	for _, f := range files {
		old, known := before[f.Name]
		delete(before, f.Name)
		if known && old.Size == f.Size && old.Modified.Equal(f.Modified) {
			continue
		}
		now, err := w.cfg.Files.Look(f.Name)
		if err == nil {
			changes = append(changes, vault.Change{File: now, Op: vault.OpModify})
		} else if !errors.Is(err, fs.ErrNotExist) {
			w.cfg.Logger.Warn("watched file not read", "name", f.Name, "err", err)
		}
	}
	if partly {
		return changes
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		changes = append(changes, vault.Change{File: vault.File{Name: name}, Op: vault.OpRemove})
	}
	return changes
}
