package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/ingestion/choose"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/media/remote"
)

// importFlags are the flags of `import`.
type importFlags struct {
	control.ImportHow
	name    string
	status  bool
	wait    int
	timeout time.Duration
	retain  bool
	retry   string
	cancel  string
	limit   int

	passwordStdin bool
}

func newImport(g *globals) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import PATH|URL...",
		Short: "Import files, folders or web addresses; `-` reads standard input. The originals stay",
		Long: "Import files, folders or web addresses. Files are copied into the import folder; the originals stay, and folders keep\n" +
			"their structure. Addresses (https://…) are fetched within the limits of ingestion.remote; private ones are refused.\n" +
			"--status lists imports. While `serve` runs, you can also drop files into the import folder.",
		RunE: func(cmd *cobra.Command, paths []string) error {
			if err := f.check(paths); err != nil {
				return err
			}
			if cmd.Flags().Changed("retain-ocr-images") {
				f.RetainImages = &f.retain
			}
			a, err := g.open(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			if f.passwordStdin {
				password, err := readPassword(untilDone{cmd.Context(), cmd.InOrStdin()})
				if err != nil {
					return err
				}
				a.Passwords.Add(password)
			}
			switch {
			case f.status || f.wait > 0:
				return importStatus(cmd.Context(), a, g, f)
			case f.retry != "":
				return retryImport(cmd.Context(), a, g, f.retry)
			case f.cancel != "":
				return cancelImport(cmd.Context(), a, f.cancel)
			}
			return importPaths(cmd.Context(), a, g, paths, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Mode, "mode", "", "markdown, page_images or hybrid; overrides the setting")
	flags.StringSliceVar(&f.Languages, "languages", nil, "languages of the text in pictures, such as deu,eng; overrides the setting")
	flags.StringVar(&f.Pages, "pages", "", "only these pages of each document, such as 1-20,35,50-")
	flags.BoolVar(&f.retain, "retain-ocr-images", false, "keep the pictures that an OCR service cuts out of pages; overrides the setting")
	flags.BoolVar(&f.RedoOCR, "redo-ocr", false, "recognise text again on pages that already have a layer of recognised text")
	flags.BoolVar(&f.passwordStdin, "password-stdin", false, "read a password for encrypted documents from standard input; it is not stored")
	flags.StringVar(&f.name, "name", "", "file name for standard input or an address, with extension")
	flags.BoolVar(&f.status, "status", false, "list imports, newest first")
	flags.IntVar(&f.wait, "wait", 0, "with --status: wait until this many imports have ended")
	flags.DurationVar(&f.timeout, "timeout", 10*time.Minute, "longest time for --wait")
	flags.StringVar(&f.retry, "retry", "", "retry the failed or incomplete import with this id, with the current settings")
	flags.StringVar(&f.cancel, "cancel", "", "cancel the running import with this id")
	flags.IntVarP(&f.limit, "limit", "n", 20, "how many imports --status lists")
	return detachable(g, cmd)
}

// check validates the flags and normalises --pages.
func (f *importFlags) check(paths []string) error {
	doing := 0
	for _, is := range []bool{f.status || f.wait > 0, f.retry != "", f.cancel != "", len(paths) > 0} {
		if is {
			doing++
		}
	}
	if f.passwordStdin && (f.retry == "" && len(paths) == 0 || slices.Contains(paths, "-")) {
		return usagef("--password-stdin goes with files, folders or --retry, and standard input holds the password alone")
	}
	modes := []string{"", config.ModeMarkdown, config.ModePageImages, config.ModeHybrid}
	pages, err := choose.ParsePages(f.Pages)
	switch {
	case slices.Contains(paths, ""):
		return usagef("a path is empty; is a variable of your shell not set?")
	case f.name != "" && len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool { return p == "-" || remote.IsAddress(p) }):
		return usagef("--name is for standard input or an address; rename the file instead")
	case doing == 0:
		return usagef("name files or folders, or use --status")
	case doing > 1:
		return usagef("use only one of paths, --status, --retry and --cancel")
	case !slices.Contains(modes, f.Mode):
		return usagef("--mode %q; there are markdown, page_images and hybrid", f.Mode)
	case err != nil:
		return usagef("--%w", err)
	}
	for _, name := range f.Languages {
		if !extract.ValidLanguage(name) {
			return usagef("--languages: %q is no name of language data; write for example deu,eng", name)
		}
		if name != extract.AutoLanguage && !extract.IsLanguageCode(name) {
			return usagef("--languages: %q is no code of Tesseract for a language; write for example deu for German, or name a model of your own in ingestion.ocr.languages", name)
		}
	}
	f.Pages = pages.String()
	return nil
}

// importRun finds an import by its id, or by the beginning of one.
func importRun(ctx context.Context, a *daemon.Workspace, id string) (engine.RunRecord, error) {
	found, err := findRun(ctx, a, id, "no import %q; `vaultflow import --status` lists them")
	if err != nil {
		_ = a.Reading(ctx, func(j *journal.Journal) error { // err says enough if this fails
			if _, lost := j.Imports.Get(ctx, id); lost == nil {
				err = usagef("the run of import %s was lost with an earlier history of this vault", id)
			}
			return nil
		})
	} else if found.Kind != engine.KindImport {
		err = usagef("%s is a run of the workflow %s, no import; `vaultflow retry` and `vaultflow cancel` are for both", found.ID, found.Workflow)
	}
	return found, err
}

// retryImport retries a failed import.
func retryImport(ctx context.Context, a *daemon.Workspace, g *globals, id string) error {
	found, err := importRun(ctx, a, id)
	if err != nil {
		return err
	}
	return retryRun(ctx, a, g, found, engine.RetryFrom{})
}

// cancelImport ends an import that is under way.
func cancelImport(ctx context.Context, a *daemon.Workspace, id string) error {
	found, err := importRun(ctx, a, id)
	if err != nil {
		return err
	}
	return cancelRun(ctx, a, found)
}

// readPassword reads a password from the first line of a stream. It must not be empty.
func readPassword(r io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(r, 4<<10)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", fmt.Errorf("read the password: %w", err)
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", usagef("--password-stdin: standard input holds no password")
	}
	return line, nil
}
