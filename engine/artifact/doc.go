// Package artifact keeps what was fetched for runs: files in the state directory and a manifest with one JSON object a line.
//
// The manifest is append-only. A file is complete and synced before its line is written; the line about its removal is synced
// before the file is removed. So a killed process leaves at most a file without a line, which the next [Open] removes, or a
// torn line, which it skips. The content is untrusted: nothing here reads more than its first characters.
package artifact
