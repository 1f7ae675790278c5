package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/vaultflow/vaultflow/settings/schemas"
)

func newSchema(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "schema NAME", Short: "Print the JSON Schema of a file format: " + strings.Join(schemas.Names(), ", "),
		Args: args(cobra.ExactArgs(1)), ValidArgs: schemas.Names(),
		RunE: func(_ *cobra.Command, names []string) error {
			data, found := schemas.Get(names[0])
			if !found {
				return usagef("no schema %q; there is %s", names[0], strings.Join(schemas.Names(), ", "))
			}
			_, err := g.out.Write(data)
			return err
		},
	}
}
