package disk

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vaultflow/vaultflow/testdata/programtest"
)

// writtenFile is a file with a writer in another process, which goes away when its standard input is closed.
func writtenFile(t *testing.T) (path string, closed func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "log.txt")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `exec 3>>"$0"; echo half >&3; echo; cat >/dev/null`, path)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return path, func() {
		in.Close()
		must(t, cmd.Wait())
	}
}

func opened(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func TestWritersOf(t *testing.T) {
	t.Parallel()
	path, closed := writtenFile(t)
	f := opened(t, path)
	if w := writersOf(f); !w.open || !w.sure || !strings.HasPrefix(w.by, "sh (process ") {
		t.Errorf("with a writer: %+v", w)
	}
	closed()
	if w := writersOf(f); w != (writers{sure: true}) {
		t.Errorf("without one: %+v", w)
	}
	other := opened(t, path) // a reader is none
	if w := writersOf(f); w != (writers{sure: true}) {
		t.Errorf("with a reader: %+v", w)
	}
	other.Close()
}

// The lease is never kept: whoever opens the file for writing is not held up.
func TestWritersOf_holdsNobodyUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.txt")
	must(t, os.WriteFile(path, []byte("x"), 0o600))
	f := opened(t, path)
	for range 200 {
		writersOf(f)
		w, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0) // would fail at once where a lease is left
		must(t, err)
		must(t, w.Close())
	}
}

// Without leases the processes are looked at.
func TestWriterIn(t *testing.T) {
	t.Parallel()
	path, closed := writtenFile(t)
	f := opened(t, path)
	if by := writerIn("/proc", f); !strings.HasPrefix(by, "sh (process ") {
		t.Errorf("with a writer: %q", by)
	}
	if by := writerIn(t.TempDir(), f); by != "" {
		t.Errorf("without processes: %q", by)
	}
	closed()
	if by := writerIn("/proc", f); by != "" {
		t.Errorf("without one: %q", by)
	}
}

// A file of another user gets no lease, and its writer does not show what it has open: nothing is known then, and nothing is
// claimed.
func TestWritersOf_fileOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 && os.Getenv("VAULTFLOW_TEST_WRITTEN") == "" {
		t.Skip("only root can become another user")
	}
	if path := os.Getenv("VAULTFLOW_TEST_WRITTEN"); path != "" {
		if w := writersOf(opened(t, path)); w != (writers{}) {
			t.Errorf("got %+v, want nothing", w)
		}
		return
	}
	t.Parallel()
	path, closed := writtenFile(t)
	defer closed()
	dir := filepath.Dir(path)
	self := filepath.Join(dir, "vault.test")
	data, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	programtest.Write(t, self, data)
	for _, p := range []string{self, path, dir, filepath.Dir(dir)} {
		must(t, os.Chmod(p, 0o755))
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestWritersOf_fileOfAnotherUser$", "-test.v")
	cmd.Env, cmd.Dir = append(os.Environ(), "VAULTFLOW_TEST_WRITTEN="+path), dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestWritersOf_fileOfAnotherUser") {
		t.Errorf("as another user: %v\n%s", err, out)
	}
}

func TestSelfTest_saysWhetherWritersAreKnown(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		v, _ := tempVault(t, "Import/")
		if !known {
			v.writersOf = func(*os.File) writers { return writers{open: true, by: "somebody"} }
		}
		got, err := v.SelfTest(t.Context())
		if err != nil || got.Mode == modeEvents && got.Writers != known {
			t.Errorf("got %+v, %v, want %v", got, err, known)
		}
	}
}
