package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// mountSmall puts a file system of so many bytes on a folder, where the test may.
func mountSmall(dir string, bytes int64) error {
	return unix.Mount("vaultflow-test", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes))
}

func unmount(dir string) error { return unix.Unmount(dir, unix.MNT_DETACH) }
