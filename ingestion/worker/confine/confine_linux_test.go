package confine

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// again starts the test binary again, with the level for its second run.
func again(level string) []string { return []string{"-confined=" + level} }

// TestMain plays a worker that tries what it must not, when the environment says so.
func TestMain(m *testing.M) {
	switch target := os.Getenv("VAULTFLOW_TRESPASS"); target {
	case "":
		os.Exit(m.Run())
	case "spin":
		spin()
	case "deed":
		deed(os.Getenv("VAULTFLOW_DEED"))
	case "old kernel":
		oldKernel()
	default:
		trespass(target)
	}
}

// trespass confines this process, which starts it anew, and then says what it still can do.
func trespass(target string) {
	level, confined := "", slices.IndexFunc(os.Args, func(s string) bool { return strings.HasPrefix(s, "-confined=") })
	if confined < 0 {
		newest, _ := strconv.Atoi(os.Getenv("VAULTFLOW_LANDLOCK"))
		level = Reader(Task{Memory: 1 << 30, Newest: newest, Again: again}, os.Stderr)
	} else {
		_, level, _ = strings.Cut(os.Args[confined], "=")
	}
	_, read := os.ReadFile(target)
	write := os.WriteFile(target+".new", []byte("x"), 0o600)
	_, dial := net.Dial("tcp", os.Getenv("VAULTFLOW_LISTENER")) //nolint:noctx // refused at once or accepted
	_, run := exec.Command("/bin/sh", "-c", "true").Output()    //nolint:noctx // likewise
	fmt.Printf("%s read=%v write=%v dial=%v run=%v\n", level, read == nil, write == nil, dial == nil, run == nil)
}

// spin uses a second of processor time and more.
func spin() {
	WatchTime(os.Stderr)
	if err := limit(0, time.Second); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(extract.ExitBroken)
	}
	for n := 0; ; n++ {
		_ = n // until the end
	}
}

func TestConfine_takesFilesAndNetworkAway(t *testing.T) {
	t.Parallel()
	for newest, want := range map[string]string{
		"": "landlock read=false write=false dial=false run=false",
		// Debian 12 has version 2, which knows of files only.
		"2": "files read=false write=false dial=true run=false",
		"1": "files read=false write=false dial=true run=false",
	} {
		t.Run("version "+newest, func(t *testing.T) {
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
			cmd.Env = []string{"VAULTFLOW_TRESPASS=" + target, "VAULTFLOW_LISTENER=" + listener.Addr().String(), "VAULTFLOW_LANDLOCK=" + newest}
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if strings.Contains(string(out), "landlock:") || newest == "" && strings.HasPrefix(string(out), "files ") {
				t.Skipf("this kernel does not confine: %s", out)
			}
			if got := strings.TrimSpace(string(out)); got != want {
				t.Errorf("the confined process says %q, want %q", got, want)
			}
		})
	}
}

func TestRulesFor_asksForWhatTheKernelKnows(t *testing.T) {
	t.Parallel()
	for abi, want := range map[int]struct {
		size    uintptr
		network bool
	}{1: {8, false}, 2: {8, false}, 3: {8, false}, 4: {16, true}, 5: {16, true}, 6: {24, true}, 7: {24, true}} {
		rules, size := rulesFor(abi)
		if size != want.size || (rules.net != 0) != want.network || rules.fs&firstRights != firstRights {
			t.Errorf("version %d: %d bytes, %+v", abi, size, rules)
		}
	}
}

func TestLimit_endsWhatSpins(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = []string{"VAULTFLOW_TRESPASS=spin"}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != extract.ExitSpent {
		t.Errorf("ended with %v, want exit status %d\n%s", err, extract.ExitSpent, out)
	}
}
