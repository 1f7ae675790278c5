// Package confine takes rights away from this process before it reads a document: resource limits, files and network through
// Landlock, and system calls through seccomp. Only Linux can do this; elsewhere the functions report that nothing was done.
//
// Errors are written to a log, not returned: the process continues with the level of confinement it reached, and its caller
// decides whether that is enough.
package confine

import "time"

// Task is what a confined process needs.
type Task struct {
	Memory   int64         // bytes of RLIMIT_DATA; 0 = no limit
	CPU      time.Duration // of processor time; 0 = no limit
	Isolated bool          // the process was started without a network
	Newest   int           // latest version of Landlock's interface to use; 0 = the kernel's
	Reads    []string      // files and folders to read, besides the program and its libraries
	// Again returns the arguments that start this program a second time, once it is confined to a level.
	Again func(level string) []string
}
