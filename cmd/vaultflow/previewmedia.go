package main

import (
	"fmt"
	"io"

	"github.com/vaultflow/vaultflow/step"
)

// writePlaces prints where attached media go, and where media from tools would go.
func writePlaces(w io.Writer, p step.Previewed) {
	if len(p.Media) > 0 {
		fmt.Fprintf(w, "\nwhere media go to %s\n", p.Model)
	}
	for _, m := range p.Media {
		fmt.Fprintf(w, "  %s\n", placeLine(m))
	}
	if len(p.ToolMedia) > 0 {
		fmt.Fprintln(w, "\nwhere media in results of tools would go")
	}
	for _, m := range p.ToolMedia {
		fmt.Fprintf(w, "  %s\n", placeLine(m))
	}
}

// placeLine is such as "image a.png: in (in place in the user's turn)".
func placeLine(m step.MediumPlace) string {
	name := ""
	if m.Name != "" {
		name = " " + m.Name
	}
	return fmt.Sprintf("%s%s: %s (%s)", m.Medium, name, m.Place, m.Why)
}
