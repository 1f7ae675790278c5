package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/policy/trust/trusttest"
	"github.com/vaultflow/vaultflow/settings"
)

// tallyModel answers each request with the vault and the task that it is about, and counts. It can hold back the answers for a vault.
type tallyModel struct {
	url string

	mu    sync.Mutex
	calls map[string]int           // by vault and task; guarded by mu
	hold  map[string]chan struct{} // by vault, until closed; guarded by mu
}

var askedFor = regexp.MustCompile(`Vault ([a-z0-9]+), task ([A-Za-z0-9]+)\.`)

func newTallyModel(t *testing.T) *tallyModel {
	t.Helper()
	m := &tallyModel{calls: map[string]int{}, hold: map[string]chan struct{}{}}
	wire := llmtest.OpenAI{Kind: "openai_compatible"}
	server := httptest.NewServer(llmtest.Whole(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the process that asked was killed
		}
		about := askedFor.FindStringSubmatch(string(body))
		if about == nil {
			t.Errorf("a request about nothing: %.500s", body)
			wire.Fail(w, http.StatusBadRequest, "bad", "about nothing")
			return
		}
		tag := about[1] + "/" + about[2]
		m.mu.Lock()
		m.calls[tag]++
		n, hold := m.calls[tag], m.hold[about[1]]
		m.mu.Unlock()
		if hold != nil {
			<-hold
		}
		wire.Answer(w, llmtest.Answer{Deltas: []string{fmt.Sprintf("Answer %d for %s.\n", n, tag)}, Input: 20, Output: 8})
	}))
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// holds makes the answers for vaults wait until the function is called, or the test ends.
func (m *tallyModel) holds(vaults ...*tenant) (release func()) {
	defer func() { vaults[0].T.Cleanup(release) }()
	m.mu.Lock()
	defer m.mu.Unlock()
	until := make(chan struct{})
	for _, v := range vaults {
		m.hold[v.name] = until
	}
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		close(until)
		for _, v := range vaults {
			delete(m.hold, v.name)
		}
	})
}

// count returns how often a vault has asked, or all, or only for one task.
func (m *tallyModel) count(vault, task string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for tag, calls := range m.calls {
		if tag == vault+"/"+task || task == "" && (vault == "" || strings.HasPrefix(tag, vault+"/")) {
			n += calls
		}
	}
	return n
}

// tenant is one of several vaults.
type tenant struct {
	*site
	name   string
	rounds int
}

// tenants makes vaults that the user's own settings list, with more of those settings. The site returned is outside of all of them.
func tenants(t *testing.T, worker, own string, names ...string) (outside *site, all []*tenant) {
	t.Helper()
	s := newSite(t, worker, "")
	base := filepath.Dir(s.Vault)
	s.Env = slices.DeleteFunc(s.Env, func(v string) bool {
		return strings.HasPrefix(v, "VAULTFLOW_VAULT=") || strings.HasPrefix(v, "VAULTFLOW_STATE_DIR=")
	})
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	for _, name := range names {
		v := *s.Site
		v.Vault = filepath.Join(base, "vaults", name)
		v.State = filepath.Join(base, "xdg", "vaultflow", settings.VaultID(v.Vault))
		for _, dir := range []string{v.Vault, v.State} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, &tenant{&site{&v}, name, 0})
	}
	s.Vault = base
	s.own(own, all)
	return s, all
}

// own writes the user's own settings.
func (s *site) own(text string, all []*tenant) {
	s.T.Helper()
	path := filepath.Join(s.Vault, "config", "vaultflow", "settings.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.T.Fatal(err)
	}
	text += "web: {listen: \"127.0.0.1:0\"}\nvaults:\n"
	for _, v := range all {
		text += "  - " + v.Vault + "\n"
	}
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		s.T.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		s.T.Fatal(err)
	}
}

// furnish fills a vault that is the user's own.
func (v *tenant) furnish() {
	v.T.Helper()
	if err := trusttest.Own(v.Vault, v.State); err != nil {
		v.T.Fatal(err)
	}
	for _, dir := range []string{"Import", "Inbox", "Out"} {
		if err := os.MkdirAll(v.Path(dir), 0o755); err != nil {
			v.T.Fatal(err)
		}
	}
	v.write("settings.yaml", "vault: {quiet_period: 300ms, hold_period: 0s, stall_period: 2s, rescan_interval: 10s}\nwatch: {debounce: 200ms}\nengine: {status_note: Status.md}\n")
	v.workflow("Ask", "description: asks")
	v.workflow("Notice", `watch: "Inbox/*.md"`)
	v.workflow("Tick", `schedule: "cron: * * * * *"`)
}

// write puts a text into the vault, which may be a file system of its own: nothing can be moved into it from elsewhere.
func (v *tenant) write(name, text string) { v.Write(name, []byte(text)) }

// Write is write for any data.
func (v *tenant) Write(name string, data []byte) {
	v.T.Helper()
	path := v.Path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		v.T.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		v.T.Fatal(err)
	}
}

// workflow writes a workflow that asks once and appends the answer.
func (v *tenant) workflow(name, front string) {
	v.T.Helper()
	v.write("Workflows/"+name+".md", note(front, "@output file: Out/"+name+"\n@write_mode append", fmt.Sprintf("Vault %s, task %s.", v.name, name)))
}

// answers counts what a workflow wrote.
func (v *tenant) answers(workflow string) int {
	data, err := os.ReadFile(v.Path("Out/" + workflow + ".md"))
	if err != nil {
		return 0
	}
	return strings.Count(string(data), "Answer ")
}

// begin gives a vault a round of work: a run by hand, one by a file that changes, and imports.
func (v *tenant) begin(pdf bool) {
	v.T.Helper()
	v.rounds++
	v.write(fmt.Sprintf("Inbox/Round %d.md", v.rounds), "News.\n")
	v.write(fmt.Sprintf("Import/Text %d.txt", v.rounds), fmt.Sprintf("Text of round %d in %s.\n", v.rounds, v.name))
	if pdf {
		v.Write(fmt.Sprintf("Import/Paper %d.pdf", v.rounds), paper(v.name, v.rounds, 3))
	}
	v.Must("run", "--detach", "Ask")
}

func paper(name string, n, pages int) []byte {
	b := pdftest.New()
	for page := range pages {
		b.TextPage(pdftest.Text(fmt.Sprintf("Page %d of paper %d in %s.", page+1, n, name), "It has a second line.")...)
	}
	return b.Bytes()
}

// lacks returns what of a vault's work is not done yet, or "".
func (v *tenant) lacks() string {
	var list []string
	for _, workflow := range []string{"Ask", "Notice"} {
		if n := v.answers(workflow); n < v.rounds {
			list = append(list, fmt.Sprintf("%s: %d answers of %s, want %d", v.name, n, workflow, v.rounds))
		}
	}
	left, err := os.ReadDir(v.Path("Import"))
	if err != nil || len(left) > 0 {
		list = append(list, fmt.Sprintf("%s: %d files in Import, %v", v.name, len(left), err))
	}
	return strings.Join(list, "; ")
}

// work gives vaults a round of work and returns how long it took.
func work(all []*tenant, pdf bool) time.Duration {
	began := time.Now()
	for _, v := range all {
		v.begin(pdf)
	}
	done(all)
	return time.Since(began)
}

func done(all []*tenant) {
	t := all[0].T
	t.Helper()
	all[0].Wait(10*patience, "the work to be done", func() (bool, string) {
		var list []string
		for _, v := range all {
			if text := v.lacks(); text != "" {
				list = append(list, text)
			}
		}
		return len(list) == 0, strings.Join(list, "\n")
	})
}

// paid checks that each run of a vault ended well and asked once. With lost, calls may have been lost in that many kills.
func (v *tenant) paid(m *tallyModel, lost int) {
	v.T.Helper()
	byWorkflow := map[string]int{}
	for _, r := range rows[engine.RunRecord](v.site, "runs", "-n", "2000") {
		if r.Status == engine.Running || r.Status == engine.Queued {
			continue // the schedule goes on
		}
		if r.Workflow == "Tick" && r.Status == engine.Skipped {
			continue // the one before had not ended
		}
		byWorkflow[r.Workflow]++
		if r.Status != engine.Done {
			v.T.Errorf("%s: run of %s: %s %s %+v", v.name, r.Workflow, r.Status, r.Reason, r.Failure)
		}
	}
	for workflow, n := range byWorkflow {
		if workflow == "Tick" {
			continue
		}
		if calls, wrote := m.count(v.name, workflow), v.answers(workflow); calls < n || calls > n+lost || wrote != n {
			v.T.Errorf("%s: %d runs of %s asked %d times (%d may be lost) and wrote %d answers", v.name, n, workflow, calls, lost, wrote)
		}
	}
	for _, r := range v.Imports() {
		if r.State != engine.ImportDone {
			v.T.Errorf("%s: import of %s: %s %s %s", v.name, r.Source, r.State, r.Reason, r.Error)
		}
	}
}

// front signs in to the dashboard of several vaults and returns what gets its pages.
func (s *site) front() (get func(path string) string) {
	s.T.Helper()
	link, err := url.Parse(strings.TrimSpace(s.Must("serve", "--url")))
	if err != nil {
		s.T.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.T.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	read := func(r *http.Response, err error) string {
		s.T.Helper()
		if err != nil {
			s.T.Fatal(err)
		}
		defer r.Body.Close()
		page, err := io.ReadAll(r.Body)
		if err != nil {
			s.T.Fatal(err)
		}
		return string(page)
	}
	_, code, _ := strings.Cut(link.Fragment, "code=")
	read(browser.PostForm("http://"+link.Host+"/login", url.Values{"token": {code}, "next": {link.Query().Get("next")}}))
	return func(path string) string {
		s.T.Helper()
		return read(browser.Get("http://" + link.Host + path))
	}
}

// rowOf returns what the list of vaults says about one of them.
func rowOf(page, name string) string {
	for _, part := range strings.Split(page, "<li")[1:] {
		part, _, _ = strings.Cut(part, "</li>")
		if strings.Contains(part, ">"+name+"<") {
			return part
		}
	}
	return ""
}

// TestServe_twentyVaults: of twenty vaults, one has 500 workflows, the disk of one is full, that of another one's state, one is unmounted under the
// daemon and one while the daemon is dead. The others do their work as if they were alone, and the broken ones theirs once they are back.
func TestServe_twentyVaults(t *testing.T) { //nolint:paralleltest // it measures times
	if !long() {
		t.Skip("takes minutes; runs with make test-long")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount file systems")
	}
	m := newTallyModel(t)
	lab := func(limit string) string {
		return "engine: {max_parallel_runs: 8}\nmodels: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1}}}\n" +
			"providers: {lab: {kind: openai_compatible, base_url: \"" + m.url + "/v1\", api_key_env: LAB_KEY, max_concurrency: 60" + limit + "}}\n"
	}
	names := []string{"busy", "full", "stuffed", "away", "stick"}
	for n := range 15 {
		names = append(names, fmt.Sprintf("v%02d", n+1))
	}
	s, all := tenants(t, worker(t), lab(""), names...)
	busy, full, stuffed, away, stick, good := all[0], all[1], all[2], all[3], all[4], all[5:]
	mountOn := func(dir string, bytes int64) {
		t.Helper()
		if err := mountSmall(dir, bytes); err != nil {
			t.Skipf("needs small file systems; mounting one: %v", err)
		}
		t.Cleanup(func() { unmount(dir) })
	}
	mountOn(full.Vault, 2<<20)
	mountOn(stuffed.State, 16<<20)
	// What a disk holds lies elsewhere: it can be taken away and come back.
	bind := func(v *tenant) (mount func()) {
		t.Helper()
		disk := v.Vault + ".disk"
		if err := os.Mkdir(disk, 0o700); err != nil {
			t.Fatal(err)
		}
		mountOn(disk, 16<<20)
		return func() {
			t.Helper()
			if err := unix.Mount(disk, v.Vault, "", unix.MS_BIND, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	mountAway, mountStick := bind(away), bind(stick)
	mountAway()
	mountStick()
	t.Cleanup(func() { unmount(away.Vault); unmount(stick.Vault) })
	for _, v := range all {
		v.furnish()
	}
	for n := range 500 {
		front := "description: one of many"
		if n < 200 {
			front = `watch: "Flood/*.md"`
		}
		busy.workflow(fmt.Sprintf("W%03d", n), front)
	}
	d := s.start()
	t.Cleanup(func() { d.Kill() }) // or the file systems are busy
	says := func(since int, parts ...string) {
		t.Helper()
		s.Wait(4*patience, strings.Join(parts, ", "), func() (bool, string) {
			said := d.said()[since:]
			return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(said, part) }), said
		})
	}
	began := time.Now()
	for _, v := range all {
		says(0, "watching "+v.Vault+";")
	}
	t.Logf("all are watched after %s; the daemon has %s", time.Since(began), memoryOf(d.Cmd.Process.Pid))
	get := s.front()

	work(good, true) // the first PDF waits for machine code
	alone := work(good, true)
	t.Logf("a round of work takes %s; memory %s", alone, memoryOf(d.Cmd.Process.Pid))

	// A limit for all, and one vault that wants more than the others together.
	since := len(d.said())
	s.own(lab(", requests_per_minute: 120"), all)
	s.Wait(4*patience, "all to start over", func() (bool, string) {
		said := d.said()[since:]
		return strings.Count(said, "watching ") >= len(all), said
	})
	busy.write("Flood/News.md", "News.\n")
	for n := range 40 {
		busy.Write(fmt.Sprintf("Import/Book %d.pdf", n), paper("busy", n, 10))
	}
	s.Wait(patience, "the flood", func() (bool, string) { return m.count("busy", "") >= 20, "" })
	before := m.count("busy", "")
	shared := work(good, true)
	flood := m.count("busy", "") - before
	left, err := os.ReadDir(busy.Path("Import"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("beside the flood, it takes %s; meanwhile busy made %d calls, and %d of its 40 books are left; memory %s", shared, flood, len(left), memoryOf(d.Cmd.Process.Pid))
	if shared > alone+100*time.Second || flood > 100 || len(left) == 0 {
		t.Errorf("the flood kept the others waiting: %s, alone %s; %d calls of busy and %d books left before they had done their work", shared, alone, flood, len(left))
	}
	since = len(d.said())
	s.own(lab(""), all)
	s.Wait(4*patience, "all to start over", func() (bool, string) {
		said := d.said()[since:]
		return strings.Count(said, "watching ") >= len(all), said
	})
	s.Wait(10*patience, "the flood to end", func() (bool, string) {
		var wrote int
		for n := range 200 {
			wrote += busy.answers(fmt.Sprintf("W%03d", n))
		}
		return wrote == 200, fmt.Sprint(wrote)
	})

	// Faults while answers are on their way.
	broken := []*tenant{full, stuffed, away, stick}
	release := m.holds(broken...)
	for _, v := range broken {
		v.begin(false)
		s.Wait(patience, "the calls of "+v.name, func() (bool, string) { return m.count(v.name, "Ask") == 1, "" })
	}
	ballast := []string{fill(t, full.Vault), fill(t, stuffed.State)}
	if err := unix.Unmount(away.Vault, unix.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	if err := unix.Unmount(stick.Vault, 0); !errors.Is(err, unix.EBUSY) {
		t.Errorf("a plain unmount of a vault that is served: %v, want %v", err, unix.EBUSY)
	}
	release()
	beside := work(good, true)
	t.Logf("beside the broken ones, it takes %s; memory %s", beside, memoryOf(d.Cmd.Process.Pid))
	if beside > 2*alone+10*time.Second {
		t.Errorf("the others work for %s beside broken vaults, and %s alone", beside, alone)
	}
	says(since, "vault=away err=", "no space left")
	list := get("/")
	for _, v := range good {
		if text := rowOf(list, v.name); !strings.Contains(text, "served") || strings.Contains(text, "not served") {
			t.Errorf("the list says of %s: %s", v.name, text)
		}
	}
	if text := rowOf(list, "away"); !strings.Contains(text, "not served") || !strings.Contains(text, "gone") && !strings.Contains(text, "another folder") {
		t.Errorf("the list says of the vault that is away: %s", text)
	}
	for _, v := range []*tenant{full, stuffed} {
		v.Wait(patience, "the reason of "+v.name, func() (bool, string) { // while it tries again, there is none
			text, said := rowOf(get("/"), v.name), v.Must("status")
			return strings.Contains(text, "no space left") && strings.Contains(said, "no space left"), text + said
		})
	}
	if open := onDevice(t, d.Cmd.Process.Pid, away.Vault+".disk"); len(open) > 0 {
		t.Errorf("the disk that was unmounted is held by %q", open)
	}
	since = len(d.said())
	for _, path := range ballast {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	mountAway()
	says(since, "watching "+away.Vault+";")
	d.Signal(syscall.SIGHUP)
	done(broken)
	for _, v := range all {
		v.paid(m, 0)
	}

	// The daemon is killed at work, and one disk is taken away meanwhile.
	release = m.holds(all...)
	before = m.count("", "")
	for _, v := range all {
		v.begin(true)
	}
	s.Wait(patience, "calls under way", func() (bool, string) { return m.count("", "") >= before+8, "" })
	d.Kill()
	release()
	if err := unix.Unmount(stick.Vault, 0); err != nil {
		t.Fatal(err)
	}
	d = s.start()
	served := slices.DeleteFunc(slices.Clone(all), func(v *tenant) bool { return v == stick })
	done(served)
	get = s.front()
	if text := rowOf(get("/"), "stick"); !strings.Contains(text, "not served") {
		t.Errorf("the list says of the vault that is not mounted: %s", text)
	}
	if made, err := os.ReadDir(stick.Vault); err != nil || len(made) > 0 {
		t.Errorf("made in the empty folder: %v, %v", made, err)
	}
	mountStick()
	d.Signal(syscall.SIGHUP)
	done(all)
	for _, v := range all {
		v.paid(m, 1)
	}
	for _, v := range good {
		if v.answers("Tick") < 3 {
			t.Errorf("%s: the schedule fired %d times", v.name, v.answers("Tick"))
		}
	}
	t.Logf("in the end the daemon has %s", memoryOf(d.Cmd.Process.Pid))
}

// fill leaves no room on the file system of a folder, and returns the file that takes it.
func fill(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, ".ballast")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; size /= 2 {
		for err = nil; err == nil; _, err = f.Write(make([]byte, size)) {
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return path
}

// memoryOf returns the memory of a process and its children.
func memoryOf(pid int) string {
	var text []string
	procs, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range procs {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		own := filepath.Base(filepath.Dir(path)) == fmt.Sprint(pid)
		if !own && fields[1] != fmt.Sprint(pid) {
			continue
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(path), "status"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				if rest = strings.TrimSpace(rest); own {
					rest = "itself " + rest
				}
				text = append(text, rest)
			}
		}
	}
	slices.Sort(text)
	return strings.Join(text, ", ")
}

// onDevice lists what a process has open on the file system of a folder.
func onDevice(t *testing.T, pid int, dir string) (open []string) {
	t.Helper()
	var on, at unix.Stat_t
	if err := unix.Stat(dir, &on); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, path := range files {
		if unix.Stat(path, &at) == nil && at.Dev == on.Dev {
			name, _ := os.Readlink(path)
			open = append(open, name)
		}
	}
	return open
}
