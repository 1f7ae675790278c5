package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon/access"
	"github.com/vaultflow/vaultflow/daemon/statedir"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/web/session"
)

func newToken(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "token", Short: "Create, list and revoke tokens for the dashboard's API",
		Long: "A token lets a program use the dashboard and its API. Its scopes limit what it can do:\n\n" +
			"  read     see runs, imports, approvals, pictures, live events\n" +
			"  run      start, cancel, retry and undo runs\n" +
			"  approve  approve and reject changes\n" +
			"  import   upload files\n" +
			"  trust    grant what the vault asks for; manage sessions and tokens\n\n" +
			"Send it as `Authorization: Bearer TOKEN`. Only a digest of it is stored.",
		Args: args(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTokenCreate(g), newTokenList(g), newTokenRevoke(g))
	return cmd
}

// openTokens opens the vault's tokens. The settings are not needed, so that a token can be revoked while they have faults.
func openTokens(g *globals) (session.Tokens, error) {
	dir, err := g.vaultDir()
	if err != nil {
		return session.Tokens{}, err
	}
	st, err := statedir.Find(dir, g.stateDir)
	if err == nil {
		err = st.Usable()
	}
	if err != nil {
		return session.Tokens{}, exit(exitRefused, err)
	}
	return access.Tokens(st.Dir), nil
}

// tokenLine is a token in machine output. Its type is "token".
type tokenLine struct {
	Type    string         `json:"type"`
	Name    string         `json:"name"`
	Scopes  session.Scopes `json:"scopes"`
	Created time.Time      `json:"created"`
	Expires time.Time      `json:"expires,omitzero"`
	Expired bool           `json:"expired,omitempty"`
	Token   string         `json:"token,omitempty"` // only when it is made
}

func newTokenLine(t session.Token) tokenLine {
	return tokenLine{Type: "token", Name: t.Name, Scopes: t.Scopes, Created: t.Created, Expires: t.Expires, Expired: t.Expired(time.Now())}
}

func newTokenCreate(g *globals) *cobra.Command {
	var scopes []string
	var expires string
	cmd := &cobra.Command{
		Use: "create NAME --scope SCOPES", Short: "Create a token and print it once", Args: args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, names []string) error {
			set, err := session.ParseScopes(scopes)
			if err != nil {
				return usagef("--scope: %w", err)
			}
			var lifetime settings.Duration
			if expires != "" {
				if lifetime, err = settings.ParseDuration(expires); err != nil || lifetime <= 0 {
					return usagef("--expires: write a time such as 12h, 30d or 52w, not %q", expires)
				}
			}
			tokens, err := openTokens(g)
			if err != nil {
				return err
			}
			secret, made, err := tokens.Create(names[0], set, lifetime.Std())
			if err != nil {
				return exit(exitUsage, err)
			}
			line := newTokenLine(made)
			line.Token = secret
			if !g.json {
				fmt.Fprintf(g.err, "token %s (%s), shown only now:\n", made.Name, made.Scopes)
			}
			return g.print(line, func(w io.Writer) { fmt.Fprintln(w, secret) })
		},
	}
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "what it can do: read, run, approve, import, trust")
	cmd.Flags().StringVar(&expires, "expires", "", "lifetime, such as 30d (default: until revoked)")
	return cmd
}

func newTokenList(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List tokens, without their secrets", Args: args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			tokens, err := openTokens(g)
			if err != nil {
				return err
			}
			list, err := tokens.List()
			if err != nil {
				return err
			}
			if g.json {
				for _, t := range list {
					if err := g.print(newTokenLine(t), nil); err != nil {
						return err
					}
				}
				return nil
			}
			return printTokens(g.out, list)
		},
	}
}

func printTokens(out io.Writer, list []session.Token) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "no tokens; `vaultflow token create NAME --scope read` makes one")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSCOPES\tMADE\tEXPIRES")
	for _, t := range list {
		expires := "never"
		switch {
		case t.Expired(time.Now()):
			expires = "expired"
		case !t.Expires.IsZero():
			expires = t.Expires.Local().Format("2006-01-02 15:04")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Name, t.Scopes, t.Created.Local().Format("2006-01-02"), expires)
	}
	return w.Flush()
}

func newTokenRevoke(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Revoke a token and end its sessions, at once", Args: args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, names []string) error {
			tokens, err := openTokens(g)
			if err != nil {
				return err
			}
			switch err := tokens.Revoke(names[0]); {
			case errors.Is(err, session.ErrNoToken):
				return exit(exitUsage, fmt.Errorf("%w; `vaultflow token list` shows them", err))
			case err != nil:
				return err
			}
			line := struct {
				Type string `json:"type"`
				Name string `json:"name"`
			}{"revoked", names[0]}
			return g.print(line, func(w io.Writer) { fmt.Fprintf(w, "%s is revoked\n", names[0]) })
		},
	}
}
