package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/control"
)

// What the daemon refuses has an exit code by its class, however deep in an error it is.
func TestExitCode_refusals(t *testing.T) {
	t.Parallel()
	for class, want := range map[control.Class]int{control.Usage: exitUsage, control.Invalid: exitInvalid, control.Denied: exitRefused, "new": exitFailed} {
		err := fmt.Errorf("run: %w", &control.Refusal{Class: class, Err: errors.New("no")})
		if got := exitCode(err); got != want {
			t.Errorf("%s: exit code %d, want %d", class, got, want)
		}
		if got := failureExit(err); got != want {
			t.Errorf("%s: exit code of a failure %d, want %d", class, got, want)
		}
	}
	if got := exitCode(exit(exitProvider, &control.Refusal{Class: control.Usage, Err: errors.New("no")})); got != exitProvider {
		t.Errorf("an explicit code became %d", got)
	}
}

// A link that signs somebody in goes to a terminal only.
func TestPrintReady(t *testing.T) {
	t.Parallel()
	r := daemon.Ready{Dir: "/v", ImportDir: "Import", URL: "http://127.0.0.1:1", Link: func() string { return "http://127.0.0.1:1/login#code=s3cr3t" }}
	var log strings.Builder
	if err := printReady(&log, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"watching /v; drop files into Import", "http://127.0.0.1:1 (`vaultflow serve --url`", "not trusted yet", "--vault /v"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("it lacks %q: %s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "s3cr3t") {
		t.Errorf("a log has the link: %s", log.String())
	}
	log.Reset()
	r.URL, r.Trusted = "", true
	if err := printReady(&log, r); err != nil || log.String() != "watching /v; drop files into Import\n" {
		t.Errorf("without a dashboard: %q, %v", log.String(), err)
	}
}
