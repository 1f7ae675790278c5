package activity

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
)

// Commit writes what Stage prepared. A file that has the new content already was written before this process died; one
// that has neither the new content nor the one it was built on belongs to somebody else now: it is a conflict and stays.
func (w *Workflow) Commit(ctx context.Context, in engine.CommitIn) (engine.CommitOut, error) {
	var out engine.CommitOut
	var write []engine.StagedFile
	for _, file := range in.Files {
		current, err := w.current(file.Name)
		switch {
		case err != nil:
			return out, engine.Fail(engine.CodeVault, "", "read %s before writing: %v", file.Name, err)
		case current == file.New:
			out.Written = append(out.Written, file)
		case current == file.Base:
			write = append(write, file)
		default:
			out.Conflicts = append(out.Conflicts, file.Name)
		}
	}
	if len(out.Conflicts) > 0 {
		return out, nil
	}
	if err := w.Memory.Writing(ctx, in.StepRef, in.Files); err != nil {
		return out, err
	}
	for _, file := range write {
		data, err := w.Blobs.Get(ctx, file.New)
		if err != nil {
			return out, err
		}
		err = w.Vault.Write(ctx, file.Name, data, file.Base)
		if isConflict(err) {
			out.Conflicts = append(out.Conflicts, file.Name)
			continue
		}
		if err != nil {
			return out, outputFailure(err)
		}
		out.Written = append(out.Written, file)
	}
	slices.SortFunc(out.Written, func(a, b engine.StagedFile) int { return indexOf(in.Files, a.Name) - indexOf(in.Files, b.Name) })
	if len(out.Conflicts) > 0 {
		return out, nil
	}
	if in.Cache != nil && w.Cache != nil {
		if err := w.Cache.Keep(ctx, in.StepRef, *in.Cache); err != nil {
			return out, err
		}
	}
	return out, w.Memory.Committed(ctx, in.StepRef, in.Marks, in.Shared)
}

func indexOf(files []engine.StagedFile, name string) int {
	return slices.IndexFunc(files, func(f engine.StagedFile) bool { return f.Name == name })
}

// current is the digest of a file's content, empty when there is none. It asks the vault, as Stage does, because the
// vault takes a name that differs only in case for the file that is there.
func (w *Workflow) current(name string) (string, error) {
	_, digest, err := w.Vault.Read(name, w.MaxText)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return digest, err
}

// isConflict tells whether a conditional write found another content.
func isConflict(err error) bool {
	conflict, ok := errors.AsType[interface {
		error
		Conflict() bool
	}](err)
	return ok && conflict.Conflict()
}

// outputFailure gives an error of writing its code, unless it has one.
func outputFailure(err error) error {
	failure := engine.FailureOf(err)
	if failure.Code == engine.CodeInternal {
		failure.Code = engine.CodeOutput
	}
	return failure
}
