// Package extract is the language between the daemon and its document worker: what is asked of a document, what comes
// back, and how both are framed on a pipe.
//
// The package owns no state. It never opens a document and never starts a process. A frame from a worker is untrusted:
// [Decode] bounds its size and checks its values before anything of it is used, because the worker reads files that may
// have been made to take it over.
package extract
