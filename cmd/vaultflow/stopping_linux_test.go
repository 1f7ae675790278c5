//go:build linux && amd64

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// hold is a place at which something waits until the test lets it go on.
type hold struct {
	reached, released chan struct{}
	reach, release    func()
}

func newHold() *hold {
	h := &hold{reached: make(chan struct{}), released: make(chan struct{})}
	h.reach = sync.OnceFunc(func() { close(h.reached) })
	h.release = sync.OnceFunc(func() { close(h.released) })
	return h
}

// here waits at the hold, until it is released or ctx ends.
func (h *hold) here(ctx context.Context) {
	h.reach()
	select {
	case <-h.released:
	case <-ctx.Done():
	}
}

// Stages of a request at which the model can hold.
const (
	stageConnect = "connect" // nothing of the request was read
	stageBody    = "body"    // the headers were
	stageAsk     = "ask"     // nothing was answered
	stageStream  = "stream"  // a piece was
)

// heldModel answers every question with "Tea.", and holds at one stage of one request. It counts the questions that arrived whole.
type heldModel struct {
	url   string
	hold  *hold
	stage string
	nth   int32 // request
	armed atomic.Bool
	fails atomic.Bool

	conns, begun atomic.Int32

	mu    sync.Mutex     // guards asked
	asked map[string]int // by question, since it was armed
}

// listening holds the nth connection before anything is read from it.
type listening struct {
	net.Listener
	m *heldModel
}

// Accept implements net.Listener.
func (l listening) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil && l.m.armed.Load() && l.m.stage == stageConnect && l.m.conns.Add(1) == l.m.nth {
		l.m.hold.here(context.Background())
	}
	return conn, err
}

// pieces holds after the first piece of an answer.
type pieces struct {
	http.ResponseWriter
	first func()
}

// Write implements io.Writer.
func (p *pieces) Write(data []byte) (int, error) {
	n, err := p.ResponseWriter.Write(data)
	if p.first != nil {
		p.ResponseWriter.(http.Flusher).Flush()
		p.first()
		p.first = nil
	}
	return n, err
}

// Flush implements http.Flusher.
func (p *pieces) Flush() { p.ResponseWriter.(http.Flusher).Flush() }

func newHeldModel(t *testing.T, stage string, nth int32) *heldModel {
	t.Helper()
	m := &heldModel{hold: newHold(), stage: stage, nth: nth, asked: map[string]int{}}
	wire := llmtest.OpenAI{Kind: "openai_compatible"}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := func(string) {}
		if m.armed.Load() {
			number := m.begun.Add(1)
			at = func(stage string) {
				if stage == m.stage && number == m.nth {
					m.hold.here(r.Context())
				}
			}
		}
		at(stageBody)
		var body bytes.Buffer
		if _, err := body.ReadFrom(r.Body); err != nil {
			return
		}
		if m.armed.Load() {
			question := "First"
			if bytes.Contains(body.Bytes(), []byte("Second.")) {
				question = "Second"
			}
			m.mu.Lock()
			m.asked[question]++
			m.mu.Unlock()
		}
		at(stageAsk)
		if m.fails.Load() {
			wire.Fail(w, http.StatusBadRequest, "bad", "no")
			return
		}
		wire.Answer(&pieces{w, func() { at(stageStream) }}, llmtest.Answer{Deltas: []string{"Te", "a."}, Input: 20, Output: 8})
	}))
	server.Listener = listening{server.Listener, m}
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(m.hold.release)
	m.url = server.URL
	return m
}

func (m *heldModel) times(question string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[question]
}

// stopMoment is when signals arrive.
type stopMoment struct {
	name  string
	stage string // of the model's request nth
	nth   int32
	call  func(s *site, m *heldModel, c fileCall) bool // of the process that works
	only  string                                       // commands, all if empty
	early bool                                         // before there is a run; the call is one of the command itself
	paid  bool                                         // the first answer had arrived
}

func inVault(s *site, c fileCall) bool {
	return c.below(s.Vault) && !c.below(filepath.Join(s.Vault, ".vaultflow")) && c.name != "read"
}

// asking are the commands that ask the model from the first step on.
const asking = "run, run of several, retry, retry --current, "

var stopMoments = []stopMoment{
	{name: "before the order", early: true, call: func(s *site, _ *heldModel, c fileCall) bool {
		return c.path == s.Path("settings.yaml") && c.name == "read"
	}},
	{name: "inputs are read", only: asking, call: func(s *site, _ *heldModel, c fileCall) bool { return c.path == s.Path("In.md") && c.name == "read" }},
	{name: "before the request", only: asking, stage: stageConnect, nth: 1},
	{name: "the body is sent", only: asking, stage: stageBody, nth: 1},
	{name: "before the answer", only: asking + "approve", stage: stageAsk, nth: 1},
	{name: "the answer streams", only: asking + "approve", stage: stageStream, nth: 1},
	{name: "the answer is stored", only: asking, paid: true, call: func(s *site, m *heldModel, c fileCall) bool {
		return m.times("First") > 0 && c.below(filepath.Join(s.State, "received"))
	}},
	{name: "before the output", only: asking, paid: true, call: func(s *site, m *heldModel, c fileCall) bool { return m.times("First") > 0 && inVault(s, c) }},
	{name: "before a file", only: "undo, approve", call: func(s *site, _ *heldModel, c fileCall) bool { return inVault(s, c) && !c.below(s.Path("Workflows")) }},
	{name: "the output is written", paid: true, call: func(s *site, _ *heldModel, c fileCall) bool { return c.path == s.Path("One.md") && c.name != "read" }},
	{name: "the second step", only: asking, stage: stageStream, nth: 2, paid: true},
	{name: "just before the end", paid: true, call: func(s *site, _ *heldModel, c fileCall) bool { return c.path == s.Path("Two.md") && c.name != "read" }},
}

// stopCell is one case: a command, whether serve works, the moment, and the signals.
type stopCell struct {
	command string
	serves  bool
	stopMoment
	signals []syscall.Signal
}

// stopRig is a site on which a cell is played.
type stopRig struct {
	stopCell
	*site
	t     *testing.T
	m     *heldModel
	hold  *hold
	armed atomic.Bool
	call  func(fileCall) bool

	args   []string
	before []string // runs that were there
}

// judge holds the process at the moment's call.
func (r *stopRig) judge(c fileCall) syscall.Errno {
	if r.armed.Load() && r.call != nil && r.call(c) {
		r.armed.Store(false)
		r.hold.here(context.Background())
	}
	return 0
}

func newStopRig(t *testing.T, c stopCell) *stopRig {
	t.Helper()
	m := newHeldModel(t, c.stage, c.nth)
	s := newSite(t, "", "models: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1, context_window: 8000000, price: {input: 1, output: 1}}}}\n"+
		"providers: {lab: {kind: openai_compatible, base_url: \""+m.url+"/v1\", api_key_env: LAB_KEY}}\n")
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	s.write("In.md", "Leaves.\n")
	if c.stage == stageBody {
		s.write("In.md", strings.Repeat("Leaves of tea. ", 200_000)+"\n") // more than the sockets' buffers hold
	}
	two := "@input file: In\n%s@output file: One\n@write_mode replace\n\nFirst.\n\n## Second\n@output file: Two\n@write_mode replace\n\nSecond.\n"
	s.write("Workflows/Two.md", "---\nenabled: true\n---\n\n## One\n"+fmt.Sprintf(two, ""))
	s.write("Workflows/Asks.md", "---\nenabled: true\n---\n\n## One\n"+fmt.Sprintf(two, "@approve outputs\n"))
	s.write("Workflows/Each.md", "---\nenabled: true\nruns: each\n---\n\n## One\n@input trigger\n"+fmt.Sprintf(two, ""))
	for _, name := range []string{"A", "B", "C"} {
		s.write(name+".md", name+"\n")
	}
	r := &stopRig{stopCell: c, site: s, t: t, m: m, hold: m.hold}
	if c.stopMoment.call != nil {
		r.call = func(f fileCall) bool { return c.stopMoment.call(s, m, f) }
	}
	if c.serves && r.call != nil && !c.early {
		r.askingServe(&supervised{judge: r.judge, reads: true, done: make(chan struct{})})
		s.Wait(patience, "serve", func() (bool, string) { out, errs, code := s.CLI("serve", "--url"); return code == 0, out + errs })
	} else if c.serves {
		s.serve()
	}
	return r
}

// prepare makes what the command is about, and returns its arguments.
func (r *stopRig) prepare() {
	r.t.Helper()
	switch r.command {
	case "run":
		r.args = []string{"run", "Two"}
	case "run of several":
		r.args = []string{"run", "Each", "A.md", "B.md", "C.md"}
	case "retry", "retry --current":
		r.m.fails.Store(true)
		r.CLI("run", "Two")
		r.m.fails.Store(false)
		r.args = append(strings.Split(r.command, " "), r.Runs("Two")[0].ID)
	case "undo":
		r.Must("run", "Two")
		r.args = []string{"undo", r.Runs("Two")[0].ID}
	case "approve":
		if out, errs, code := r.CLI("run", "Asks"); code != exitApproval {
			r.t.Fatalf("run Asks: exit code %d\n%s%s", code, out, errs)
		}
		id := r.Runs("Asks")[0].ID
		r.Must("approvals", id)
		r.args = []string{"approve", id}
	}
	for _, run := range r.all() {
		r.before = append(r.before, run.ID)
	}
	if r.command == "retry" || r.command == "approve" {
		r.before = slices.DeleteFunc(r.before, func(id string) bool { return id == r.args[len(r.args)-1] })
	}
	r.m.armed.Store(true)
	r.armed.Store(true)
}

// all lists the runs of the vault.
func (r *stopRig) all() []engine.RunRecord {
	r.t.Helper()
	if r.figure("SELECT count(*) FROM runs") == 0 {
		return nil
	}
	return sitetest.Rows[engine.RunRecord](r.Site, "runs", "-n", "100")
}

// locked is a buffer that is read while it is written.
type locked struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// play runs the command, sends the signals at the moment, and returns what was said. reached is false if the moment never came.
func (r *stopRig) play() (said string, code int, reached bool) {
	r.t.Helper()
	cmd := r.Command(r.args...)
	out := &locked{}
	cmd.Stdout, cmd.Stderr = out, out
	ended := make(chan struct{})
	if r.call != nil && (!r.serves || r.early) {
		s := (&supervised{cmd: cmd, judge: r.judge, reads: true, done: make(chan struct{})}).start(r.t)
		go func() { s.cmd.Wait(); close(ended) }()
	} else if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	} else {
		go func() { cmd.Wait(); close(ended) }()
	}
	select {
	case <-r.hold.reached:
		reached = true
	case <-ended:
		return out.String(), exitOf(cmd), false
	case <-time.After(patience):
		cmd.Process.Kill()
		r.t.Fatalf("the moment never came:\n%s", out)
	}
	for _, sig := range r.signals {
		cmd.Process.Signal(sig)
	}
	if r.call != nil {
		r.heard(out, ended)
		r.hold.release()
	}
	select {
	case <-ended:
	case <-time.After(patience):
		cmd.Process.Signal(syscall.SIGQUIT)
		<-ended
		r.t.Fatalf("it still runs:\n%s", out)
	}
	return out.String(), exitOf(cmd), reached
}

// heard waits until the command shows that the signal has arrived. Some wait for what is held before they do.
func (r *stopRig) heard(out *locked, ended chan struct{}) {
	for range 20 {
		select {
		case <-ended:
			return
		case <-time.After(10 * time.Millisecond):
		}
		if strings.Contains(out.String(), "stopping run") {
			return
		}
	}
}

func exitOf(cmd *exec.Cmd) int {
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

var (
	saidLeft = regexp.MustCompile(`run (\S+) (continues in the running serve|is being cancelled|is interrupted|has not ended yet|waits for approval)`)
	saidPaid = regexp.MustCompile(`counted in budgets: \$[0-9.]+, \d+ tokens in (\d+) request.*`)
)

// check holds what was said to what is so.
func (r *stopRig) check(said string, code int) {
	r.t.Helper()
	var fresh []engine.RunRecord
	for _, run := range r.all() {
		if !slices.Contains(r.before, run.ID) {
			fresh = append(fresh, run)
		}
	}
	asked := r.m.times("First") + r.m.times("Second")
	goesOn := strings.Contains(said, "so far counted")
	wrong := func(format string, args ...any) {
		r.t.Helper()
		r.t.Errorf(format+"\nexit code %d, it said:\n%s", append(args, code, said)...)
	}
	if r.early && len(r.signals) > 1 || r.early && r.signals[0] == syscall.SIGHUP { // the system ended it
		if asked > 0 || strings.HasPrefix(r.command, "run") && len(fresh) > 0 {
			wrong("%d runs, %d questions", len(fresh), asked)
		}
		return
	}
	if code != exitCancelled && code != exitDone {
		wrong("neither done nor cancelled")
	}
	begun := strings.Contains(said, "stopping run") || saidLeft.MatchString(said)
	if len(fresh) == 0 || len(fresh) == 1 && (r.command == "retry" || r.command == "approve") && !begun {
		if asked > 0 || code != exitCancelled || !strings.Contains(said, "cancelled") && !strings.Contains(said, "stopped before it began") {
			wrong("nothing began, %d questions", asked)
		}
		return
	}
	if len(fresh) > 1 {
		wrong("%d runs", len(fresh))
	}
	if r.command == "run of several" && (code != exitCancelled || !strings.Contains(said, "stopped before 2 more runs: B.md, C.md")) {
		wrong("it does not say what did not begin")
	}
	run := fresh[0]
	for _, name := range []string{"One.md", "Two.md"} {
		if text := r.Read(name); text != "" && text != "Tea.\n" {
			wrong("%s holds %q", name, text)
		}
	}
	shown, _, _ := r.CLI("show", run.ID)
	if line := saidPaid.FindString(said); !goesOn && run.Status.Finished() && line != "" && !strings.Contains(shown, line) {
		wrong("show says another amount:\n%s", shown)
	}
	if many := saidPaid.FindStringSubmatch(said); many != nil && !goesOn && r.command != "approve" && r.command != "retry" {
		if n := fmt.Sprint(asked); many[1] != n && many[1] != fmt.Sprint(asked+1) || many[1] != n && r.stage != stageConnect && r.stage != stageBody {
			wrong("%s questions arrived", n)
		}
	} else if strings.Contains(said, "nothing was paid") && asked > 0 {
		wrong("%d questions arrived", asked)
	} else if many == nil && asked > 0 && code == exitCancelled {
		wrong("it does not say what was paid")
	}
	what := ""
	if m := saidLeft.FindStringSubmatch(said); m != nil {
		if what = m[2]; m[1] != run.ID {
			wrong("it names another run than %s", run.ID)
		}
	}
	switch what {
	case "":
		for _, name := range []string{"One.md", "Two.md"} {
			if r.command == "run" && strings.Contains(said, "wrote file "+name) != (r.Read(name) != "") {
				wrong("%s holds %q", name, r.Read(name))
			}
		}
		if !run.Status.Finished() || r.command != "run of several" && (code == exitCancelled) != (run.Status == engine.Cancelled) {
			wrong("the run is %s", run.Status)
		}
	case "is interrupted", "has not ended yet":
		if run.Status.Finished() || r.serves {
			wrong("the run is %s", run.Status)
		}
	case "is being cancelled":
		r.hold.release()
		r.Wait(patience, "the end", func() (bool, string) { run = r.show(run.ID); return run.Status.Finished(), string(run.Status) })
		if run.Status != engine.Cancelled {
			wrong("the run is %s in the end", run.Status)
		}
	case "continues in the running serve":
		r.hold.release()
		r.Wait(patience, "the end", func() (bool, string) { run = r.show(run.ID); return run.Status.Finished(), string(run.Status) })
		if run.Status != engine.Done {
			wrong("the run is %s in the end", run.Status)
		}
	}
	if run.Status == engine.Done && r.command == "undo" {
		if r.Read("One.md")+r.Read("Two.md") != "" {
			wrong("undone, and there is One.md or Two.md")
		}
	} else if run.Status == engine.Done && r.Read("One.md")+r.Read("Two.md") != "Tea.\nTea.\n" {
		wrong("done, and One.md or Two.md is not there")
	}
	if run.Status == engine.Done {
		return
	}
	r.hold.release()
	if out, errs, again := r.CLI("retry", run.ID); again != exitDone {
		wrong("retry: exit code %d\n%s%s", again, out, errs)
	}
	if first, second := r.m.times("First"), r.m.times("Second"); r.paid && r.command != "undo" && r.command != "approve" && first != 1 || first > 2 || second > 2 {
		wrong("asked %d and %d times", first, second)
	}
	if got := r.Read("One.md") + r.Read("Two.md"); (got == "") != (r.command == "undo") {
		wrong("retried, and the files hold %q", got)
	}
	if left := r.leftFiles(); len(left) > 0 {
		wrong("left: %q", left)
	}
}

// leftFiles lists temporary files in the vault.
func (r *stopRig) leftFiles() (left []string) {
	for _, name := range r.Files(".", "") {
		if strings.HasPrefix(filepath.Base(name), ".") && !strings.HasPrefix(name, ".vaultflow") {
			left = append(left, name)
		}
	}
	return left
}

func (r *stopRig) show(id string) engine.RunRecord {
	r.t.Helper()
	return sitetest.Rows[engine.RunRecord](r.Site, "show", id)[0]
}

func (c stopCell) name() string {
	var signals []string
	for _, sig := range c.signals {
		signals = append(signals, map[syscall.Signal]string{syscall.SIGINT: "INT", syscall.SIGTERM: "TERM", syscall.SIGHUP: "HUP"}[sig])
	}
	return fmt.Sprintf("%s, serve %t, %s, %s", c.command, c.serves, c.stopMoment.name, strings.Join(signals, " "))
}

func (c stopCell) test(t *testing.T) {
	t.Helper()
	t.Run(c.name(), func(t *testing.T) {
		t.Parallel()
		r := newStopRig(t, c)
		r.prepare()
		said, code, reached := r.play()
		if !reached {
			t.Skipf("the moment does not come in this command; exit code %d:\n%s", code, said)
		}
		r.check(said, code)
	})
}

// stopAlways are the cells of the short tier.
var stopAlways = []string{
	"run, serve true, the answer streams, INT INT", "run of several, serve false, the output is written, INT", "retry, serve false, the second step, TERM",
	"approve, serve false, before a file, INT INT",
}

// TestStop_table: whatever signal comes at whatever moment of a command, what it says is what is so. The long tier plays all cells.
func TestStop_table(t *testing.T) {
	t.Parallel()
	once, twice := []syscall.Signal{syscall.SIGINT}, []syscall.Signal{syscall.SIGINT, syscall.SIGINT}
	for _, command := range []string{"run", "run of several", "retry", "retry --current", "undo", "approve"} {
		for _, serves := range []bool{false, true} {
			for _, moment := range stopMoments {
				if moment.only != "" && !strings.Contains(moment.only+", ", command+", ") {
					continue
				}
				for _, signals := range [][]syscall.Signal{once, twice, {syscall.SIGTERM}, {syscall.SIGHUP}} {
					c := stopCell{command, serves, moment, signals}
					if long() || slices.Contains(stopAlways, c.name()) {
						c.test(t)
					}
				}
			}
		}
	}
}
