// Package local is the executor in this process: it carries activities out, stores each outcome before the next one
// begins, keeps runs in their lanes, repeats what may be repeated, and resumes unfinished runs after a restart.
// It owns the runs that are at work; the journal owns everything that must outlive the process. It never touches the
// vault itself.
package local
