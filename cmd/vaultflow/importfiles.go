package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/media/remote"
	"github.com/vaultflow/vaultflow/policy"
)

// importsAhead is how many files are asked for before the first of them has ended: the executor always has one to begin.
const importsAhead = 4

// importPaths imports files in the order in which they were named, with a line for each, and ends with the worst outcome.
func importPaths(ctx context.Context, a *daemon.Workspace, g *globals, paths []string, f importFlags) error {
	orders, cleanup, err := importOrders(g, paths, f)
	defer cleanup()
	if err != nil {
		return err
	}
	kept := importFolders(a)
	defer func() { removeMade(a, kept) }()
	w, err := a.Work(ctx)
	if isLocked(err) {
		return a.Reading(ctx, func(j *journal.Journal) error {
			batch := &importBatch{app: a, g: g, j: j, todo: orders, watched: true, start: func(ctx context.Context, o control.ImportOrder) (string, error) {
				r, err := a.Ask(ctx, control.Order{Import: &o, Passwords: a.Passwords.Given()})
				return r.Run, err
			}}
			return batch.run(ctx)
		})
	}
	if err != nil {
		return err
	}
	defer w.Close()
	return w.Run(ctx, func(ctx context.Context) error {
		batch := &importBatch{app: a, g: g, j: w.Journal, todo: orders, start: w.Imports.DropOrTake}
		return batch.run(ctx)
	})
}

// importBatch is files that one command imports.
type importBatch struct {
	app     *daemon.Workspace
	g       *globals
	j       *journal.Journal
	todo    []control.ImportOrder
	start   func(context.Context, control.ImportOrder) (run string, err error)
	watched bool // the process that works on the vault has a watcher, which finds what is unpacked into the import folder
}

type startedImport struct {
	run string
	err error
}

func (b *importBatch) run(ctx context.Context) error {
	var worst error
	var started []startedImport
	for i := 0; i < len(b.todo); i++ {
		for len(started) < min(i+importsAhead, len(b.todo)) {
			run, err := b.start(ctx, b.todo[len(started)])
			started = append(started, startedImport{run, err})
		}
		err := b.finish(ctx, i, started[i])
		if ctx.Err() != nil {
			return exit(exitCancelled, errors.New("stopped; what was begun goes on where it was with the next serve"))
		}
		worst = worse(worst, err)
	}
	return worst
}

// finish waits for one import and says how it ended.
func (b *importBatch) finish(ctx context.Context, i int, s startedImport) error {
	place := ""
	if len(b.todo) > 1 {
		place = fmt.Sprintf("%d of %d  ", i+1, len(b.todo))
	}
	if s.err != nil {
		fmt.Fprintf(b.g.err, "%s%s: %v\n", place, labelOf(b.todo[i]), s.err)
		if hint := failure.Of(s.err).Hint; hint != "" {
			fmt.Fprintln(b.g.err, "  hint:", hint)
		}
		return exit(failureExit(s.err), nil)
	}
	if s.run == "" {
		fmt.Fprintf(b.g.err, "%s%s: left out, the import folder ignores files of this name\n", place, labelOf(b.todo[i]))
		return nil
	}
	record, err := followRun(ctx, b.g, b.j, s.run)
	if err != nil {
		return err
	}
	made, err := b.j.Imports.Get(ctx, record.ID)
	if err != nil {
		return err
	}
	if err := b.g.print(made, func(io.Writer) {}); err != nil {
		return err
	}
	if err := b.g.print(record, func(w io.Writer) { fmt.Fprint(w, place); writeImport(w, record, made) }); err != nil {
		return err
	}
	if code := runExit(record); code != exitDone {
		err = exit(code, nil)
	}
	return errors.Join(err, b.unpacked(made))
}

// unpacked adds the files of an archive, or the attachments of a message, to those that are imported.
func (b *importBatch) unpacked(r engine.ImportRecord) error {
	if r.State != engine.ImportDone {
		return nil
	}
	orders, err := membersOf(b.app, r)
	if b.watched && len(orders) > 0 {
		fmt.Fprintf(b.g.err, "  its %d files are imported by the serve that is running; `vaultflow import --status` shows them\n", len(orders))
		return err
	}
	b.todo = append(b.todo, orders...)
	return err
}

// writeImport prints how an import ended. Its warnings were told while it was followed.
func writeImport(w io.Writer, run engine.RunRecord, r engine.ImportRecord) {
	fmt.Fprintf(w, "%s  %s: %s", r.ID, r.Source, r.State)
	if r.Pages > 1 && r.Bundle != "" {
		fmt.Fprintf(w, ", %d pages", r.Pages)
	}
	if r.Bundle != "" {
		fmt.Fprintf(w, " -> %s", r.Bundle)
	}
	fmt.Fprintln(w)
	if run.Failure != nil {
		fmt.Fprintf(w, "  %s: %s\n", run.Failure.Code, run.Failure.Message)
		if run.Failure.Hint != "" {
			fmt.Fprintf(w, "  hint: %s\n", run.Failure.Hint)
		}
	} else if run.Reason != "" {
		fmt.Fprintf(w, "  %s\n", run.Reason)
	}
	if run.Failure != nil && r.Filed != "" {
		fmt.Fprintf(w, "  the file is at %s; afterwards: vaultflow import --retry %s\n", r.Filed, r.ID)
	}
}

// worse gives the graver of two outcomes: a failure goes before pages that are missing.
func worse(a, b error) error {
	if b == nil || a != nil && exitCode(a) != exitOmissions {
		return a
	}
	return b
}

// labelOf names an order for people.
func labelOf(o control.ImportOrder) string {
	switch {
	case o.URL != "":
		return remote.Redact(o.URL)
	case o.Path == "":
		return o.Name
	}
	return string(o.Path)
}

// members are the files that an import was unpacked into, in the import folder.
func membersOf(a *daemon.Workspace, r engine.ImportRecord) ([]control.ImportOrder, error) {
	data, _, err := a.Vault.Read(path.Join(r.Bundle, "manifest.json"), 64<<20)
	if err != nil {
		return nil, fmt.Errorf("look for the files of %s: %w", r.Source, err)
	}
	m, err := manifest.Parse(data)
	if err != nil || len(m.Children) == 0 {
		return nil, err
	}
	v := a.Settings.Vault
	dir := path.Join(v.ImportDir, strings.TrimPrefix(r.Bundle, v.ImportedDir+"/"))
	var orders []control.ImportOrder
	err = fs.WalkDir(a.Vault.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && d.Type().IsRegular() && a.Vault.Takes(name) {
			orders = append(orders, control.ImportOrder{Name: name})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", r.Source, err)
	}
	return orders, nil
}

// importFolders are the folders of the import folder, which a person may have made to drop files into.
func importFolders(a *daemon.Workspace) map[string]bool {
	folders := map[string]bool{}
	entries, err := fs.ReadDir(a.Vault.FS(), a.Settings.Vault.ImportDir)
	if err != nil { // there is none yet
		return folders
	}
	for _, e := range entries {
		folders[e.Name()] = e.IsDir()
	}
	return folders
}

// removeMade removes the folders that files were copied into, when they are empty and were not there before.
func removeMade(a *daemon.Workspace, before map[string]bool) {
	after := importFolders(a)
	for name, isFolder := range after {
		if !isFolder || before[name] {
			continue
		}
		top := path.Join(a.Settings.Vault.ImportDir, name)
		err := fs.WalkDir(a.Vault.FS(), top, func(dir string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				err = a.Writing(policy.ByDrop).RemoveEmptyFolders(dir, top)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil // it went with the one below
			}
			return err
		})
		if err != nil {
			a.Log.Warn("empty folder not removed", "name", top, "err", err)
		}
	}
}

// importOrders lists the files that are meant: folders are walked, standard input is kept in a file of its own. Files of a
// folder keep their places below a folder of its name.
func importOrders(g *globals, paths []string, f importFlags) (orders []control.ImportOrder, cleanup func(), err error) {
	cleanup = func() {}
	for _, given := range paths {
		if given == "-" {
			if f.name == "" {
				return nil, cleanup, usagef("say what standard input holds: --name q3.pdf")
			}
			temp, err := keepStdin()
			if err != nil {
				return nil, cleanup, err
			}
			cleanup = func() { os.Remove(temp) }
			orders = append(orders, control.ImportOrder{Path: control.OSPath(temp), Name: f.name, ImportHow: f.ImportHow})
			continue
		}
		if remote.IsAddress(given) {
			orders = append(orders, control.ImportOrder{URL: given, Name: f.name, ImportHow: f.ImportHow})
			continue
		}
		found, err := ordersIn(g, given, f)
		if err != nil {
			return nil, cleanup, usagef("import: %w", err)
		}
		orders = append(orders, found...)
	}
	if len(orders) == 0 {
		return nil, cleanup, usagef("there is no file to import in %s", strings.Join(paths, ", "))
	}
	return orders, cleanup, nil
}

// ordersIn lists the files of a path that a person named. What cannot be read below it is told and left out.
func ordersIn(g *globals, given string, f importFlags) ([]control.ImportOrder, error) {
	root, err := filepath.Abs(given)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(root) // of the link, when it is one
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	var orders []control.ImportOrder
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && p == root:
			return err
		case err != nil:
			fmt.Fprintf(g.err, "left out: %v\n", err)
			return nil
		case p != root && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		below, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		orders = append(orders, control.ImportOrder{
			Path: control.OSPath(p), Name: path.Join(name, filepath.ToSlash(below)), ImportHow: f.ImportHow, Walked: p != root,
		})
		return nil
	})
	return orders, err
}

func keepStdin() (path string, err error) {
	temp, err := os.CreateTemp("", "vaultflow-stdin-*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(temp, os.Stdin)
	if err = errors.Join(err, temp.Close()); err != nil {
		os.Remove(temp.Name())
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return temp.Name(), nil
}
