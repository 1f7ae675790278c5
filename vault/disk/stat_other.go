//go:build !unix

package disk

import (
	"io/fs"
	"os"
)

const nonblock = 0

func inode(fs.FileInfo) uint64 { return 0 }

func keepOwner(*os.File, fs.FileInfo) {}

// noLinks treats every failure to link as a reason to look and rename instead.
func noLinks(error) bool { return true }

func crossDevice(error) bool { return false }
