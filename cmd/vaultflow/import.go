package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

// importFlags are the flags of `import`.
type importFlags struct {
	mode    string
	name    string
	status  bool
	wait    int
	timeout time.Duration
	retry   string
	cancel  string
	limit   int
}

func newImport(g *globals) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import PATH...",
		Short: "Import files or folders of this machine; the originals stay. `-` reads standard input",
		Long: "Import files or folders of this machine: they are copied into the import folder and imported; the originals stay.\n" +
			"With --status list imports. While `serve` runs, dropping a file into the import folder does the same.",
		RunE: func(cmd *cobra.Command, paths []string) error {
			a, err := g.open()
			if err != nil {
				return err
			}
			defer a.close()
			switch {
			case f.status || f.wait > 0:
				return a.importStatus(cmd.Context(), g, f)
			case f.retry != "":
				return a.retryImport(cmd.Context(), g, f.retry)
			case f.cancel != "":
				return a.cancelRun(cmd.Context(), f.cancel)
			case len(paths) == 0:
				return usagef("name files or folders, or use --status")
			}
			return a.importPaths(cmd.Context(), g, paths, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.mode, "mode", "", "markdown, page_images or hybrid, in place of the setting")
	flags.StringVar(&f.name, "name", "", "name of what standard input holds, with its extension")
	flags.BoolVar(&f.status, "status", false, "list imports, those under way first")
	flags.IntVar(&f.wait, "wait", 0, "with --status: wait until so many imports have ended")
	flags.DurationVar(&f.timeout, "timeout", 10*time.Minute, "longest time for --wait")
	flags.StringVar(&f.retry, "retry", "", "take up a failed import again, by its id")
	flags.StringVar(&f.cancel, "cancel", "", "end an import that is under way, by its id")
	flags.IntVarP(&f.limit, "limit", "n", 20, "how many --status lists")
	return cmd
}

// importPaths imports one file after the other and ends with the worst outcome.
func (a *app) importPaths(ctx context.Context, g *globals, paths []string, f importFlags) error {
	if f.mode != "" && f.mode != "markdown" && f.mode != "page_images" && f.mode != "hybrid" {
		return usagef("--mode %q; there are markdown, page_images and hybrid", f.mode)
	}
	orders, cleanup, err := importOrders(paths, f)
	defer cleanup()
	if err != nil {
		return err
	}
	var worst error
	for _, o := range orders {
		err := a.runNow(ctx, g, order{Import: &o}, func(ctx context.Context, w *working) (string, error) { return w.dropFile(ctx, o) })
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			if err.Error() != "" {
				fmt.Fprintf(g.err, "%s: %v\n", o.Path, err)
			}
			worst = exit(exitCode(err), nil)
		}
	}
	return worst
}

// importOrders lists the files that are meant: folders are walked, standard input is kept in a file of its own.
func importOrders(paths []string, f importFlags) (orders []importOrder, cleanup func(), err error) {
	cleanup = func() {}
	for _, path := range paths {
		if path == "-" {
			if f.name == "" {
				return nil, cleanup, usagef("say what standard input holds: --name q3.pdf")
			}
			temp, err := keepStdin()
			if err != nil {
				return nil, cleanup, err
			}
			cleanup = func() { os.Remove(temp) }
			orders = append(orders, importOrder{Path: osPath(temp), Name: f.name, Mode: f.mode})
			continue
		}
		err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if strings.HasPrefix(d.Name(), ".") && p != path {
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			if !d.Type().IsRegular() {
				return nil
			}
			full, err := filepath.Abs(p)
			orders = append(orders, importOrder{Path: osPath(full), Name: d.Name(), Mode: f.mode})
			return err
		})
		if err != nil {
			return nil, cleanup, usagef("import: %w", err)
		}
	}
	if len(orders) == 0 {
		return nil, cleanup, usagef("there is no file to import in %s", strings.Join(paths, ", "))
	}
	return orders, cleanup, nil
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

// importStatus lists imports; with --wait it first waits until so many have ended.
func (a *app) importStatus(ctx context.Context, g *globals, f importFlags) error {
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	said := map[string]string{}
	for {
		var rows []engine.ImportRecord
		err := a.reading(ctx, func(j *journal.Journal) (err error) {
			rows, err = j.Imports(ctx, journal.ImportFilter{Limit: max(f.limit, f.wait*2)})
			return err
		})
		if err != nil && !errors.Is(err, errNoState) {
			return err
		}
		ended := 0
		for _, r := range rows {
			if r.State.Finished() {
				ended++
			}
			if line := importLine(r); f.wait > 0 && said[r.ID] != line {
				said[r.ID] = line
				fmt.Fprintln(g.err, line)
			}
		}
		if ended >= f.wait {
			return table(g, "ID\tSTATE\tSOURCE\tPAGES\tBUNDLE\tWHY", rows, importRow)
		}
		select {
		case <-ctx.Done():
			return exit(exitFailed, fmt.Errorf("%d of %d imports have ended after %s", ended, f.wait, f.timeout))
		case <-time.After(300 * time.Millisecond):
		}
	}
}

func importLine(r engine.ImportRecord) string {
	if r.Pages > 1 && !r.State.Finished() {
		return fmt.Sprintf("  %s: %s, page %d of %d", r.Source, r.State, r.Page, r.Pages)
	}
	return fmt.Sprintf("  %s: %s", r.Source, r.State)
}

func importRow(r engine.ImportRecord) string {
	why := r.Error
	if why == "" {
		why = r.Reason
	}
	return fmt.Sprintf("%s\t%s\t%s\t%d/%d\t%s\t%s", r.ID, r.State, r.Source, r.Page, r.Pages, r.Bundle, shorten(why, 70))
}

// retryImport takes up a failed import again.
func (a *app) retryImport(ctx context.Context, g *globals, id string) error {
	return a.runNow(ctx, g, order{Retry: id}, func(ctx context.Context, w *working) (string, error) { return id, w.exec.Retry(ctx, id) })
}

// cancelRun ends a run or an import that is under way in the working process.
func (a *app) cancelRun(ctx context.Context, id string) error {
	if _, err := ask(ctx, a.stateDir, order{Cancel: id}); err != nil {
		return fmt.Errorf("cancel %s: %w", id, err)
	}
	return nil
}
