package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// settings make a vault in which nothing waits for people or slow disks. With slow writers the defaults apply, since they are
// under test.
func settings(o options) string {
	const web = "web: {listen: \"127.0.0.1:0\"}\n"
	if o.slow > 0 {
		return web
	}
	return "vault: {quiet_period: 300ms, hold_period: 0s, stall_period: 2s, rescan_interval: 5s}\n" + web
}

// site is a vault with a running `vaultflow serve`.
type site struct {
	o       options
	scratch string
	vault   string
	program string
	env     []string
	memory  *memory

	reference map[string]outcome // by digest, of a run without kills

	restarting atomic.Bool
	lock       sync.Mutex
	cmd        *exec.Cmd
	gone       chan struct{} // closed when the daemon has ended
}

// start makes the vault and starts the daemon. Settings that the environment names with VAULTFLOW_INGESTION_… or
// VAULTFLOW_ENGINE_… apply here too.
func start(ctx context.Context, scratch string, o options) (*site, error) {
	bin, err := filepath.Abs(o.bin)
	if err != nil {
		return nil, err
	}
	s := &site{
		o: o, scratch: scratch, vault: filepath.Join(scratch, "vault"), program: filepath.Join(bin, "vaultflow"),
		memory: &memory{},
	}
	for _, dir := range []string{"vault/Import", "tmp"} {
		if err := os.MkdirAll(filepath.Join(scratch, dir), 0o755); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(s.vault, "settings.yaml"), []byte(settings(o)), 0o600); err != nil {
		return nil, err
	}
	s.env = []string{
		"HOME=" + scratch, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(scratch, "tmp"), "NO_COLOR=1",
		"VAULTFLOW_VAULT=" + s.vault, "VAULTFLOW_STATE_DIR=" + filepath.Join(scratch, "state"),
		"VAULTFLOW_INGESTION_WORKER=" + filepath.Join(bin, "vaultflow-worker"),
	}
	if o.noOCR || o.ocr > 0 {
		s.env = append(s.env, "VAULTFLOW_INGESTION_PDF_STRATEGIES=pdf_text", "VAULTFLOW_INGESTION_IMAGE_STRATEGIES=image_copy")
	}
	for _, setting := range os.Environ() {
		if strings.HasPrefix(setting, "VAULTFLOW_INGESTION_") || strings.HasPrefix(setting, "VAULTFLOW_ENGINE_") {
			s.env = append(s.env, setting)
		}
	}
	return s, s.serve(ctx)
}

// serve starts the daemon and waits until it answers.
func (s *site) serve(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(s.scratch, "serve.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd, gone := exec.Command(s.program, "serve", "--listen", "127.0.0.1:0"), make(chan struct{}) //nolint:noctx // it is ended by kill or end, not by a context
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.env, s.vault, log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	s.lock.Lock()
	s.cmd, s.gone = cmd, gone
	s.lock.Unlock()
	go func() {
		defer close(gone)
		cmd.Wait() //nolint:errcheck // ProcessState says how it ended
	}()
	go s.memory.watch(cmd.Process.Pid, gone)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if _, err := s.cli(ctx, "serve", "--url"); err == nil {
			return nil
		}
		select {
		case <-gone:
			deadline = time.Now()
		default:
		}
	}
	s.kill()
	said, err := os.ReadFile(log.Name())
	return errors.Join(fmt.Errorf("vaultflow serve does not answer; it said:\n%s", said), err)
}

// restart kills the daemon and starts it again. Nobody else sees it dead.
func (s *site) restart(ctx context.Context) error {
	s.restarting.Store(true)
	defer s.restarting.Store(false)
	s.kill()
	return s.serve(ctx)
}

func (s *site) pid() int {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.cmd.Process.Pid
}

// cli runs a command of vaultflow on the vault and returns its output.
func (s *site) cli(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Env, cmd.Dir = s.env, s.vault
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("vaultflow %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	return out, err
}

// imports returns the imports of a batch, the newest first.
func (s *site) imports(ctx context.Context, batch string) ([]engine.ImportRecord, error) {
	out, err := s.cli(ctx, "import", "--status", "--json", "-n", "10000")
	if err != nil {
		return nil, err
	}
	var found []engine.ImportRecord
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var r engine.ImportRecord
		if err := dec.Decode(&r); err != nil {
			return nil, fmt.Errorf("read import --status: %w", err)
		}
		if strings.HasPrefix(r.Source, "Import/"+batch+"/") {
			found = append(found, r)
		}
	}
	return found, nil
}

// newest is the last import of a file.
func newest(imports []engine.ImportRecord, source string) (engine.ImportRecord, bool) {
	i := slices.IndexFunc(imports, func(r engine.ImportRecord) bool { return r.Source == source })
	if i < 0 {
		return engine.ImportRecord{}, false
	}
	return imports[i], true
}

func (s *site) alive() bool {
	if s.restarting.Load() {
		return true
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	select {
	case <-s.gone:
		return false
	default:
		return true
	}
}

func (s *site) kill() {
	s.lock.Lock()
	cmd, gone := s.cmd, s.gone
	s.lock.Unlock()
	cmd.Process.Kill() //nolint:errcheck // it may be gone already
	<-gone
}

// broke matches the output of a panic or of the race detector.
var broke = regexp.MustCompile(`(?m)^(panic: |fatal error: |WARNING: DATA RACE|goroutine \d+ \[).*`)

// end stops the daemon like the system would, and checks what is left behind.
func (s *site) end(r *report) {
	if s.alive() {
		s.cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // when it is gone by now, its exit code tells
		select {
		case <-s.gone:
		case <-time.After(30 * time.Second):
			r.problem("", "serve still runs 30 s after SIGTERM")
			s.kill()
		}
		if code := s.cmd.ProcessState.ExitCode(); code != 0 {
			r.problem("", "serve ended with exit code %d", code)
		}
	}
	said, err := os.ReadFile(filepath.Join(s.scratch, "serve.log"))
	if err != nil {
		r.problem("", "read what serve said: %v", err)
	}
	if line := broke.Find(said); line != nil {
		r.problem("", "serve said: %s", line)
	}
	for _, dir := range []string{"Import", "Imported"} {
		s.strays(r, dir)
	}
	if left, err := os.ReadDir(filepath.Join(s.scratch, "tmp")); err != nil || len(left) > 0 {
		r.problem("", "left in the folder for temporary files: %v %v", left, err)
	}
	r.Daemon, r.Together = s.memory.daemon.Load()>>20, s.memory.together.Load()>>20
	if r.Daemon > s.o.daemonMiB {
		r.problem("", "the daemon had %d MiB resident, the limit is %d", r.Daemon, s.o.daemonMiB)
	}
}

// strays reports hidden and temporary files below a folder of the vault.
func (s *site) strays(r *report, below string) {
	left, err := leftovers(s.vault, below)
	if err != nil {
		r.problem("", "look for strays: %v", err)
	}
	for _, name := range left {
		r.problem("", "left over: %q", name)
	}
}
