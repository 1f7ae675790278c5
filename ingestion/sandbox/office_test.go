//go:build unix

package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/testdata/programtest"
)

// officeWorker is a worker that confines nothing: it runs the program of -office as the real one does.
const officeWorker = `#!/bin/sh
while [ "$1" != -- ]; do case "$1" in -office=*) program="${1#-office=}";; esac; shift; done
shift
exec "$program" "$@"
`

// officeScripts play LibreOffice. in and out are the folders of the document and of what is made of it.
var officeScripts = map[string]string{
	"good":    `printf '%%PDF-1.7 of %s' "$(cat in/document.*)" >out/document.pdf`,
	"looks":   `{ printf '%%PDF-'; env; ls -R; cat profile/user/*; echo "$@"; } >out/document.pdf`,
	"spoils":  `cat in/document.docx >out/x; echo spoilt >in/document.docx; printf '%%PDF-' >out/document.pdf`,
	"orphan":  `sleep 1000 & printf '%%PDF-' >out/document.pdf`,
	"hang":    `sleep 1000`,
	"spins":   `sh -c 'while :; do :; done'`,
	"waits":   `sleep 0.6; printf '%%PDF-' >out/document.pdf`,
	"crash":   `kill -SEGV $$`,
	"refuses": `echo "a warning" >&2; echo "Error: source file could not be loaded" >&2`,
	"garbage": `echo garbage >out/document.pdf`,
	"memory":  `echo "terminate called after throwing an instance of 'std::bad_alloc'" >&2; exit 134`,
	"huge":    `truncate -s 300M out/document.pdf`,
	"floods":  `yes flood | head -c 3000000; printf '%%PDF-' >out/document.pdf`,
	"link":    `ln -s /etc/passwd out/document.pdf`,
	"folder":  `mkdir out/document.pdf`,
	"level":   `echo "confinement is required" >&2; exit 65`,
	"version": `echo "LibreOffice 24.8.3.2 480(Build:2)"`,
	"other":   `echo "Some Program 2"`,
}

// pretendOffice is an Office whose LibreOffice is a script.
func pretendOffice(t *testing.T, script string) Office {
	t.Helper()
	dir := t.TempDir()
	o := Office{Program: filepath.Join(dir, "soffice"), Worker: filepath.Join(dir, "worker"), Dir: filepath.Join(dir, "work"), Timeout: time.Minute}
	for path, text := range map[string]string{o.Worker: officeWorker, o.Program: "#!/bin/sh\n" + officeScripts[script] + "\n"} {
		programtest.Write(t, path, []byte(text))
	}
	return o
}

func TestOffice_convert(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{"good": "%PDF-1.7 of a letter", "spoils": "%PDF-", "orphan": "%PDF-", "floods": "%PDF-"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			o := pretendOffice(t, script)
			got, err := o.Convert(t.Context(), strings.NewReader("a letter"), "docx", "pdf")
			if err != nil || string(got) != want {
				t.Errorf("got %q, %v", got, err)
			}
			nothingLeft(t, o)
		})
	}
}

func TestOffice_faults(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]struct {
		code failure.Code
		says string
	}{
		"hang":    {failure.Timeout, "LibreOffice took more than 300ms"},
		"spins":   {failure.Timeout, "LibreOffice needed more than 300ms of processor time"},
		"crash":   {failure.Corrupt, "could not convert it"},
		"refuses": {failure.Corrupt, "Error: source file could not be loaded"},
		"garbage": {failure.Crashed, "did not write a pdf file"},
		"memory":  {failure.Memory, "more memory"},
		"huge":    {failure.TooLarge, "wrote 300 MB"},
		"link":    {failure.Crashed, "wrote no file"},
		"folder":  {failure.Crashed, "wrote no file"},
		"level":   {failure.Unconfined, "confinement is required"},
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			o := pretendOffice(t, script)
			switch script {
			case "hang":
				o.Timeout, o.patience = 300*time.Millisecond, 1
			case "spins":
				o.Timeout, o.patience = 300*time.Millisecond, 100
			}
			got, err := o.Convert(t.Context(), strings.NewReader("x"), "docx", "pdf")
			e, ok := errors.AsType[*extract.Error](err)
			if !ok || e.Code != want.code || !strings.Contains(e.Message, want.says) || got != nil {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
			nothingLeft(t, o)
		})
	}
}

// A conversion that waits for the processor, on a busy machine, is not ended by the clock.
func TestOffice_busyMachine(t *testing.T) {
	t.Parallel()
	o := pretendOffice(t, "waits")
	o.Timeout, o.patience = 300*time.Millisecond, 100
	if got, err := o.Convert(t.Context(), strings.NewReader("x"), "docx", "pdf"); err != nil || string(got) != "%PDF-" {
		t.Errorf("got %q, %v", got, err)
	}
}

// LibreOffice gets nothing of ours but the copy: no environment, no name, a profile without macros, its socket in its folder.
func TestOffice_whatItSees(t *testing.T) {
	t.Setenv("VAULTFLOW_SECRET_FOR_OFFICE", "1")
	o := pretendOffice(t, "looks")
	got, err := o.Convert(t.Context(), strings.NewReader("x"), "xlsx", "pdf")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"document.xlsx", `oor:name="DisableMacrosExecution" oor:op="fuse"><value>true`, "-env:OSL_SOCKET_PATH=. --headless", "SinglePageSheets", "HOME=" + o.Dir} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(string(got), "VAULTFLOW") {
		t.Errorf("it sees our environment:\n%s", got)
	}
}

func TestOffice_endsWithItsCaller(t *testing.T) {
	t.Parallel()
	o := pretendOffice(t, "hang")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := o.Convert(ctx, strings.NewReader("x"), "docx", "pdf"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	nothingLeft(t, o)
}

func TestOffice_version(t *testing.T) {
	t.Parallel()
	if got, err := pretendOffice(t, "version").Version(t.Context()); got != "24.8.3.2" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := pretendOffice(t, "other").Version(t.Context()); got != "" || err == nil || !strings.Contains(err.Error(), "Some Program 2") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestOffice_asksForWhatIsNot(t *testing.T) {
	t.Parallel()
	missing := pretendOffice(t, "good")
	missing.Worker += "-not-there"
	e := &extract.Error{}
	if _, err := missing.Convert(t.Context(), strings.NewReader("x"), "docx", "pdf"); !errors.As(err, &e) || e.Code != failure.WorkerMissing {
		t.Errorf("got %v", err)
	}
	for _, from := range []string{"", "../x", "a b", "DOCX"} {
		if _, err := pretendOffice(t, "good").Convert(t.Context(), strings.NewReader("x"), from, "pdf"); !errors.As(err, &e) || e.Code != failure.Unsupported {
			t.Errorf("%q: got %v", from, err)
		}
	}
}

func TestOffice_sweep(t *testing.T) {
	t.Parallel()
	o := pretendOffice(t, "good")
	if err := os.MkdirAll(filepath.Join(o.Dir, "office-123", "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	o.Sweep()
	nothingLeft(t, o)
}

func nothingLeft(t *testing.T, o Office) {
	t.Helper()
	if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// An installation with Writer alone cannot load spreadsheets and slides, and says the same as of a broken file.
func TestOffice_namesThePackageThatIsMissing(t *testing.T) {
	t.Parallel()
	o := pretendOffice(t, "refuses")
	if got := o.Lacks(); got != nil {
		t.Errorf("an unknown installation lacks %q", got)
	}
	home := t.TempDir()
	for _, dir := range []string{"program", "share/registry"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(home, "program", "soffice")
	if err := errors.Join(os.Rename(o.Program, program), os.WriteFile(filepath.Join(home, "share/registry/writer.xcd"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	o.Program = program
	for from, want := range map[string]string{"xls": "install libreoffice-calc", "pptx": "install libreoffice-impress", "docx": "source file could not be loaded"} {
		_, err := o.Convert(t.Context(), strings.NewReader("x"), from, "pdf")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", from, err, want)
		}
	}
}
