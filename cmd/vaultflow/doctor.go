package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon/doctor"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/settings/vaultid"
)

func newDoctor(g *globals) *cobra.Command {
	var probe bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check the installation: worker, OCR languages, confinement, folders, database, keys, providers; suggest fixes", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := examine(cmd.Context(), g, probe)
			if err != nil {
				return err
			}
			problems := 0
			for _, f := range found {
				f.Type = "finding"
				if f.State == "problem" {
					problems++
				}
				if err := g.print(f, func(w io.Writer) { writeFinding(w, f) }); err != nil {
					return err
				}
			}
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if problems > 0 {
				return exit(exitFailed, errors.New(words.Counted(problems, "problem")))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&probe, "probe", false, "send each provider one tiny call, to its cheapest model; costs a fraction of a cent each")
	return cmd
}

// examine looks at everything, or only at the state directory if that is not this vault's.
func examine(ctx context.Context, g *globals, probe bool) ([]doctor.Finding, error) {
	a, err := g.openDespiteFaults(ctx)
	if refused, is := errors.AsType[*vaultid.RefusedError](err); is {
		return []doctor.Finding{doctor.Refused(refused)}, nil
	}
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return doctor.Examine(ctx, a, probe), nil
}

func writeFinding(w io.Writer, f doctor.Finding) {
	fmt.Fprintf(w, "%-8s %-12s %s\n", f.State, f.Subject, f.Message)
	if f.Fix != "" {
		fmt.Fprintf(w, "         %-12s fix: %s\n", "", f.Fix)
	}
}
