//go:build !unix

package trust

// folderOf cannot identify folders on this system.
func folderOf(string) string { return "" }
