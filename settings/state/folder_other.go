//go:build !unix

package state

// FolderID cannot identify folders on this system.
func FolderID(string) string { return "" }
