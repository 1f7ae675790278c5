// Package journal keeps what happened in one SQLite file with blobs beside it: runs and the outcomes of their activities,
// events, slots, pending state, variables, own writes, import jobs, usage. It owns the state directory: one process, which
// holds the lock file, writes; others may read. It never reads the vault, never decides what a run does next, and never
// stores a key, a request body or the bytes of a picture in a row.
//
// When [Runs.Append] returns, its outcome is on disk and survives a power cut. Do not keep the state directory in a synced folder.
package journal
