// Package sitetest plays vaultflow as a person would: the built binary on a vault of its own, `serve` running or killed in
// earnest, and nothing seen but what commands print and the vault holds. Only tests import this package.
package sitetest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/policy/trust/trusttest"
	"github.com/vaultflow/vaultflow/settings"
)

// scratch is the folder of this test process, for its binary and for caches that its commands share.
func scratch() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("vaultflow-test-%d", os.Getpid()))
}

// Environment is what a command knows besides its arguments: a vault, a place for its state, no model and no network that
// answers.
func Environment(dir string) map[string]string {
	if err := trusttest.Own(filepath.Join(dir, "vault"), filepath.Join(dir, "state")); err != nil {
		panic(err)
	}
	return map[string]string{
		"HOME": dir, "XDG_STATE_HOME": filepath.Join(dir, "xdg"), "XDG_CONFIG_HOME": filepath.Join(dir, "config"),
		// One for all: making PDFium's machine code takes seconds.
		"XDG_CACHE_HOME":  filepath.Join(scratch(), "cache"),
		"VAULTFLOW_VAULT": filepath.Join(dir, "vault"), "VAULTFLOW_STATE_DIR": filepath.Join(dir, "state"),
		"VAULTFLOW_INGESTION_OFFICE_LIBREOFFICE": "off", // what is installed must not matter
		"NO_COLOR":                               "1", "TZ": "Europe/Oslo", "HTTP_PROXY": "", "HTTPS_PROXY": "", "NO_PROXY": "*",
	}
}

// Allow grants what the settings of a test's vault ask for, as `vaultflow trust` does. Settings with faults ask for nothing.
func Allow(t *testing.T, dir, stateDir string) {
	t.Helper()
	loaded, err := settings.Load(settings.Input{Vault: dir, StateDir: stateDir})
	if err != nil {
		return
	}
	store, err := trust.Open(stateDir, dir)
	if err == nil {
		err = store.Change(func(s *trust.State) {
			for _, w := range loaded.Waiting {
				s.Grant(time.Now(), trust.Ask{Key: w.Key, Digest: w.Digest, Says: w.Says, Value: w.Value})
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Together makes tests run at least four at a time unless the command line says otherwise: most of their time they wait for daemons, which have
// nothing to do either. Call it in TestMain.
func Together() error {
	return flag.Set("test.parallel", strconv.Itoa(max(4, runtime.GOMAXPROCS(0))))
}

// Long reports whether tests that take minutes run in full: `make test-long` sets the variable.
func Long() bool { return os.Getenv("VAULTFLOW_LONG") != "" }

// Worker finds the worker, in bin of the house when VAULTFLOW_WORKER names none, or skips the test with the reason.
func Worker(t *testing.T, house string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the worker; not under -short")
	}
	path := os.Getenv("VAULTFLOW_WORKER")
	if path == "" {
		path = filepath.Join(house, "bin", "vaultflow-worker")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs the worker: %v; `make build` makes it, VAULTFLOW_WORKER names another", err)
	}
	return path
}
