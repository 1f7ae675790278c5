package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/daemon/doctor"
	"github.com/vaultflow/vaultflow/daemon/words"
)

func newDoctor(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check the installation: worker, OCR languages, confinement, folders, database, keys, providers; suggest fixes", Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := g.openDespiteFaults(cmd.Context())
			if err != nil {
				return err
			}
			defer a.Close()
			problems := 0
			for _, f := range doctor.Examine(cmd.Context(), a) {
				f.Type = "finding"
				if f.State == "problem" {
					problems++
				}
				if err := g.print(f, func(w io.Writer) { writeFinding(w, f) }); err != nil {
					return err
				}
			}
			if problems > 0 {
				return exit(exitFailed, errors.New(words.Counted(problems, "problem")))
			}
			return nil
		},
	}
}

func writeFinding(w io.Writer, f doctor.Finding) {
	fmt.Fprintf(w, "%-8s %-12s %s\n", f.State, f.Subject, f.Message)
	if f.Fix != "" {
		fmt.Fprintf(w, "         %-12s fix: %s\n", "", f.Fix)
	}
}
