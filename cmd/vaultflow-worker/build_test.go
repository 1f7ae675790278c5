package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// scratch is where the tests build the program; runTests takes it away.
var scratch struct {
	sync.Mutex
	dir   string
	cache string // of PDFium's machine code
}

// built returns the path of the real program, or why there is none: the one that VAULTFLOW_WORKER names, as make does for
// the program that it ships, else one that is built here, once.
var built = sync.OnceValues(func() (path, reason string) {
	if path := os.Getenv("VAULTFLOW_WORKER"); path != "" {
		return path, ""
	}
	if testing.Short() {
		return "", "the real program is not built for short tests"
	}
	dir, err := os.MkdirTemp("", "vaultflow-worker")
	if err != nil {
		return "", err.Error()
	}
	scratch.Lock()
	scratch.dir = dir
	scratch.Unlock()
	path = filepath.Join(dir, "vaultflow-worker")
	cmd := exec.Command("go", "build", "-tags", "worker,nodynamic", "-o", path, ".") //nolint:noctx // the go command ends by itself
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	if runtime.GOOS == "linux" {
		cmd.Env = append(cmd.Env, "CGO_LDFLAGS=-Wl,--exclude-libs,ALL") // see make build
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Sprintf("the real program cannot be built here (%v); it needs a C compiler, libtesseract-dev and libleptonica-dev:\n%s", err, strings.TrimSpace(string(out)))
	}
	return path, ""
})

// TestMain removes what the tests built.
func TestMain(m *testing.M) { os.Exit(runTests(m)) }

// long reports whether the tests that take minutes are run in full; see `make test-long`.
func long() bool { return os.Getenv("VAULTFLOW_LONG") != "" }

// runTests runs the tests and removes what they built.
func runTests(m *testing.M) int {
	code := m.Run()
	scratch.Lock()
	defer scratch.Unlock()
	for _, dir := range []string{scratch.dir, scratch.cache} {
		if dir != "" {
			_ = os.RemoveAll(dir) // of the temporary folder
		}
	}
	return code
}
