// Command vaultflow is the workflow engine for Markdown vaults: it watches a vault's Import folder, runs the workflows
// that people write as notes, and shows what it did. This package holds flags, wiring and exit codes; it is the one
// place that knows every concrete type of the house.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/failure"
)

// version is set by the build with -X main.version.
var version = "dev"

// source is where the source of this build is published, for whoever uses it over a network (AGPL, section 13). Who builds a
// modified version sets it with -X main.source; empty means the project's own.
var source = ""

func main() { os.Exit(run()) }

// run is main with an exit code, so that the script tests can call it in their own process.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // who asks a second time does not want to wait: the journal holds a kill too
	s := &streams{out: os.Stdout, err: os.Stderr}
	err := newRoot(s).ExecuteContext(ctx)
	for _, w := range []io.Writer{s.out, s.err} {
		if shown, is := w.(*screen); is {
			shown.flush()
		}
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = exit(exitCancelled, errors.New("cancelled"))
	}
	if err != nil && err.Error() != "" {
		fmt.Fprint(os.Stderr, errorText(err))
	}
	return exitCode(err)
}

// errorText is an error for people, with its hint.
func errorText(err error) string {
	text := fmt.Sprintln("vaultflow:", err)
	if hint := failure.Of(err).Hint; hint != "" {
		text += fmt.Sprintln("hint:", hint)
	}
	return visible.Text(text)
}
