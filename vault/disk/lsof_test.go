package disk

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestLsofWriter(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]string{
		"":                                     "",
		"p12\ncvaultflow\nf5\nar\nn/v/a.log\n": "",
		"p7\ncvaultflow\nf5\naw\nn/v/a.log\n":  "", // this process
		"p12\nctail\nf3\nar\nn/v/a.log\np13\nclogger\nf1\naw\nn/v/a.log\n": "logger (process 13)",
		"p13\ncsqlite\nf4\nau\nn/v/a.log\n":                                "sqlite (process 13)",
		"p13\ncodd\nf4\na \nn/v/a.log\n":                                   "", // unknown
	} {
		if got := lsofWriter(printed, 7); got != want {
			t.Errorf("%q: %q, want %q", printed, got, want)
		}
	}
}

// What a real lsof prints is understood.
func TestLsofWriter_real(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("lsof")
	if err != nil {
		t.Skip("there is no lsof here")
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "a.log"))
	must(t, err)
	defer f.Close()
	out, err := exec.CommandContext(t.Context(), path, "-w", "-n", "-P", "-F", "pcan", "--", f.Name()).Output()
	must(t, err)
	if got := lsofWriter(string(out), 0); !strings.Contains(got, "process ") {
		t.Errorf("%q in %q", got, out)
	}
	if got := lsofWriter(string(out), os.Getpid()); got != "" {
		t.Errorf("the test itself is %q", got)
	}
}
