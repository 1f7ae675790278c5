package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
	"github.com/vaultflow/vaultflow/policy/trust/trusttest"
)

var update = flag.Bool("update", false, "rewrite what scripts compare with")

// TestMain makes the real command line available to scripts and tests: they start this test binary under the name of
// vaultflow, so that exit codes, streams and the environment are those of a process.
func TestMain(m *testing.M) {
	if err := sitetest.Together(); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"vaultflow": func() { os.Exit(run()) }, "send-pictures": sendPictures, "supervised": becomeSupervised})
}

func worker(t *testing.T) string {
	t.Helper()
	return sitetest.Worker(t, filepath.Join("..", ".."))
}

// long reports whether tests that take minutes run in full.
func long() bool { return sitetest.Long() }

// TestScript runs each script of testdata/script with an empty vault in $WORK/vault and its state in $WORK/state.
func TestScript(t *testing.T) {
	t.Parallel()
	house, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), RequireExplicitExec: true, RequireUniqueNames: true, UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOUSE", house)
			env.Setenv("WORKER", os.Getenv("VAULTFLOW_WORKER"))
			for key, value := range environment(env.WorkDir) {
				env.Setenv(key, value)
			}
			return os.MkdirAll(filepath.Join(env.WorkDir, "vault"), 0o755)
		},
		Condition: func(name string) (bool, error) {
			if name != "worker" {
				return false, fmt.Errorf("no condition %q", name)
			}
			return os.Getenv("VAULTFLOW_WORKER") != "", nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": wantExit, "copytree": copyTree, "crlf": crlf, "bytes": compareBytes, "unchanged": unchanged,
		},
	})
}

// environment is what a command knows besides its arguments: a vault, a place for its state, no model and no network
// that answers.
func environment(dir string) map[string]string { return sitetest.Environment(dir) }

// ownVault makes a folder of a test one's own vault, as `vaultflow init` does.
func ownVault(dir, stateDir string) {
	if err := trusttest.Own(dir, stateDir); err != nil {
		panic(err)
	}
}

// allowSettings grants what the settings of a test's vault ask for, as `vaultflow trust` does. Settings with faults ask for
// nothing.
func allowSettings(t *testing.T, dir, stateDir string) {
	t.Helper()
	sitetest.Allow(t, dir, stateDir)
}

// wantExit runs a program that must end with a code: exits 3 vaultflow check. Its streams are for stdout and stderr.
func wantExit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		got = -1
		if e, ok := err.(interface{ ExitCode() int }); ok {
			got = e.ExitCode()
		}
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("%s: exit code %d, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// copyTree copies a folder of the repository: copytree testdata/vault vault.
func copyTree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: copytree FROM TO")
	}
	ts.Check(copyDir(filepath.Join(ts.Getenv("HOUSE"), args[0]), ts.MkAbs(args[1])))
}

func copyDir(from, to string) error {
	source := os.DirFS(from)
	return fs.WalkDir(source, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path := filepath.Join(to, name)
		if d.IsDir() {
			return os.MkdirAll(path, 0o755)
		}
		data, err := fs.ReadFile(source, name)
		if err != nil {
			return err
		}
		return os.WriteFile(path, data, 0o644)
	})
}

// crlf gives files Windows line ends.
func crlf(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		text := strings.ReplaceAll(ts.ReadFile(name), "\n", "\r\n")
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o644))
	}
}

// compareBytes compares a file with a text in which \r\n and \n are written out: bytes note.md 'a\r\nb\r\n'. The text
// may end in * for any rest.
func compareBytes(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: bytes FILE TEXT")
	}
	want := strings.NewReplacer(`\r`, "\r", `\n`, "\n").Replace(args[1])
	got := ts.ReadFile(args[0])
	same := got == want
	if prefix, open := strings.CutSuffix(want, "*"); open {
		same = strings.HasPrefix(got, prefix)
	}
	if same == neg {
		ts.Fatalf("%s holds %q, want %q (negated: %t)", args[0], got, want, neg)
	}
}

// unchanged fails when a folder holds another list of files than a listing: unchanged vault before.txt. A listing that
// is not there yet is made.
func unchanged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: unchanged DIR LISTING")
	}
	var list strings.Builder
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&list, path, info.Mode(), info.ModTime().UnixNano(), info.Size())
		}
		return err
	}))
	path := ts.MkAbs(args[1])
	if _, err := os.Stat(path); err != nil {
		ts.Check(os.WriteFile(path, []byte(list.String()), 0o644))
		return
	}
	if before := ts.ReadFile(args[1]); before != list.String() {
		ts.Fatalf("%s has changed:\nbefore:\n%s\nafter:\n%s", args[0], before, list.String())
	}
}
