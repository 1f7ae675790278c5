package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMain plays a worker that tries what it must not, when the environment says so.
func TestMain(m *testing.M) {
	if os.Getenv("VAULTFLOW_TRESPASS") != "" {
		trespass(os.Getenv("VAULTFLOW_TRESPASS"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// trespass confines this process, which starts it anew, and then says what it still can do.
func trespass(target string) {
	level, confined := "", slices.IndexFunc(os.Args, func(s string) bool { return strings.HasPrefix(s, "-confined=") })
	if confined < 0 {
		level = confine(options{memory: 1 << 30}, os.Stderr)
	} else {
		_, level, _ = strings.Cut(os.Args[confined], "=")
	}
	_, read := os.ReadFile(target)
	write := os.WriteFile(target+".new", []byte("x"), 0o600)
	_, dial := net.Dial("tcp", os.Getenv("VAULTFLOW_LISTENER")) //nolint:noctx // refused at once or accepted
	_, run := exec.Command("/bin/sh", "-c", "true").Output()    //nolint:noctx // likewise
	fmt.Printf("%s read=%v write=%v dial=%v run=%v\n", level, read == nil, write == nil, dial == nil, run == nil)
}

func TestConfine_takesFilesAndNetworkAway(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(target, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // local and at once
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = []string{"VAULTFLOW_TRESPASS=" + target, "VAULTFLOW_LISTENER=" + listener.Addr().String()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "landlock:") {
		t.Skipf("this kernel does not confine: %s", out)
	}
	if got := strings.TrimSpace(string(out)); got != "landlock read=false write=false dial=false run=false" {
		t.Errorf("the confined process says %q", got)
	}
}
