package step

import (
	"bytes"
	"context"
	"errors"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/diff"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/prompt"
)

// Why a file is shown whole although its changes were asked for.
const (
	whyFirst = "the step has not finished with it before, so there are no changes to show"
	whyLost  = "its content of the last time is no longer kept, so there are no changes to show"
	whyKind  = "its changes cannot be shown line by line"
)

// hasContent reports whether an input found something. Files without changes do not count if changes are asked for.
func hasContent(found engine.ResolvedInput) bool {
	for _, file := range found.Files {
		if !file.Changes || file.Since != file.SHA256 {
			return true
		}
	}
	return found.Digest != ""
}

// keep stores the texts of files whose changes are shown: the next run compares with them. The record of the run refers to them,
// so they stay as long as it does.
func (r Inputs) keep(ctx context.Context, out *engine.ResolveOut) error {
	for i := range out.Inputs {
		for j := range out.Inputs[i].Files {
			file := &out.Inputs[i].Files[j]
			if !file.Changes {
				continue
			}
			data, digest, err := r.Vault.Read(file.Name, r.MaxText)
			if err != nil || !isText(data) {
				continue // it is shown whole, or is no longer there
			}
			file.SHA256 = digest
			if _, err := r.Blobs.Put(ctx, data); err != nil {
				return err
			}
		}
	}
	return nil
}

// changes compares the files of an input with what they were when the step last finished.
func (r Inputs) changes(ctx context.Context, files []engine.ResolvedFile) (map[string]prompt.Change, error) {
	var list map[string]prompt.Change
	for _, file := range files {
		if !file.Changes {
			continue
		}
		change, err := r.change(ctx, file)
		if err != nil {
			return nil, err
		}
		if list == nil {
			list = map[string]prompt.Change{}
		}
		list[file.Name] = change
	}
	return list, nil
}

func (r Inputs) change(ctx context.Context, file engine.ResolvedFile) (prompt.Change, error) {
	whole := func(why string) (prompt.Change, error) { return prompt.Change{Fate: prompt.Whole, Why: why}, nil }
	switch file.Since {
	case "":
		return whole(whyFirst)
	case file.SHA256:
		return prompt.Change{Fate: prompt.Unchanged}, nil
	}
	before, err := r.Blobs.Get(ctx, file.Since)
	if errors.Is(err, engine.ErrNotFound) {
		return whole(whyLost)
	}
	if err != nil {
		return prompt.Change{}, failure.New(failure.State, "", "read what %s last contained: %v", file.Name, err)
	}
	now, err := r.Blobs.Get(ctx, file.SHA256)
	if errors.Is(err, engine.ErrNotFound) { // a preview stores nothing
		now, _, err = r.Vault.Read(file.Name, r.MaxText)
	}
	if err != nil {
		return whole(whyKind) // too long, or no longer there: the builder finds out
	}
	text, ok := diff.Plain(before, now, file.Name)
	if !ok {
		return whole(whyKind)
	}
	return prompt.Change{Fate: prompt.Changed, Diff: text}, nil
}

// shownText returns a file's text, or its changes if these are asked for.
func (r Inputs) shownText(ctx context.Context, file engine.ResolvedFile) (string, error) {
	if file.Changes {
		switch change, err := r.change(ctx, file); {
		case err != nil:
			return "", err
		case change.Fate != prompt.Whole:
			return change.Diff, nil
		}
	}
	return r.fileText(file.Name)
}

func isText(data []byte) bool { return bytes.IndexByte(data, 0) < 0 && utf8.Valid(data) }
