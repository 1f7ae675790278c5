//go:build !linux

package disk

// networkFS is known on Linux only; elsewhere the option Poll is for network folders.
func networkFS(string) string { return "" }
