package directives_test

import (
	"context"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

func Example() {
	at := diag.Position{File: "Workflows/plan.md", Line: 9, Column: 1}
	list, faults := directives.Parse([]string{
		"@input file: Scans/{latest:2} (images=auto)",
		"@output file: Plans/{today}",
		"@modle sonnet",
	}, at)
	for _, f := range faults {
		fmt.Println(f)
	}
	set, _ := directives.Interpret(list)

	vault := fstest.MapFS{
		"Scans/page 1.md": {ModTime: time.Unix(1, 0)}, "Scans/page 2.md": {ModTime: time.Unix(2, 0)}, "Scans/page 10.md": {ModTime: time.Unix(3, 0)},
	}
	facts := directives.Facts{Now: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), WeekStart: time.Monday}
	found, err := set.Inputs[0].Resolve(context.Background(), directives.ResolveEnv{FS: vault, Facts: facts})
	fmt.Println(found.Files, err)
	fmt.Println(set.Outputs[0].Name(directives.OutputEnv{Facts: facts}))
	// Output:
	// Workflows/plan.md:11:1: error[VF140]: unknown directive @modle (did you mean @model? Write \@modle if it is prompt text)
	// [{Scans/page 10.md } {Scans/page 2.md }] <nil>
	// Plans/2026-03-01.md <nil>
}
