// Package programtest writes programs for tests to run.
package programtest

import (
	"os"
	"syscall"
	"testing"
)

// Write writes an executable file. A test that writes one by itself may be told "text file busy" when it starts it: a process that
// another test forks meanwhile holds the file open for writing until it runs its own program (golang/go#22315). So no process is
// forked while the file is open.
func Write(t testing.TB, path string, content []byte) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, content, 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
}
