package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// reapDelay is how long the pipes of a dead worker are waited for.
const reapDelay = 2 * time.Second

// process is a running worker.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser // to the worker
	out    *os.File       // from the worker
	door   *os.File       // through which the worker gets its document
	stderr tail
	reap   func() error
}

// workerEnvironment is all that a worker sees of our environment. Tesseract uses one thread: on a busy machine it takes seven
// times as long with more. glibc keeps one heap, not one for each thread that the Go runtime calls from, and returns large blocks
// when they are freed: otherwise a worker grew by a third of a megabyte for each scanned page. It asks for huge pages, because each page is drawn into new
// memory, and half of the time went to its page faults. The variables are read before the program's own code runs.
const workerEnvironment = "OMP_THREAD_LIMIT=1 MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=4194304 GLIBC_TUNABLES=glibc.malloc.hugetlb=1"

// maxTime is the most processor time of a worker. A request that takes too long is ended by the clock; this ends a worker
// that nobody watches any more.
const maxTime = 24 * time.Hour

// launch starts the worker, without a network if that is possible. Its document is handed over later.
func launch(c Config) (*process, error) {
	path, err := exec.LookPath(c.Worker)
	if err == nil {
		path, err = filepath.Abs(path) // it is started from another folder
	}
	if err != nil {
		return nil, missing(err)
	}
	for _, way := range isolations() {
		var p *process
		if p, err = c.launch(path, way); err == nil {
			return p, nil
		}
	}
	return nil, missing(err)
}

// launch starts the worker in new namespaces, or in none.
func (c Config) launch(path string, namespaces uintptr) (*process, error) {
	args := []string{"-serve", "-memory=" + strconv.FormatInt(c.MemoryBytes, 10), "-cpu=" + maxTime.String()}
	if namespaces != 0 {
		args = append(args, "-isolated")
	}
	if c.Tessdata != "" {
		args = append(args, "-tessdata="+c.Tessdata)
	}
	if c.Cache != "" {
		args = append(args, "-pdfium-cache="+c.Cache)
	}
	if c.RequireConfinement {
		args = append(args, "-require-confinement")
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe for the worker: %w", err)
	}
	defer write.Close() // the worker has it, or there is none
	ours, theirs, err := extract.Handover()
	if err != nil {
		read.Close()
		return nil, err
	}
	defer theirs.Close() // likewise
	p := &process{out: read, door: ours}
	// Its life is bounded by the session's timeouts and Close, not by a context: those have to tell why it ended.
	p.cmd = exec.Command(path, args...) //nolint:noctx // the user's own setting
	p.cmd.Env = append(strings.Fields(workerEnvironment), c.env...)
	p.cmd.Dir = "/"
	p.cmd.Stdout, p.cmd.Stderr = write, &p.stderr
	p.cmd.ExtraFiles = []*os.File{theirs}
	p.cmd.WaitDelay = reapDelay
	setGroup(p.cmd)
	isolate(p.cmd, namespaces)
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		read.Close()
		ours.Close()
		return nil, fmt.Errorf("make a pipe for the worker: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		read.Close()
		ours.Close()
		return nil, err
	}
	p.reap = sync.OnceValue(p.cmd.Wait)
	return p, nil
}

func missing(err error) error {
	return &extract.Error{Code: failure.WorkerMissing, Message: "the worker cannot be started: " + err.Error()}
}

// hand hands the document over to the worker, which gets a descriptor of its own.
func (p *process) hand(doc *os.File) error {
	defer p.door.Close() // there is only one
	return extract.Hand(p.door, doc)
}

// end waits for a worker that is finished or killed.
func (p *process) end() error {
	_ = p.in.Close() // the worker may have closed it by dying
	err := p.reap()
	_ = p.out.Close()  // nobody reads it any more
	_ = p.door.Close() // likewise
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	return err
}

// tailSize is how much of a worker's messages is kept: the beginning, where the cause stands.
const tailSize = 8 << 10

// tail keeps the first bytes that are written to it and discards the rest.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements io.Writer. It never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[:min(len(b), tailSize-len(t.kept))]...)
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
