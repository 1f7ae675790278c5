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
func (t *Triggers) compare(ctx context.Context, plans []*workflow.Plan) {
	if t.cfg.Files == nil || !t.live.Load() {
		return
	}
	maps.DeleteFunc(t.watched, func(name, _ string) bool { return planOf(plans, name) == nil }) // until it is valid again
	for _, p := range plans {
		globs := ""
		if p.Meta.Enabled && p.Meta.CatchUp != "none" {
			globs = strings.Join(p.Meta.Watch, "\n")
		}
		if before, looked := t.watched[p.Name]; looked && before == globs {
			continue
		}
		if err := t.follow(ctx, p, globs); err != nil {
			if ctx.Err() == nil {
				t.cfg.Logger.Error("watched files not compared, it is tried again", "workflow", p.Name, "err", err)
			}
			continue
		}
		t.watched[p.Name] = globs
	}
}

func (t *Triggers) follow(ctx context.Context, p *workflow.Plan, globs string) error {
	if globs == "" {
		return t.cfg.Watches.Unwatch(ctx, p.Name)
	}
	files, unread, err := t.cfg.Files.List(func(name string) bool {
		return p.Meta.Watches(name) && (t.cfg.Ours == nil || !t.cfg.Ours(name))
	})
	if err != nil {
		return err
	}
	before, followed, err := t.cfg.Watches.Watched(ctx, p.Name, globs)
	if err != nil {
		return err
	}
	if !followed {
		if err := t.read(ctx, files); err != nil {
			return err
		}
		return t.cfg.Watches.Watch(ctx, p.Name, globs, files)
	}
	changes := t.differences(files, before, len(unread) > 0)
	for _, c := range changes {
		if err := t.take(ctx, []*workflow.Plan{p}, c); err != nil {
			return err
		}
	}
	if len(changes) > 0 {
		t.cfg.Logger.Info("files changed while nobody watched", "workflow", p.Name, "count", len(changes))
	}
	return nil
}

// readMost is the largest file that is read only to know later whether it was changed or just touched, in bytes.
const readMost = 1 << 20

// read completes files with their digests, so that one which is only touched later counts as unchanged.
func (t *Triggers) read(ctx context.Context, files []vault.File) error {
	for i, f := range files {
		if f.Size > readMost {
			continue
		}
		now, err := t.cfg.Files.Look(f.Name)
		if err == nil {
			files[i] = now
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.cfg.Logger.Warn("watched file not read", "name", f.Name, "err", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// differences reads the files whose size or time differs from what is kept.
func (t *Triggers) differences(files []vault.File, before map[string]vault.File, partly bool) []vault.Change {
	var changes []vault.Change
	for _, f := range files {
		old, known := before[f.Name]
		delete(before, f.Name)
		if known && old.Size == f.Size && old.Modified.Equal(f.Modified) {
			continue
		}
		now, err := t.cfg.Files.Look(f.Name)
		if err == nil {
			changes = append(changes, vault.Change{File: now, Op: vault.OpModify})
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.cfg.Logger.Warn("watched file not read", "name", f.Name, "err", err)
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
