// Package artifact keeps what was fetched for runs: files in the state directory and a manifest of one JSON object a line.
//
// The manifest is only ever appended to. A file is complete and synced before its line is; a line that says that a file is
// gone is synced before the file goes. So a process that is killed anywhere leaves at most a file that no line names, which the next [Open]
// removes, or a torn line, which it passes over. The content is untrusted: nothing here reads it but for its first characters.
package artifact
