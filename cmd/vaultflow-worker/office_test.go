//go:build linux

package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/sandbox"
	"github.com/vaultflow/vaultflow/testdata/programtest"
)

// TestOffice_confined runs a program in LibreOffice's place that tries what it must not.
func TestOffice_confined(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // of this test
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("password"), 0o600); err != nil {
		t.Fatal(err)
	}
	soffice := filepath.Join(dir, "soffice")
	script := `#!/bin/bash
exec >out/document.pdf 2>&1
echo "%PDF-"
cat ` + secret + ` && echo READ
cat /etc/shadow /etc/hosts && echo READ
echo x >` + secret + ` && echo WROTE
echo x >` + dir + `/new && echo WROTE
echo x >/dev/tcp/127.0.0.1/` + port + ` && echo REACHED
kill -0 ` + "$PPID" + ` && cat in/document.docx
head -c 600M /dev/zero >out/big || echo bounded
rm -f out/big
`
	programtest.Write(t, soffice, []byte(script))
	o := sandbox.Office{Program: soffice, Worker: program(t).Worker, Dir: filepath.Join(dir, "work"), Timeout: time.Minute, RequireConfinement: true}
	got, err := o.Convert(t.Context(), strings.NewReader("the letter"), "docx", "pdf")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"READ", "WROTE", "REACHED", "password"} {
		if strings.Contains(string(got), bad) {
			t.Errorf("%s:\n%s", bad, got)
		}
	}
	for _, want := range []string{"the letter", "bounded"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
