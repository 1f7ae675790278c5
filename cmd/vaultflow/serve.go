package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
)

func newServe(g *globals) *cobra.Command {
	var listen string
	var noWeb, askURL bool
	var named []string
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the daemon: watch the vault, import files, run workflows, serve the dashboard", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			g.daemon = true
			if listen != "" {
				g.overrides = map[string]string{"web.listen": listen}
			}
			if len(named) == 1 {
				g.vault, named = named[0], nil
			}
			dirs, err := severalVaults(g, named)
			switch {
			case err != nil:
				return err
			case len(dirs) > 0 && askURL:
				return printURLOf(cmd.Context(), g, dirs)
			case len(dirs) > 0:
				return serveSeveral(cmd.Context(), g, dirs, !noWeb)
			}
			if askURL {
				a, err := g.openDespiteFaults(cmd.Context())
				if err != nil {
					return err
				}
				defer a.Close()
				return printURL(cmd.Context(), a, g)
			}
			return serve(cmd.Context(), g, !noWeb)
		},
	}
	cmd.Flags().StringArrayVar(&named, "vault", nil, "vault folder; several times: these vaults in one process (default: as for other commands, or else vaults of your own settings)")
	cmd.Flags().StringVar(&listen, "listen", "", "address of the dashboard; overrides web.listen; port 0 picks a free port")
	cmd.Flags().BoolVar(&noWeb, "no-web", false, "serve without the dashboard")
	cmd.Flags().BoolVar(&askURL, "url", false, "print a link to the dashboard of the running serve; it signs in one browser, within ten minutes")
	return cmd
}

// printURL asks the running serve for its dashboard.
func printURL(ctx context.Context, a *daemon.Workspace, g *globals) error {
	r, err := a.Ask(ctx, control.Order{Info: true})
	if err != nil {
		return exit(exitFailed, errors.New("no serve is running on this vault; start it with `vaultflow serve`"))
	}
	return printDashboard(g, r)
}

// printDashboard prints where the dashboard of a serve that answered is.
func printDashboard(g *globals, r control.Reply) error {
	if r.URL == "" {
		return exit(exitFailed, errors.New("the running serve has no dashboard: it was started with --no-web"))
	}
	line := struct {
		Type    string    `json:"type"`
		URL     string    `json:"url"`
		Link    string    `json:"link"` // signs one browser in
		Expires time.Time `json:"expires"`
		Version string    `json:"version"`
	}{"serve", r.URL, r.Link, r.Expires, r.Version}
	return g.print(line, func(w io.Writer) { fmt.Fprintln(w, r.Link) })
}

// serve runs the daemon until ctx ends.
func serve(ctx context.Context, g *globals, withWeb bool) error {
	o, err := g.options(ctx)
	if err != nil {
		return err
	}
	look := make(chan os.Signal, 1)
	signal.Notify(look, syscall.SIGHUP)
	defer signal.Stop(look)
	return g.faults(daemon.Serve(ctx, o, daemon.ServeOptions{Web: withWeb, Look: look, Ready: func(r daemon.Ready) error { return printReady(g.err, r) }}))
}

// printReady reports that the vault is watched. A link that signs somebody in goes to a terminal only: standard error may end
// in a log that others read.
func printReady(to io.Writer, r daemon.Ready) error {
	line := fmt.Sprintf("watching %s; drop files into %s", r.Dir, r.ImportDir)
	switch {
	case r.URL == "":
	case isTerminal(to):
		line += "; dashboard at " + r.Link()
	default:
		line += "; dashboard at " + r.URL + " (`vaultflow serve --url` prints a link that signs you in)"
	}
	if !r.Trusted {
		line += "\nthis vault is not trusted yet: files are imported, and nothing else runs or is sent; `vaultflow trust --vault " + r.Dir + "` shows what it asks for, and asks you"
	}
	_, err := fmt.Fprintln(to, line)
	return err
}
