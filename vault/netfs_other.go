//go:build !linux

package vault

// networkFS is known on Linux only; elsewhere the option Poll is for network folders.
func networkFS(string) string { return "" }
