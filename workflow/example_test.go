package workflow_test

import (
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/workflow"
)

func Example() {
	plan, diagnostics := workflow.Parse("daily", "Workflows/daily.md", []byte(`---
schedule: "cron: 0 8 * * 1-5"
enabled: true
---
## Digest
@input file: Inbox/{pending}
@output file: Digests/{today}

Sum up what is new.
`))
	fmt.Println(diag.HasErrors(diagnostics), plan.Steps[0].Name, plan.Steps[0].Prompt)
	friday := time.Date(2026, 2, 27, 12, 0, 0, 0, time.UTC)
	fmt.Println(plan.Meta.Schedules[0].Next(friday, time.UTC))
	// Output:
	// false Digest Sum up what is new.
	// 2026-03-02 08:00:00 +0000 UTC
}
