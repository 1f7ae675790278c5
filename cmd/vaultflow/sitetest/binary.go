//go:build unix

package sitetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Patience is how long anything may take on a machine that is busy with other tests.
const Patience = 60 * time.Second

// built is the binary under test, made once for all tests of a package.
var built struct {
	once sync.Once
	path string
	err  error
}

// forgetOld removes the binaries of test processes that are gone; nothing runs at the end of one.
func forgetOld() {
	old, err := filepath.Glob(filepath.Join(os.TempDir(), "vaultflow-test-*"))
	if err != nil {
		return
	}
	for _, dir := range old {
		var pid int
		if _, err := fmt.Sscanf(filepath.Base(dir), "vaultflow-test-%d", &pid); err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			os.RemoveAll(dir)
		}
	}
}

// Binary builds vaultflow as it is shipped, without cgo and without the race detector's weight.
func Binary(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		forgetOld()
		if built.err = os.MkdirAll(scratch(), 0o755); built.err != nil {
			return
		}
		if built.err = os.Chmod(scratch(), 0o755); built.err != nil { // a command of another test may have made it, for its cache and itself alone
			return
		}
		built.path = filepath.Join(scratch(), "vaultflow")
		cmd := exec.CommandContext(context.Background(), "go", "build", "-o", built.path, "github.com/vaultflow/vaultflow/cmd/vaultflow") //nolint:usetesting // it outlives the first test
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}
