package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// till is a model that takes a dollar for each request, and counts them by the notes that it was asked about.
type till struct {
	url string

	mu    sync.Mutex // guards what follows
	paid  map[string]int
	shown map[string]int // pictures in the last request about it
	hold  string         // requests about this get no answer
	held  chan struct{}  // closed when the first one waits
}

var subject = regexp.MustCompile(`A note about (\w+)\.`)

func newTill(t *testing.T) *till {
	m := &till{paid: map[string]int{}, shown: map[string]int{}, held: make(chan struct{})}
	wire := llmtest.OpenAI{Kind: "openai_compatible"}
	server := httptest.NewServer(llmtest.Whole(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, err = wire.Read(r.Header, body)
		}
		about := subject.FindSubmatch(body)
		if err != nil || about == nil {
			t.Errorf("a request about nothing: %v\n%s", err, body)
			wire.Fail(w, http.StatusBadRequest, "bad", "bad")
			return
		}
		if m.take(string(about[1]), strings.Count(string(body), `"image_url"`)/2) {
			<-r.Context().Done()
			return
		}
		wire.Answer(w, llmtest.Answer{Deltas: []string{"Seen ", string(about[1]), "."}, Input: 20, Output: 10})
	}))
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// take counts a request. It reports whether it gets no answer.
func (m *till) take(about string, pictures int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paid[about]++
	m.shown[about] = pictures
	if m.hold != about {
		return false
	}
	m.hold = ""
	close(m.held)
	return true
}

func (m *till) of(about string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.paid[about]
}

func (m *till) total() (sum int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range m.paid {
		sum += n
	}
	return sum
}

// models are the settings with which it is asked.
func (m *till) models() string {
	return "models: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1, capabilities: {vision: true}, max_output_tokens: 10, price: {input: 0, output: 100000}}}}\n" +
		"providers: {lab: {kind: openai_compatible, base_url: \"" + m.url + "/v1\", api_key_env: LAB_KEY, max_concurrency: 40}}\n"
}

// estate is a vault with a past: a paid run, a run that can be undone, an import and a slot. Its state is where vaultflow finds it.
type estate struct {
	*site
	till   *till
	base   string // the home
	serve  *sitetest.Serving
	past   []engine.RunRecord
	made   string // the run that made Made/One.md
	killed bool   // serve was killed while it asked about bread
}

const capUSD = 4 // of a month, with a little more than that for fractions

func newEstate(t *testing.T) *estate {
	e := &estate{site: newSite(t, "", ""), till: newTill(t)}
	e.base = filepath.Dir(e.Vault)
	e.must(os.RemoveAll(e.State))
	e.Env = slices.DeleteFunc(e.Env, func(v string) bool { return strings.HasPrefix(v, "VAULTFLOW_STATE_DIR=") })
	e.Env = append(e.Env, "LAB_KEY="+llmtest.Key)
	e.must(os.WriteFile(e.Path("settings.yaml"), []byte(sitetest.Quick+
		e.till.models()+
		fmt.Sprintf("policy: {budget: {max_cost_usd_per_month: %g}}\n", capUSD+0.5)), 0o644))
	e.put("Workflows/Ask.md", note("description: asks", "@input file: Inbox/* (pending, required)\n@output file: Out/Answers\n@write_mode append", "What is it about?"))
	e.put("Workflows/Make.md", note("description: makes", "@model none\n@input file: Inbox/milk\n@output file: Made/One", ""))
	e.put("Inbox/milk.md", "A note about milk.\n")
	e.Must("trust", "--own")
	e.Must("run", "Ask")
	e.start()
	at := time.Now().Add(12 * time.Second).UTC().Truncate(time.Second)
	e.put("Workflows/Soon.md", note(`schedule: "once: `+at.Format(time.RFC3339)+`"`, "@model none\n@input file: Inbox/milk\n@output file: Out/Soon\n@write_mode append", ""))
	e.Must("run", "Make")
	e.put("Import/Plain.txt", "Just a text, which is no more than that.\n")
	e.Wait(patience, "the import", func() (bool, string) {
		all := e.Imports()
		return len(all) == 1 && all[0].State == engine.ImportDone, describe(all)
	})
	e.ran("Soon", 1)
	e.stop()
	e.past = rows[engine.RunRecord](e.site, "runs", "-n", "100")
	e.made = e.Runs("Make")[0].ID
	return e
}

func (e *estate) must(err error) {
	e.T.Helper()
	if err != nil {
		e.T.Fatal(err)
	}
}

// put writes a file of the vault.
func (e *estate) put(name, text string) {
	e.T.Helper()
	temp := filepath.Join(filepath.Dir(e.Vault), ".arriving")
	e.must(os.MkdirAll(filepath.Dir(e.Path(name)), 0o755))
	e.must(os.WriteFile(temp, []byte(text), 0o644))
	e.must(os.Rename(temp, e.Path(name)))
}

func (e *estate) start() { e.serve = e.Serve() }

// stop ends serve as a service manager does.
func (e *estate) stop() {
	e.T.Helper()
	if e.serve == nil {
		return
	}
	e.serve.Signal(syscall.SIGTERM)
	select {
	case <-e.serve.Done:
	case <-time.After(30 * time.Second):
		e.T.Fatal("serve did not end")
	}
	e.serve = nil
}

// says waits for words in the log of serve.
func (e *estate) says(words string) {
	e.T.Helper()
	e.Wait(patience, "serve to say "+words, func() (bool, string) {
		said, err := os.ReadFile(e.serve.Log.Name())
		return err == nil && strings.Contains(string(said), words), string(said)
	})
}

// at goes to another place of the vault.
func (e *estate) at(place string) {
	e.Vault = place
	e.Env = append(e.Env, "VAULTFLOW_VAULT="+place)
}

// shell does what a person does.
func (e *estate) shell(script string, args ...string) {
	e.T.Helper()
	cmd := exec.CommandContext(e.T.Context(), "sh", append([]string{"-euc", script, "sh"}, args...)...)
	cmd.Env = e.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		e.T.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// states lists the state directories of this home.
func (e *estate) states() []string {
	e.T.Helper()
	all, err := filepath.Glob(filepath.Join(e.base, "xdg", "vaultflow", "*", "state.db"))
	e.must(err)
	for i := range all {
		all[i] = filepath.Dir(all[i])
	}
	return all
}

// killWhileItAsks starts a run of which the answer never comes, and kills serve then.
func (e *estate) killWhileItAsks() {
	e.T.Helper()
	e.till.mu.Lock()
	e.till.hold = "bread"
	e.till.mu.Unlock()
	e.put("Inbox/bread.md", "A note about bread.\n")
	cmd := e.Command("run", "Ask")
	e.must(cmd.Start())
	select {
	case <-e.till.held:
	case <-time.After(patience):
		e.T.Fatal("the model was not asked")
	}
	e.serve.Kill()
	e.serve, e.killed = nil, true
	_ = cmd.Process.Kill() // it may have ended
	_ = cmd.Wait()         // killed
}

// fails runs a command that must end with an exit code, and say words.
func (e *estate) fails(code int, words string, args ...string) {
	e.T.Helper()
	out, errs, got := e.CLI(args...)
	if got != code || !strings.Contains(out+errs, words) {
		e.T.Fatalf("vaultflow %s: exit code %d, want %d and %q\n%s%s", strings.Join(args, " "), got, code, words, out, errs)
	}
}

// asksForTrust checks that nothing is sent from a vault at another place until somebody trusts it.
func (e *estate) asksForTrust() {
	e.T.Helper()
	before := e.till.total()
	e.put("Inbox/cake.md", "A note about cake.\n")
	if out, errs, code := e.CLI("run", "Ask"); code == exitDone {
		e.T.Errorf("an untrusted vault ran: %s%s", out, errs)
	}
	if n := e.till.total() - before; n > 0 {
		e.T.Fatalf("an untrusted vault paid %d times", n)
	}
	e.must(os.Remove(e.Path("Inbox/cake.md")))
	e.Must("trust", "--own")
}

// intact checks that the vault has all of its past, at the place where it is now.
func (e *estate) intact() {
	e.T.Helper()
	now := rows[engine.RunRecord](e.site, "runs", "-n", "100")
	for _, r := range e.past {
		if !slices.ContainsFunc(now, func(n engine.RunRecord) bool { return n.ID == r.ID && n.Status == r.Status }) {
			e.T.Errorf("history: run %s of %s is lost", r.ID, r.Workflow)
		}
	}
	e.start()
	if e.killed {
		e.Wait(patience, "the run that was killed", func() (bool, string) {
			r := e.Runs("Ask")[0]
			return r.Status == engine.Done, fmt.Sprintf("%+v", r)
		})
		if n, answers := e.till.of("bread"), e.Read("Out/Answers.md"); n != 2 || strings.Count(answers, "Seen bread.") != 1 {
			e.T.Errorf("paid %d times for bread, want 2: %q", n, answers)
		}
	}
	paid := e.till.total()
	e.Must("run", "Ask")
	e.stop()
	if n := e.till.total() - paid; n > 0 {
		e.T.Errorf("pending marks: paid again, %d times", n)
	}
	if o := rows[engine.Overview](e.site, "status")[0]; o.Month.Spending.Cost.USD < float64(paid) || o.Lost != "" {
		e.T.Errorf("costs: $%g of $%d are known; lost: %q", o.Month.Spending.Cost.USD, paid, o.Lost)
	}
	ran := 0
	for _, slot := range rows[engine.SlotRecord](e.site, "slots") {
		if slot.Workflow == "Soon" && slot.State == engine.SlotRan {
			ran++
		}
	}
	if ran != 1 || len(e.Runs("Soon")) != 1 || len(e.Imports()) != 1 {
		e.T.Errorf("%d slots, %d runs of Soon, %d imports, want one of each", ran, len(e.Runs("Soon")), len(e.Imports()))
	}
	e.Must("undo", e.made, "--yes")
	if left := e.Files("Made", ".md"); len(left) > 0 {
		e.T.Errorf("undo has left %v", left)
	}
	for _, about := range []string{"tea", "wine", "salt", "rice"} {
		e.put("Inbox/"+about+".md", "A note about "+about+".\n")
		if _, _, code := e.CLI("run", "Ask"); code != exitDone {
			break
		}
	}
	if n := e.till.total(); n != capUSD {
		e.T.Errorf("the month's cap let $%d be paid, want $%d", n, capUSD)
	}
}

// fate is what can happen to a vault or its state.
type fate struct {
	name string
	do   func(e *estate) // what happens; it ends at the place where the vault goes on
	gone bool            // serve notices that vault or state are gone
	lost bool            // the state alone is gone, so that the serve that had it must be stopped
	says string          // what `run` says then, with exit code 5; "" if it works on
	mend func(e *estate) // what a person does about it
	asks bool            // the vault is not trusted then
}

// disk is another file system if the test may mount one, and else a folder.
func (e *estate) disk() string {
	e.T.Helper()
	dir := filepath.Join(e.base, "disk")
	e.must(os.Mkdir(dir, 0o755))
	if err := mountSmall(dir, 64<<20); err == nil {
		e.T.Cleanup(func() { _ = unmount(dir) }) // the folder is the test's
	}
	return dir
}

// another makes another vault with a run of its own, and returns its folder and its state directory.
func (e *estate) another() (vault, state string) {
	e.T.Helper()
	vault = filepath.Join(e.base, "other")
	before := e.states()
	e.shell(`"$1" init "$2"; "$1" run Welcome --vault "$2"`, sitetest.Binary(e.T), vault)
	for _, dir := range e.states() {
		if !slices.Contains(before, dir) {
			return vault, dir
		}
	}
	e.T.Fatal("the other vault has no state")
	return "", ""
}

var fates = []fate{
	{"renamed", func(e *estate) {
		e.shell(`mv "$1" "$1 renamed"`, e.Vault)
		e.at(e.Vault + " renamed")
	}, true, false, "`vaultflow move --vault '", func(e *estate) { e.Must("move") }, false},
	{"moved within the disk", func(e *estate) {
		e.shell(`mkdir "$2"; mv "$1" "$2"`, e.Vault, filepath.Join(e.base, "elsewhere"))
		e.at(filepath.Join(e.base, "elsewhere", "vault"))
	}, true, false, "`vaultflow move --vault ", func(e *estate) { e.Must("move") }, false},
	{"renamed without its id", func(e *estate) {
		e.shell(`rm -r "$1/.vaultflow"; mv "$1" "$1-2"`, e.Vault)
		e.at(e.Vault + "-2")
	}, true, false, "`vaultflow move --vault ", func(e *estate) { e.Must("move") }, false},
	{"moved to another file system", func(e *estate) {
		disk := e.disk()
		e.shell(`cp -a "$1" "$2"; rm -r "$1"`, e.Vault, disk)
		e.at(filepath.Join(disk, "vault"))
	}, true, false, "`vaultflow move --vault ", func(e *estate) { e.Must("move") }, true},
	{"copied beside the original", func(e *estate) {
		original, twin := e.Vault, e.Vault+" copy"
		e.shell(`cp -a "$1" "$2"`, original, twin)
		e.at(twin)
		for _, args := range [][]string{{"run", "Ask"}, {"undo", e.made, "--yes"}, {"move"}, {"runs"}} {
			e.fails(exitRefused, "`vaultflow move --new --vault '"+twin, args...)
		}
		e.fails(exitRefused, "a copy of "+original, "serve", "--no-web")
		e.Must("move", "--new")
		e.asksForTrust()
		if list := e.Must("runs"); strings.Contains(list, "Make") {
			e.T.Errorf("the copy has the history of the original: %s", list)
		}
		e.fails(exitUsage, "no run", "undo", e.made, "--yes")
		if len(e.Files("Made", ".md")) != 1 {
			e.T.Error("undo in the copy has removed a file")
		}
		e.at(original)
		if len(e.Files("Made", ".md")) != 1 {
			e.T.Error("undo in the copy has removed the original's file")
		}
	}, false, false, "", nil, false},
	{"brought to another computer", func(e *estate) {
		e.Must("backup", filepath.Join(e.base, "b"))
		away := filepath.Join(e.base, "away")
		e.shell(`mkdir -p "$2"; cp -a "$1" "$2"; rm -r "$1"`, e.Vault, away)
		e.Env = append(e.Env, "HOME="+away, "XDG_STATE_HOME="+filepath.Join(away, "xdg"), "XDG_CONFIG_HOME="+filepath.Join(away, "config"))
		e.at(filepath.Join(away, "vault"))
	}, true, false, "not trusted", func(e *estate) {
		if out := e.Must("status"); !strings.Contains(out, "runs, undo, costs and pending marks") || !strings.Contains(out, "`vaultflow restore FILE`") {
			e.T.Errorf("status does not say what is lost: %s", out)
		}
		e.Must("restore", filepath.Join(e.base, "b"))
	}, true},
	{"deleted and brought back", func(e *estate) {
		e.shell(`cp -a "$1" "$1.kept"; rm -r "$1"; cp -a "$1.kept" "$1.back"; mv "$1.back" "$1"`, e.Vault)
	}, true, false, "not trusted", func(*estate) {}, true},
	{"its state deleted", func(e *estate) {
		e.Must("backup", filepath.Join(e.base, "b"))
		e.must(os.RemoveAll(e.states()[0]))
	}, true, true, "not trusted", func(e *estate) { e.Must("restore", filepath.Join(e.base, "b")) }, false},
	{"its state moved to a name of its own", func(e *estate) {
		dir := e.states()[0]
		e.must(os.Rename(dir, filepath.Join(filepath.Dir(dir), "mine")))
	}, true, false, "", func(*estate) {}, false},
	{"deleted with its state, and both brought back", func(e *estate) {
		e.Must("backup", filepath.Join(e.base, "b"))
		e.shell(`cp -a "$1" "$1.kept"; rm -r "$1" "$2"; mv "$1.kept" "$1"`, e.Vault, e.states()[0])
	}, true, true, "not trusted", func(e *estate) { e.Must("restore", filepath.Join(e.base, "b")) }, true},
	{"its state on another file system", func(e *estate) {
		disk := e.disk()
		e.shell(`mv "$1" "$2"`, e.states()[0], filepath.Join(disk, "state"))
		e.Env = append(e.Env, "VAULTFLOW_STATE_DIR="+filepath.Join(disk, "state"))
	}, true, false, "", func(*estate) {}, false},
	{"its state copied beside it", func(e *estate) { e.shell(`cp -a "$1" "$1-kept"`, e.states()[0]) }, false, false, "", nil, false},
	{"the state of another vault in place", func(e *estate) {
		mine := e.states()[0]
		_, other := e.another()
		e.must(os.Rename(mine, filepath.Join(e.base, "kept")))
		e.must(os.Rename(other, mine))
	}, true, true, "not trusted", func(e *estate) {
		mine := e.states()[0]
		if list := e.Must("runs"); strings.Contains(list, "Welcome") {
			e.T.Errorf("the history of another vault: %s", list)
		}
		e.must(os.Rename(mine, filepath.Join(e.base, "others")))
		e.must(os.Rename(filepath.Join(e.base, "kept"), mine))
	}, false},
	{"its state and another vault's in each other's place", func(e *estate) {
		mine := e.states()[0]
		_, other := e.another()
		e.shell(`mv "$1" "$3"; mv "$2" "$1"; mv "$3" "$2"`, mine, other, filepath.Join(e.base, "kept"))
	}, true, false, "", func(*estate) {}, false},
	{"another vault's state directory named", func(e *estate) {
		_, other := e.another()
		for _, args := range [][]string{{"run", "Ask"}, {"undo", e.made, "--yes"}, {"move"}, {"runs"}, {"serve", "--no-web"}, {"backup", "x"}} {
			e.fails(exitRefused, "belongs to another vault, "+filepath.Join(e.base, "other"), append(args, "--state-dir", other)...)
		}
	}, false, false, "", nil, false},
	{"its id deleted", func(e *estate) { e.must(os.RemoveAll(e.Path(".vaultflow"))) }, false, false, "", nil, false},
	{"its id damaged", func(e *estate) { e.must(os.WriteFile(e.Path(".vaultflow/vault.json"), []byte(`{"id": "x`), 0o644)) }, false, false, "", nil, false},
	{"its id edited", func(e *estate) {
		e.shell(`sed -i 's/"id": "[0-9a-f]*"/"id": "0123456789abcdef0123456789abcdef"/' "$1/.vaultflow/vault.json"`, e.Vault)
	}, false, false, "", nil, false},
	{"its id that of another vault", func(e *estate) {
		other, _ := e.another()
		e.shell(`cp "$2/.vaultflow/vault.json" "$1/.vaultflow/vault.json"`, e.Vault, other)
	}, false, false, "", func(e *estate) {
		if out := e.Must("runs", "--vault", filepath.Join(e.base, "other")); strings.Contains(out, "Make") || !strings.Contains(out, "Welcome") {
			e.T.Errorf("the other vault has the history %s", out)
		}
	}, false},
	{"its id edited, and moved", func(e *estate) {
		e.shell(`sed -i 's/"id": "[0-9a-f]*"/"id": "0123456789abcdef0123456789abcdef"/' "$1/.vaultflow/vault.json"; mv "$1" "$1-2"`, e.Vault)
		e.at(e.Vault + "-2")
	}, true, false, "`vaultflow move --vault ", func(e *estate) { e.Must("move") }, false},
}

// TestMoves plays each fate of a vault and its state, with serve stopped, running, and killed in the middle of a request. A vault keeps its
// history, undo, pending marks, costs, imports and slots wherever it goes, never its trust to another folder; and no other vault has them.
func TestMoves(t *testing.T) {
	t.Parallel()
	if !sitetest.Long() {
		t.Skip("takes minutes: VAULTFLOW_LONG=1; vault_moves.txtar and the tests of settings/vaultid have the rules")
	}
	for _, f := range fates {
		for _, mode := range []string{"stopped", "running", "killed"} {
			t.Run(strings.ReplaceAll(f.name+", serve "+mode, " ", "_"), func(t *testing.T) {
				t.Parallel()
				f.play(newEstate(t), mode)
			})
		}
	}
}

func (f fate) play(e *estate, mode string) {
	if mode != "stopped" {
		e.start()
	}
	if mode == "killed" {
		e.killWhileItAsks()
	}
	f.do(e)
	if mode == "running" && f.gone {
		e.says("stopped until it is back")
	}
	switch {
	case f.lost && mode == "running":
		e.fails(exitFailed, "hint: stop it", "run", "Ask")
	case f.says != "":
		e.fails(exitRefused, f.says, "run", "Ask")
	}
	e.stop()
	if f.mend != nil {
		f.mend(e)
	}
	if f.asks {
		e.asksForTrust()
	}
	e.intact()
}

// fifty are the runs that work while backups are made: each asks twice, the second time about a picture, and half of them wait for approval.
const fifty = 50

// TestBackup_ofFiftyRuns makes backups while fifty runs work, and restores each where nothing is, with the vault as it was then. What was
// written before a backup began is in it, and is not paid for again; the rest goes on to its end, once.
func TestBackup_ofFiftyRuns(t *testing.T) {
	t.Parallel()
	if !sitetest.Long() {
		t.Skip("takes minutes: VAULTFLOW_LONG=1; TestBackup_whileServeWorks is the small one")
	}
	m := newTill(t)
	s := newSite(t, "", m.models()+"engine: {max_parallel_runs: 8}\n")
	e := &estate{site: s, till: m, base: filepath.Dir(s.Vault)}
	e.Env = append(e.Env, "LAB_KEY="+llmtest.Key)
	e.Write("Pics/p.png", onePixel(t))
	var subjects []string
	for i := range fifty {
		w := fmt.Sprintf("w%02d", i)
		approve := ""
		if i%2 == 1 {
			approve = "@approve outputs\n"
		}
		for _, part := range []string{"a", "b"} {
			subjects = append(subjects, w+part)
			e.put("Notes/"+w+part+".md", "A note about "+w+part+".\n\n![[Pics/p.png]]\n")
		}
		e.put("Workflows/"+w+".md", "---\nwatch: Go/*.md\nenabled: true\n---\n\n## First\n@input file: Notes/"+w+"a\n@output file: Out/"+w+"a\n@write_mode replace\n\nWhat?\n\n"+
			"## Second\n"+approve+"@input file: Notes/"+w+"b\n@output file: Out/"+w+"b\n@write_mode replace\n\nWhat?\n")
	}
	e.start()
	e.put("Go/now.md", "Go.\n")
	written := func() (all []string) { // their answers are recorded
		for _, about := range subjects {
			if e.Read("Out/"+about+".md") != "" {
				all = append(all, about)
			}
		}
		return all
	}
	var backups [][]string
	place := func(n int, name string) string { return filepath.Join(e.base, fmt.Sprint("b", n), name) }
	for wanted := 1; wanted < 3*fifty/2; wanted += 12 {
		var now []string
		e.Wait(2*patience, fmt.Sprint(wanted, " outputs"), func() (bool, string) {
			now = written()
			return len(now) >= wanted, fmt.Sprint(now)
		})
		n := len(backups)
		backups = append(backups, now)
		e.must(os.Mkdir(place(n, ""), 0o755))
		e.Must("backup", place(n, "backup"))
		e.shell(`cp -a "$1" "$2" || true`, e.Vault, place(n, "vault")) // files appear and vanish meanwhile
	}
	e.ends(fifty)
	if paid := m.total(); paid != 2*fifty {
		t.Errorf("paid %d times, want %d", paid, 2*fifty)
	}
	e.stop()
	for _, about := range subjects {
		if m.shown[about] != 1 {
			t.Errorf("%d pictures were sent with %s", m.shown[about], about)
		}
	}
	e.must(os.Rename(e.Vault, e.Vault+".end"))
	for n, before := range backups {
		e.shell(`mv "$1" "$2"`, place(n, "vault"), e.Vault)
		e.State = place(n, "state")
		e.Env = append(e.Env, "VAULTFLOW_STATE_DIR="+e.State)
		e.Must("restore", place(n, "backup"))
		e.Must("trust", "--own")
		e.restored(before)
		e.must(os.Rename(e.Vault, place(n, "played")))
	}
}

// ends waits until so many runs are done or wait for approval, approves them, and waits until all are done.
func (e *estate) ends(want int) {
	e.T.Helper()
	each := func() (all []engine.RunRecord, open int) {
		all = rows[engine.RunRecord](e.site, "runs", "-n", "200")
		for _, r := range all {
			if !r.Status.Finished() && r.Status != engine.AwaitingApproval {
				open++
			}
		}
		return all, open
	}
	var all []engine.RunRecord
	e.Wait(3*patience, fmt.Sprint(want, " runs"), func() (bool, string) {
		var open int
		all, open = each()
		return open == 0 && len(all) >= want, fmt.Sprintf("%d of %d are at work", open, len(all))
	})
	for _, r := range all {
		if r.Status == engine.AwaitingApproval {
			e.Must("approvals", r.ID)
			e.Must("approve", r.ID)
		}
	}
	e.Wait(3*patience, "the approved ones", func() (bool, string) {
		for _, r := range rows[engine.RunRecord](e.site, "runs", "-n", "200") {
			if r.Status != engine.Done {
				return false, fmt.Sprintf("%+v", r)
			}
		}
		return true, ""
	})
}

// restored checks what a backup has brought back, and lets it come to its end. before are the answers that were written when it began.
func (e *estate) restored(before []string) {
	e.T.Helper()
	past := rows[engine.RunRecord](e.site, "runs", "-n", "200")
	for _, r := range past {
		if out, errs, code := e.CLI("show", r.ID, "--receipt", "--events"); code != exitDone {
			e.T.Errorf("show %s: exit code %d\n%s%s", r.ID, code, out, errs)
		}
		if r.Status != engine.Done {
			continue
		}
		for _, part := range []string{"a", "b"} {
			if about := r.Workflow + part; e.Read("Out/"+about+".md") != "Seen "+about+".\n" {
				e.T.Errorf("%s is done, and its output holds %q", r.Workflow, e.Read("Out/"+about+".md"))
			}
		}
	}
	paid := map[string]int{}
	e.till.mu.Lock()
	for about, n := range e.till.paid {
		paid[about] = n
	}
	e.till.mu.Unlock()
	e.start()
	e.ends(len(past))
	e.stop()
	again := 0
	for about, n := range paid {
		more := e.till.of(about) - n
		if more > 1 || more > 0 && slices.Contains(before, about) {
			e.T.Errorf("%s was paid %d times again", about, more)
		}
		again += more
	}
	for _, r := range past {
		for _, part := range []string{"a", "b"} {
			if about := r.Workflow + part; e.Read("Out/"+about+".md") != "Seen "+about+".\n" {
				e.T.Errorf("at the end of %s, its output holds %q", r.Workflow, e.Read("Out/"+about+".md"))
			}
		}
	}
	e.T.Logf("%d runs and %d answers are in the backup; %d were paid for after it", len(past), len(before), again)
}

func onePixel(t *testing.T) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 40))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
