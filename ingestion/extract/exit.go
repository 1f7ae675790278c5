package extract

// Exit codes of a worker. 1 is MuPDF's, which ends the process for an error that nothing catches, and 2 is that of a Go panic.
const (
	ExitAborted    = 1
	ExitUsage      = 64
	ExitUnconfined = 65 // confinement is required and could not be had
	ExitBroken     = 66
	ExitSpent      = 67 // the processor time is used up
)
