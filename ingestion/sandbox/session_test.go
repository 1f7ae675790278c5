//go:build unix

package sandbox

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

func TestSession_answersPages(t *testing.T) {
	t.Parallel()
	doc := document(t, "the document")
	s, info, err := pretend(t, "well").Start(t.Context(), doc, extract.Open{Kind: extract.KindPDF})
	if err != nil {
		t.Fatal(err)
	}
	doc.Close() // the worker has its own descriptor
	if info.Pages != 3 {
		t.Errorf("%d pages, want 3", info.Pages)
	}
	if info.Title != "OMP_THREAD_LIMIT=1 MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=4194304 GLIBC_TUNABLES=glibc.malloc.hugetlb=1 VAULTFLOW_FAKE=well" {
		t.Errorf("the worker's environment is %q", info.Title)
	}
	for n := 1; n <= 3; n++ {
		page, err := s.Page(t.Context(), extract.PageRequest{N: n, Text: true})
		if err != nil || page.Text.Plain != "the document" {
			t.Fatalf("page %d: %+v, %v", n, page, err)
		}
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if _, err := s.Page(t.Context(), extract.PageRequest{N: 1, Text: true}); err == nil {
		t.Error("a closed session answered")
	}
	if err := syscall.Kill(s.p.cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the worker is still there: %v", err)
	}
}

func TestSession_tellsHowWorkersDie(t *testing.T) {
	t.Parallel()
	cases := []struct {
		role string
		code failure.Code
		says string
		page int
		ends bool
	}{
		{"start:hang", failure.WorkerMissing, "took more than", 0, true},
		{"start:exit1", failure.WorkerMissing, "invalid page tree", 0, true},
		{"start:flood", failure.WorkerMissing, "protocol", 0, true},
		{"start:unconfined", failure.Unconfined, "no landlock here", 0, true},
		{"start:lie", failure.WorkerMissing, "is not a worker", 0, true},
		{"hello:old", failure.WorkerMissing, "version 0", 0, true},
		{"open:hang", failure.Timeout, "opening the document took more than", 0, true},
		{"open:exit1", failure.Corrupt, "invalid page tree", 0, false},
		{"open:panic", failure.Crashed, "crashed on purpose", 0, true},
		{"open:password", failure.NeedsPassword, "locked", 0, false},
		{"open:lie", failure.Crashed, "answered with extract.Page", 0, true},
		{"page:hang", failure.Timeout, "reading the page took more than", 2, true},
		{"page:spin", failure.Timeout, "reading the page needed more than", 2, true},
		{"open:spin", failure.Timeout, "opening the document needed more than", 0, true},
		{"page:orphan", failure.Timeout, "took more than", 2, true},
		{"page:segv", failure.Crashed, "ended the worker", 2, true},
		{"page:sigsys", failure.Crashed, "may be an attack", 2, true},
		{"open:sigsys", failure.Crashed, "may be an attack", 0, true},
		{"page:killed", failure.Crashed, "was ended from outside (killed)", 2, true},
		{"page:spent", failure.Timeout, "processor time", 2, true},
		{"page:memory", failure.Memory, "more memory", 2, true},
		{"page:exit1", failure.Crashed, "invalid page tree", 2, true},
		{"page:flood", failure.Crashed, "protocol", 2, true},
		{"page:announce", failure.Timeout, "took more than", 2, true},
		{"page:text25", failure.TooMuch, "more than the 16 MB allowed", 2, true},
		{"page:announcetext", failure.TooMuch, "more than the 16 MB", 2, true},
		{"page:text5", failure.TooMuch, "more than the 4 MB allowed", 2, true},
		{"page:half", failure.Crashed, "ended the worker", 2, true},
		{"page:lie", failure.Crashed, "for page 77", 2, true},
		{"page:parts", failure.Crashed, "other parts", 2, true},
		{"page:unknowncode", failure.PageFailed, "a [31mb", 2, false},
	}
	for _, c := range cases {
		t.Run(c.role, func(t *testing.T) {
			t.Parallel()
			config := pretend(t, c.role)
			if strings.Contains(c.says, "more than") {
				config.OpenTimeout, config.PageTimeout = time.Second, 500*time.Millisecond
			}
			if strings.HasSuffix(c.role, ":spin") {
				config.patience = 100 // other tests need the processor
			}
			err := lastError(t, config)
			e, ok := errors.AsType[*extract.Error](err)
			if !ok {
				t.Fatalf("got %v (%T), want an *extract.Error", err, err)
			}
			if e.Code != c.code || e.Page != c.page || e.Ends() != c.ends || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %q on page %d, ends %v: %q\nwant %q on page %d, ends %v, with %q", e.Code, e.Page, e.Ends(), e.Message, c.code, c.page, c.ends, c.says)
			}
		})
	}
}

// A worker that waits for the processor has its whole time: a busy machine has the results of an idle one.
func TestSession_countsProcessorTime(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the processor time of other processes is only known on Linux")
	}
	config := pretend(t, "page:late")
	config.PageTimeout = 500 * time.Millisecond
	if err := lastError(t, config); err != nil {
		t.Error(err)
	}
}

// lastError opens a document and reads pages until something fails.
func lastError(t *testing.T, config Config) error {
	t.Helper()
	s, _, err := config.Start(t.Context(), document(t, "x"), extract.Open{Kind: extract.KindPDF})
	if err != nil {
		return err
	}
	defer s.Close()
	for n := 1; n <= 3; n++ {
		if _, err := s.Page(t.Context(), extract.PageRequest{N: n, Text: true}); err != nil {
			return err
		}
	}
	return nil
}

func TestSession_staysUsableAfterAPageFailed(t *testing.T) {
	t.Parallel()
	s, _, err := pretend(t, "page:unknowncode").Start(t.Context(), document(t, "x"), extract.Open{Kind: extract.KindPDF})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Page(t.Context(), extract.PageRequest{N: 2, Text: true}); err == nil {
		t.Fatal("page 2 did not fail")
	}
	// The fake goes on with its usual answer to the same request, which is then out of step: the session has to notice.
	if _, err := s.Page(t.Context(), extract.PageRequest{N: 3, Text: true}); err == nil || !strings.Contains(err.Error(), "for page 2") {
		t.Errorf("got %v, want a complaint about the wrong page", err)
	}
}

func TestSession_endsWithItsContext(t *testing.T) {
	t.Parallel()
	s, _, err := pretend(t, "page:hang").Start(t.Context(), document(t, "x"), extract.Open{Kind: extract.KindPDF})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := s.Page(ctx, extract.PageRequest{N: 2, Text: true}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
}

func TestStart_requiresConfinement(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"hello:unconfined", "hello:landlock", "hello:seccomp"} {
		config := pretend(t, role)
		if err := lastError(t, config); err != nil {
			t.Errorf("%s, not required: %v", role, err)
		}
		config.RequireConfinement = true
		if e, ok := errors.AsType[*extract.Error](lastError(t, config)); !ok || e.Code != failure.Unconfined {
			t.Errorf("%s, required: got %v, want %s", role, e, failure.Unconfined)
		}
	}
	config := pretend(t, "well")
	config.RequireConfinement = true
	if err := lastError(t, config); err != nil {
		t.Errorf("the full level is refused: %v", err)
	}
}

func TestStart_boundsTimeAndMemory(t *testing.T) {
	t.Parallel()
	if c := (Config{}).withDefaults(); c.PageTimeout != 20*time.Second || c.MemoryBytes != 1536<<20 {
		t.Errorf("a page gets %s and %d bytes", c.PageTimeout, c.MemoryBytes)
	}
	s, info, err := pretend(t, "well").Start(t.Context(), document(t, "x"), extract.Open{Kind: extract.KindPDF})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !strings.Contains(info.Subject, "-memory=1610612736") {
		t.Errorf("the worker is started with %q", info.Subject)
	}
}

func TestStart_saysThatThereIsNoWorker(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "/no/such/worker", os.DevNull} {
		if e, ok := errors.AsType[*extract.Error](lastError(t, Config{Worker: path})); !ok || e.Code != failure.WorkerMissing {
			t.Errorf("%q: got %v", path, e)
		}
	}
}

func TestSelf_namesProblems(t *testing.T) {
	t.Parallel()
	report, err := Self(t.Context(), pretend(t, "hello:unconfined"), []string{"eng", "deu"})
	if err != nil || report.Version != "fake" || len(report.Problems) != 2 {
		t.Fatalf("got %+v, %v", report, err)
	}
	if report.Problems[0].Code != "language_missing" || report.Problems[1].Code != string(failure.Unconfined) {
		t.Errorf("problems: %+v", report.Problems)
	}
	report, err = Self(t.Context(), pretend(t, "hello:unconfined"), []string{"auto"})
	if err != nil || len(report.Problems) != 1 {
		t.Errorf("with the languages found out: %+v, %v", report, err)
	}
	report, err = Self(t.Context(), Config{Worker: "/no/such/worker"}, nil)
	if err != nil || len(report.Problems) != 1 || report.Problems[0].Fix == "" {
		t.Errorf("without a worker: %+v, %v", report, err)
	}
}

func TestStart_leavesNoNetwork(t *testing.T) {
	t.Parallel()
	s, info, err := pretend(t, "well").Start(t.Context(), document(t, "x"), extract.Open{Kind: extract.KindPDF})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !strings.Contains(info.Subject, "-isolated") {
		t.Skip("this system gives no network namespaces")
	}
	if info.Author != "" {
		t.Errorf("the isolated worker has the networks %q", info.Author)
	}
}

func TestConfinementProblem_growsWithWhatIsOpen(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]string{extract.ConfinedFull: "", extract.ConfinedLandlock: "any system call", extract.ConfinedCalls: "could read files", extract.ConfinedFiles: "can use the network", extract.ConfinedLimits: "could read files", extract.ConfinedNot: "could read files"} {
		p, ok := confinementProblem(level)
		if ok != (want != "") || !strings.Contains(p.Message, want) {
			t.Errorf("%s: %+v, %v", level, p, ok)
		}
	}
}

func TestTail_keepsTheBeginning(t *testing.T) {
	t.Parallel()
	var out tail
	for range 3 {
		if n, err := out.Write([]byte(strings.Repeat("x", 5000))); n != 5000 || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	if got := len(out.String()); got != tailSize {
		t.Errorf("kept %d bytes, want %d", got, tailSize)
	}
}
