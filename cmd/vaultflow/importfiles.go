package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/intake"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/media/remote"
	"github.com/vaultflow/vaultflow/policy"
)

// importPaths imports files in the order in which they were named, prints a line for each, and returns the worst outcome.
func importPaths(ctx context.Context, a *daemon.Workspace, g *globals, paths []string, f importFlags) error {
	orders, cleanup, err := importOrders(ctx, a, g, paths, f)
	defer cleanup()
	if err != nil {
		return err
	}
	dir := a.Settings.Vault.ImportDir
	before := intake.FoldersIn(a.Vault, dir)
	defer func() {
		if err := intake.RemoveMade(a.Vault, a.Writing(policy.ByDrop), dir, before); err != nil {
			a.Log.Warn("folders made for the import are left", "err", err)
		}
	}()
	w, err := a.Work(ctx, func() error { prepare(a, orders[0]); return nil })
	if err != nil && !isLocked(err) {
		return err
	}
	if err == nil {
		defer w.Close()
	}
	s, end, stopped := patiently(ctx) // from here on there may be imports to stop
	defer end()
	switch {
	case stopped != nil:
		return stopped
	case err != nil:
		return importElsewhere(s, a, g, orders)
	case g.detach:
		return errDetached
	}
	i := &importing{app: a, g: g, j: w.Journal, stop: s, wait: w.Exec.Wait, end: w.Runs.Cancel}
	err = w.Run(context.WithoutCancel(s.leave), func(context.Context) error { return i.run(orders, w.Imports.DropOrTake) })
	return i.left(err)
}

// importElsewhere asks the process that works on the vault.
func importElsewhere(s stopping, a *daemon.Workspace, g *globals, orders []control.ImportOrder) error {
	err := a.Reading(context.WithoutCancel(s.leave), func(j *journal.Journal) error {
		i := &importing{app: a, g: g, j: j, stop: s, end: cancelElsewhere(a)}
		return i.left(i.run(orders, func(ctx context.Context, o control.ImportOrder) (string, error) {
			r, err := a.AskUntil(ctx, s.asked, control.Order{Import: &o, Passwords: a.Passwords.Given()})
			return r.Run, err
		}))
	})
	if errors.Is(err, daemon.ErrNothingRun) { // a command that began just now makes the state
		err = exit(failureExit(control.ErrNoServe), control.ErrNoServe)
	}
	return err
}

// prepare has workers start for the first file while the journal is opened, and the file copied and recorded.
func prepare(a *daemon.Workspace, first control.ImportOrder) {
	if info, err := os.Stat(string(first.Path)); err == nil {
		a.Workers.Prepare(ingestion.WorkersForName(info.Name(), info.Size()))
	}
}

// importing prints the imports of a batch.
type importing struct {
	app  *daemon.Workspace
	g    *globals
	j    *journal.Journal
	stop stopping
	wait waiter // nil if a serve does the work: it watches the import folder, and imports what is unpacked into it
	end  func(ctx context.Context, run string) error

	asked int      // files
	begun []string // their runs, in order
	done  int      // of them, those that were waited for
	rest  int      // files that had not been asked for when the user left
}

// cancel ends the imports that have begun: not only the one that is waited for.
func (i *importing) cancel(ctx context.Context, _ string) error {
	var failed error
	for _, run := range i.begun[i.done:] {
		failed = errors.Join(failed, i.end(ctx, run))
	}
	return failed
}

// left returns the outcome of a batch. If the user left, it prints what becomes of the imports.
func (i *importing) left(err error) error {
	if !errors.Is(err, errLeft) {
		return err
	}
	err = left(i.stop.leave, i.g, i.j, i.wait != nil, i.begun[i.done:]...)
	if i.rest == 0 {
		return err
	}
	return also(err, filesLeft(i.rest))
}

func filesLeft(files int) error {
	return exit(exitCancelled, fmt.Errorf("stopped before %s; the same command continues", words.Counted(files, "file")))
}

func (i *importing) run(orders []control.ImportOrder, start func(context.Context, control.ImportOrder) (string, error)) error {
	b := intake.NewBatch(orders, func(ctx context.Context, o control.ImportOrder) (string, error) {
		if i.stop.stopped() || i.stop.leave.Err() != nil {
			return "", errNotBegun
		}
		i.asked++
		run, err := start(ctx, o)
		switch {
		case run != "":
			i.begun = append(i.begun, run)
		case err != nil && i.stop.leave.Err() != nil:
			if i.wait == nil { // nobody knows whether it begins
				fmt.Fprintf(i.g.err, "%s: %v\n", labelOf(o), notStarted(i.stop, err))
			} else {
				i.asked--
			}
		}
		return run, err
	})
	var worst error
	for n, started := range b.All(i.stop.leave) {
		if errors.Is(started.Err, errNotBegun) || errors.Is(started.Err, control.ErrUnsent) {
			return filesLeft(b.Len() - n)
		}
		place := ""
		if b.Len() > 1 {
			place = fmt.Sprintf("%d of %d  ", n+1, b.Len())
		}
		err := i.finish(b, place, started)
		if errors.Is(err, errLeft) {
			i.rest = b.Len() - i.asked
			return err
		}
		if started.Run != "" {
			i.done++
		}
		worst = worse(worst, err)
	}
	return worst
}

// finish waits for one import, prints how it ended, and adds the files that it unpacked.
func (i *importing) finish(b *intake.Batch, place string, s intake.Started) error {
	if s.Err != nil {
		s.Err = notStarted(i.stop, s.Err)
		fmt.Fprintf(i.g.err, "%s%s: %v\n", place, labelOf(s.Order), s.Err)
		if hint := failure.Of(s.Err).Hint; hint != "" {
			fmt.Fprintln(i.g.err, "  hint:", hint)
		}
		return exit(failureExit(s.Err), nil)
	}
	if s.Run == "" {
		fmt.Fprintf(i.g.err, "%s%s: skipped, the import folder ignores files with this name\n", place, labelOf(s.Order))
		return nil
	}
	if i.g.detach {
		return begun(i.stop.leave, i.g, i.j, s.Run)
	}
	record, err := followRun(i.stop, i.g, i.j, followed{s.Run, time.Time{}, i.wait, i.cancel})
	if err != nil {
		return err
	}
	made, err := i.j.Imports.Get(i.stop.leave, record.ID)
	if err != nil {
		return err
	}
	if err := i.g.print(made, func(io.Writer) {}); err != nil {
		return err
	}
	if err := i.g.print(record, func(w io.Writer) { fmt.Fprint(w, place); writeImport(w, record, made) }); err != nil {
		return err
	}
	if i.stop.stopped() {
		if err := showStopped(i.stop.leave, i.g, i.j, record); err != nil {
			return err
		}
	}
	if code := runExit(record); code != exitDone {
		err = exit(code, nil)
	}
	members, failed := intake.Unpacked(i.app.Vault, i.app.Settings.Vault, made)
	if i.wait == nil && len(members) > 0 {
		fmt.Fprintf(i.g.err, "  the running serve imports its %d files; `vaultflow import --status` lists them\n", len(members))
	} else {
		b.Add(members...)
	}
	return errors.Join(err, failed)
}

// writeImport prints how an import ended. Its warnings were printed while it ran.
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
		fmt.Fprintf(w, "  %s\n", failureText(run.Failure))
		if run.Failure.Hint != "" {
			fmt.Fprintf(w, "  hint: %s\n", run.Failure.Hint)
		}
	} else if run.Reason != "" {
		fmt.Fprintf(w, "  %s\n", run.Reason)
	}
	if r.State == engine.ImportPartial && r.Filed != "" && !r.Final {
		fmt.Fprintf(w, "  to make what is missing: vaultflow import --retry %s\n", r.ID)
	}
	if r.State == engine.ImportDone && len(r.NotSeen) > 0 && r.Filed != "" {
		fmt.Fprintf(w, "  %s not read by a model; once it can be: vaultflow import --retry %s\n", content.PageList(r.NotSeen), r.ID)
	}
	if run.Failure != nil && r.Filed != "" {
		fmt.Fprintf(w, "  the file is at %s; when the cause is fixed: vaultflow import --retry %s\n", r.Filed, r.ID)
	}
}

// worse returns the worse of two outcomes: a failure is worse than missing pages.
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

// holds reports whether a path is a folder or lies below it, also through links.
func holds(folder, name string) bool {
	for _, p := range []*string{&folder, &name} {
		full, err := filepath.Abs(*p)
		if err != nil {
			return false
		}
		*p = full
		if real, err := filepath.EvalSymlinks(full); err == nil {
			*p = real
		}
	}
	below, err := filepath.Rel(folder, name)
	return err == nil && filepath.IsLocal(below)
}

// importOrders lists the files to import. Folders are walked, and standard input goes into a temporary file, which cleanup
// removes.
func importOrders(ctx context.Context, a *daemon.Workspace, g *globals, paths []string, f importFlags) (orders []control.ImportOrder, cleanup func(), err error) {
	cleanup = func() {}
	for _, given := range paths {
		if given == "-" {
			if f.name == "" {
				return nil, cleanup, usagef("name what standard input holds, for example --name q3.pdf")
			}
			temp, err := keepStdin(ctx)
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
		if holds(given, a.Dir) {
			return nil, cleanup, usagef("%s contains the vault itself; name the files or folders to import", given)
		}
		if scheme, ok := otherScheme(given); ok {
			return nil, cleanup, usagef("import fetches addresses that begin with https:// or http://, not %s://; download the file, and import it by its path", scheme)
		}
		if holds(filepath.Join(a.Dir, a.Settings.Vault.ImportedDir), given) {
			return nil, cleanup, usagef("%s was imported already; `vaultflow import --retry ID` repeats an import that `--status` lists; to import a copy, put it outside %s", given, a.Settings.Vault.ImportedDir)
		}
		found, err := intake.OrdersIn(given, f.ImportHow, func(err error) { fmt.Fprintf(g.err, "skipped: %v\n", err) })
		if errors.Is(err, fs.ErrNotExist) {
			return nil, cleanup, usagef("import: there is no file or folder %s", given)
		}
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

var schemed = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*)://`)

// otherScheme returns the scheme of an address, unless a file has this name.
func otherScheme(given string) (string, bool) {
	m := schemed.FindStringSubmatch(given)
	if m == nil {
		return "", false
	}
	_, err := os.Lstat(given)
	return strings.ToLower(m[1]), err != nil
}

func keepStdin(ctx context.Context) (path string, err error) {
	temp, err := os.CreateTemp("", "vaultflow-stdin-*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(temp, untilDone{ctx, os.Stdin})
	if err = errors.Join(err, temp.Close()); err != nil {
		os.Remove(temp.Name())
		return "", fmt.Errorf("read standard input: %w", err)
	}
	return temp.Name(), nil
}
