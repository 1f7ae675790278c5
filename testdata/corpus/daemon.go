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
	"strings"
	"syscall"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// settings make a vault in which nothing waits for people or slow disks.
const settings = `vault: {quiet_period: 300ms, hold_period: 0s, stall_period: 2s, rescan_interval: 5s}
web: {listen: "127.0.0.1:0"}
`

// site is a vault with a running `vaultflow serve`.
type site struct {
	o       options
	scratch string
	vault   string
	program string
	env     []string
	cmd     *exec.Cmd
	gone    chan struct{} // closed when the daemon has ended
	memory  *memory
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
		gone: make(chan struct{}), memory: &memory{},
	}
	for _, dir := range []string{"vault/Import", "tmp"} {
		if err := os.MkdirAll(filepath.Join(scratch, dir), 0o755); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(s.vault, "settings.yaml"), []byte(settings), 0o644); err != nil {
		return nil, err
	}
	s.env = []string{
		"HOME=" + scratch, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(scratch, "tmp"), "NO_COLOR=1",
		"VAULTFLOW_VAULT=" + s.vault, "VAULTFLOW_STATE_DIR=" + filepath.Join(scratch, "state"),
		"VAULTFLOW_INGESTION_WORKER=" + filepath.Join(bin, "vaultflow-worker"),
	}
	if o.noOCR {
		s.env = append(s.env, "VAULTFLOW_INGESTION_PDF_STRATEGIES=pdf_text", "VAULTFLOW_INGESTION_IMAGE_STRATEGIES=image_copy")
	}
	for _, setting := range os.Environ() {
		if strings.HasPrefix(setting, "VAULTFLOW_INGESTION_") || strings.HasPrefix(setting, "VAULTFLOW_ENGINE_") {
			s.env = append(s.env, setting)
		}
	}
	log, err := os.Create(filepath.Join(scratch, "serve.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.cmd = exec.Command(s.program, "serve") //nolint:gosec,noctx // it is ended by kill or end, not by a context
	s.cmd.Env, s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = s.env, s.vault, log, log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.gone)
		s.cmd.Wait() //nolint:errcheck // ProcessState says how it ended
	}()
	go s.memory.watch(s.cmd.Process.Pid, s.gone)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if _, err := s.cli(ctx, "serve", "--url"); err == nil {
			return s, nil
		}
		if !s.alive() {
			break
		}
	}
	s.kill()
	said, err := os.ReadFile(log.Name())
	return nil, errors.Join(fmt.Errorf("vaultflow serve does not answer; it said:\n%s", said), err)
}

// cli runs a command of vaultflow on the vault and returns its output.
func (s *site) cli(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.program, args...) //nolint:gosec // the binary under test
	cmd.Env, cmd.Dir = s.env, s.vault
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("vaultflow %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	return out, err
}

// imports returns the imports of a batch by the name at which their file arrived.
func (s *site) imports(ctx context.Context, batch string, limit int) (map[string]engine.ImportRecord, error) {
	out, err := s.cli(ctx, "import", "--status", "--json", "-n", fmt.Sprint(limit))
	if err != nil {
		return nil, err
	}
	found := map[string]engine.ImportRecord{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var r engine.ImportRecord
		if err := dec.Decode(&r); err != nil {
			return nil, fmt.Errorf("read import --status: %w", err)
		}
		if strings.HasPrefix(r.Source, "Import/"+batch+"/") {
			found[r.Source] = r
		}
	}
	return found, nil
}

func (s *site) alive() bool {
	select {
	case <-s.gone:
		return false
	default:
		return true
	}
}

func (s *site) kill() {
	s.cmd.Process.Kill() //nolint:errcheck // it may be gone already
	<-s.gone
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
