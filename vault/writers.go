package vault

import "os"

// writers is what the system says of the programs that have a file open for writing.
type writers struct {
	open bool   // one has
	by   string // its name, when it can be had
	sure bool   // the system has answered for all programs; without it, open being false proves nothing
}

// reason is why a file is not taken while somebody writes it, in words.
func (w writers) reason() string {
	if w.by == "" {
		return "a program still has it open for writing"
	}
	return w.by + " still has it open for writing"
}

// findWriters looks for the programs that have an open file open for writing too.
type findWriters func(file *os.File) writers
