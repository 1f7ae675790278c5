package disk

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

// Writing says in words which program has a file open for writing; empty when none has, or nobody knows.
func (rd *reader) Writing(name string) string {
	file, err := openRead(rd.root, name)
	if err != nil {
		return ""
	}
	defer file.Close()
	if w := rd.writersOf(file); w.open {
		return w.reason()
	}
	return ""
}

// tellsWriters reports whether the system knows which files are open for writing.
func (rd *reader) tellsWriters(name string) bool {
	file, err := openRead(rd.root, name)
	if err != nil {
		return false
	}
	defer file.Close()
	w := rd.writersOf(file)
	return w.open && w.sure
}
