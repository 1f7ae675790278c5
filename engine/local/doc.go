// Package local is the executor in this process: it performs activities, stores each outcome before the next one begins,
// keeps runs in their lanes, retries transient failures, and resumes unfinished runs after a restart. It owns the running
// runs; the journal owns everything that must outlive the process. It never touches the vault itself.
package local
