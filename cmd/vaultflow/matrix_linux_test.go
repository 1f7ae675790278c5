//go:build linux && amd64

package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// matrixWorkflow has inputs (pending ones among them), tools that write, batches beside each other, a structured answer
// that has to be mended, an answer that is kept, variables, and writes in five modes.
const matrixWorkflow = `---
description: everything
enabled: true
budget: {max_cost_usd: 100}
---

## Gather
@input file: Inbox/*.md (pending)
@input file: Book.md (output=file: Out/Copy, write_mode=replace)
@tools append_file, write_file, edit_file, move_file
@output file: Out/Log
@write_mode append

Gather the inbox.

## Facts
@input file: Out/Log
@schema (retries=1)
` + "```yaml" + `
type: object
required: [tags]
properties:
  tags: {type: array, items: {type: string}}
` + "```" + `
@output file: Out/Facts.json (format=json)
@output variable: facts (scope=workflow, format=json)
@write_mode replace

List the facts.

## Pages
@for_each file: Pages/*.md (pending, parallel=2)
@input file: {item}
@output file: Out/Page
@write_mode new

What is on the page?

## Lines
@for_each file: Pages/*.md (parallel=2)
@input file: {item}
@output file: Out/Log
@write_mode append

Say one line.

## Tag
@cache forever
@input variable: facts
@output file: Book
@write_mode frontmatter

Give properties.

## Chapter
@input file: Book
@output file: Book
@write_mode section (heading=Today)

Write a chapter.
`

// matrixPages is how many items the workflow's batches have.
const matrixPages = 3

// matrixModel answers each question in one way only, and counts how often it was asked what.
type matrixModel struct {
	url string

	mu    sync.Mutex     // guards what follows
	asked map[string]int // how often, by question
	open  int            // connections
}

func newMatrixModel(t *testing.T) *matrixModel {
	t.Helper()
	m := &matrixModel{asked: map[string]int{}}
	wire := llmtest.OpenAI{Kind: "openai_compatible"}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the process that asked was killed
		}
		if _, err = wire.Read(r.Header, body); err != nil {
			t.Errorf("the model would refuse the request: %v", err)
			wire.Fail(w, http.StatusBadRequest, "bad", "no request")
			return
		}
		question, answer := matrixAnswer(body)
		m.mu.Lock()
		m.asked[question]++
		m.mu.Unlock()
		answer.Input, answer.Output = 20, 8
		wire.Answer(w, answer)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		m.mu.Lock()
		defer m.mu.Unlock()
		switch state {
		case http.StateNew:
			m.open++
		case http.StateClosed, http.StateHijacked:
			m.open--
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// quiet says whether nobody is connected: all that was asked by a process that is gone was counted.
func (m *matrixModel) quiet() (bool, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open == 0, fmt.Sprintf("%d connections", m.open)
}

func matrixAnswer(body []byte) (question string, a llmtest.Answer) {
	has := func(text string) bool { return bytes.Contains(body, []byte(text)) }
	page := ""
	if found := pageNumber.FindSubmatch(body); found != nil {
		page = string(found[1])
	}
	say := func(text string) llmtest.Answer { return llmtest.Answer{Deltas: []string{text[:1], text[1:]}} }
	switch {
	case has("Gather the inbox.") && !has(`"role":"tool"`):
		return "gather", llmtest.Answer{ToolCalls: []llmtest.ToolCall{
			{Name: "append_file", Input: `{"path":"Journal.md","content":"looked\n"}`},
			{Name: "write_file", Input: `{"path":"New/Made.md","content":"made\n"}`},
			{Name: "edit_file", Input: `{"path":"Counter.md","old_text":"n=0.","new_text":"n=1."}`},
			{Name: "move_file", Input: `{"from":"Move/Me.md","to":"Moved/"}`},
		}}
	case has("Gather the inbox."):
		return "gathered", say("Milk and eggs.")
	case has("List the facts.") && !has("sorry"):
		return "facts", say("sorry")
	case has("List the facts."):
		return "facts mended", say(`{"tags":["milk","eggs"]}`)
	case has("What is on the page?"):
		return "page " + page, say("Page " + page + " was read.")
	case has("Say one line."):
		return "line " + page, say("Line of page " + page + ".")
	case has("Give properties."):
		return "tag", say(`{"tags":["milk","eggs"],"rated":4}`)
	case has("Write a chapter."):
		return "chapter", say("The chapter of today.")
	}
	return "unknown", say("unknown")
}

// counts is a copy of what was asked.
func (m *matrixModel) counts() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.asked)
}

func total(asked map[string]int) int {
	n := 0
	for _, times := range asked {
		n += times
	}
	return n
}

// matrixSite is the vault of the matrix with a model of its own.
func matrixSite(t *testing.T) (*site, *matrixModel) {
	t.Helper()
	m := newMatrixModel(t)
	s := newSite(t, "", `models: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1, capabilities: [text, tools], price: {input: 1, output: 2}}}}
providers: {lab: {kind: openai_compatible, base_url: "`+m.url+`/v1", api_key_env: LAB_KEY}}
`)
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	s.write("Workflows/Everything.md", matrixWorkflow)
	for name, text := range map[string]string{
		"Inbox/A.md": "Buy milk.\n", "Inbox/B.md": "Buy eggs.\n", "Out/Log.md": "# Log\n", "Journal.md": "# Journal\n", "Counter.md": "n=0.\n",
		"Move/Me.md": "me\n", "Book.md": "---\nrated: 3\n---\n\nText.\n\n## Today\n\nOld.\n\n## Notes\nmine\n",
	} {
		s.write(name, text)
	}
	for i := range matrixPages {
		s.write(fmt.Sprintf("Pages/p%d.md", i+1), fmt.Sprintf("Page number %d.\n", i+1))
	}
	return s, m
}

// content is every file of the vault, hidden ones included, but for the settings, which name the model's port.
func (s *site) content() map[string]string {
	s.T.Helper()
	all := treeOf(s.T, s.Vault)
	delete(all, "settings.yaml")
	return all
}

// database opens the journal for a look that takes no part in it, also beside a process that is stopped.
func (s *site) database(busy time.Duration) (*sql.DB, error) {
	return sql.Open("sqlite", fmt.Sprintf("file:%s?mode=ro&_pragma=busy_timeout(%d)", filepath.Join(s.State, "state.db"), busy.Milliseconds()))
}

// ask asks the journal for one number.
func (s *site) ask(busy time.Duration, query string) (n int, err error) {
	db, err := s.database(busy)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.QueryRowContext(s.T.Context(), query).Scan(&n)
	return n, err
}

// figure asks the journal for one number; zero when there is no journal yet.
func (s *site) figure(query string) int {
	s.T.Helper()
	n, err := s.ask(5*time.Second, query)
	if err != nil {
		_, missing := os.Stat(filepath.Join(s.State, "state.db"))
		if missing != nil || strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "readonly database") { // killed while it was made
			return 0
		}
		s.T.Fatalf("%s: %v", query, err)
	}
	return n
}

// leavings is what runs leave in the journal for later ones: marks of pending files, shared variables, kept answers, own
// writes; one line each, without what names the run.
func (s *site) leavings() []string {
	s.T.Helper()
	db, err := s.database(5 * time.Second)
	if err != nil {
		s.T.Fatal(err)
	}
	defer db.Close()
	found, err := db.QueryContext(s.T.Context(), `SELECT 'pending ' || step || ' ' || directive || ' ' || name || ' ' || sha256 FROM pending
		UNION ALL SELECT 'variable ' || name || ' ' || digest FROM variables
		UNION ALL SELECT 'answer ' || step FROM answers
		UNION ALL SELECT 'wrote ' || name || ' ' || sha256 FROM own_writes ORDER BY 1`)
	if err != nil {
		s.T.Fatal(err)
	}
	defer found.Close()
	var lines []string
	for found.Next() {
		var line string
		if err := found.Scan(&line); err != nil {
			s.T.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := found.Err(); err != nil {
		s.T.Fatal(err)
	}
	return lines
}

// comesBack lets serve finish what a killed process has left.
func (s *site) comesBack() {
	s.T.Helper()
	d := s.start("--no-web")
	s.Wait(patience, "the run to be resumed", func() (bool, string) {
		select {
		case <-d.Done:
			s.T.Fatalf("serve ended by itself: %v", d.Cmd.ProcessState)
		default:
		}
		return s.figure(`SELECT count(*) FROM runs WHERE finished = 0`) == 0, "unfinished runs"
	})
	d.stop()
}

// undisturbed is what the vault, the journal and the model have seen when nothing happens.
type undisturbed struct {
	vault    map[string]string
	leavings []string
	asked    map[string]int
	calls    []fileCall // that the run made, in order
	appends  []int      // the numbers of the calls that came first after an append to the journal
}

// runAlone runs the workflow without a kill, asking about each call.
func runAlone(t *testing.T) undisturbed {
	t.Helper()
	s, m := matrixSite(t)
	var u undisturbed
	recorded, synced := 0, false
	run := supervise(t, s.Command("run", "Everything"), func(c fileCall) syscall.Errno {
		if c.below(s.Vault) || c.below(s.State) {
			u.calls = append(u.calls, c)
			if synced { // A journal that is being made may be locked; the process that holds the lock waits for this answer.
				if n, err := s.ask(0, `SELECT count(*) FROM records`); err == nil && n > recorded {
					recorded = n
					u.appends = append(u.appends, len(u.calls))
				}
			}
			synced = strings.HasSuffix(c.name, "sync") && strings.HasSuffix(c.path, "/state.db-wal")
		}
		return 0
	})
	if state := run.wait(t); !state.Success() {
		t.Fatalf("the run that nobody disturbs: %v\n%s", state, s.Must("runs", "--json"))
	}
	u.vault, u.leavings, u.asked = s.content(), s.leavings(), m.counts()
	for question, times := range u.asked {
		if times != 1 || question == "unknown" {
			t.Fatalf("the run that nobody disturbs asked %q %d times", question, times)
		}
	}
	return u
}

// answers counts the answers of models that a process has put on the disk, by the calls that it made.
type answers struct {
	kept     int             // for certain
	writing  map[string]bool // places that were about to be written when the process was last seen there
	received string          // folder of all places
}

func (a *answers) saw(c fileCall) {
	if !c.below(a.received) {
		return
	}
	switch c.name {
	case "pwrite64":
		a.writing[c.path] = true
	case "fsync":
		a.kept++
		delete(a.writing, c.path)
	}
}

// killer lets a process make so many calls that change files of the site, and is killed in place of the next.
type killer struct {
	s     *site
	after int
	made  int
	at    fileCall // the call that was not made
	heard *answers
}

func (k *killer) judge(next fileCall) syscall.Errno {
	if !next.below(k.s.Vault) && !next.below(k.s.State) {
		return 0
	}
	k.made++
	if k.made <= k.after {
		k.heard.saw(next)
		return 0
	}
	if k.made == k.after+1 {
		k.at = next
	}
	if next.name == "fsync" { // what is synced was written before
		k.heard.saw(next)
	}
	return killed
}

// killAt runs the workflow, kills it in place of the call with a number, and lets serve finish it; of every third one the serve that
// resumes it is killed, too, some calls later. It gives the call, and how many answers had to be asked for again; ok is false
// when the run made fewer calls.
func (u undisturbed) killAt(t *testing.T, at int) (c fileCall, again int, ok bool) {
	t.Helper()
	s, m := matrixSite(t)
	heard := &answers{writing: map[string]bool{}, received: filepath.Join(s.State, "received")}
	k := &killer{s: s, after: at - 1, heard: heard}
	if state := supervise(t, s.Command("run", "Everything"), k.judge).wait(t); k.made < at {
		if !state.Success() {
			t.Errorf("a run that was not killed: %v", state)
		}
		return c, 0, false
	}
	when := fmt.Sprintf("killed at call %d, %s", at, u.label(s, k.at))
	begun := s.figure(`SELECT count(*) FROM runs`)
	if at%3 == 0 && begun > 0 {
		second := &killer{s: s, after: at % 211, heard: heard}
		s.resumes(second.judge)
		when += fmt.Sprintf(", and again at %s", u.label(s, second.at))
	}
	s.Wait(patience, "the killed process's connections to end", m.quiet)
	lost := total(m.counts()) - heard.kept
	s.comesBack()
	if begun == 0 { // the kill came before the run was accepted
		s.Must("run", "Everything")
	}
	again = u.compare(t, when, s, m)
	if again > lost || again < lost-len(heard.writing) {
		t.Errorf("%s: %d questions were asked again; %d answers had arrived and were not on the disk (%d of them may have been): %v",
			when, again, lost, len(heard.writing), m.counts())
	}
	return u.label(s, k.at), again, true
}

// label is a call without what differs from site to site.
func (undisturbed) label(s *site, c fileCall) fileCall {
	c.path = strings.NewReplacer(s.Vault, "vault", s.State, "state").Replace(c.path)
	if dir := path.Dir(c.path); strings.HasPrefix(dir, "state/blobs") || strings.HasPrefix(dir, "state/received") {
		c.path = dir[:strings.LastIndexByte(dir, '/')+1] + "…"
	}
	return c
}

// resumes lets a serve that is judged work until it is killed, or has finished.
func (s *site) resumes(judge func(fileCall) syscall.Errno) {
	s.T.Helper()
	d := s.superviseServe(judge, "--no-web")
	s.Wait(patience, "the run to be resumed", func() (bool, string) {
		select {
		case <-d.Done:
			return true, ""
		default:
		}
		return s.figure(`SELECT count(*) FROM runs WHERE finished = 0`) == 0, d.said()
	})
	d.Kill()
}

// compare holds a vault and its journal to the undisturbed ones, and gives how many questions the model was asked again.
func (u undisturbed) compare(t *testing.T, when string, s *site, m *matrixModel) (again int) {
	t.Helper()
	if n := s.figure(`SELECT count(*) FROM runs WHERE status <> 'done'`); n != 0 {
		t.Errorf("%s: %s", when, s.Must("runs", "--json"))
	}
	if diff := cmp.Diff(u.vault, s.content()); diff != "" {
		t.Errorf("%s: vault (-undisturbed +resumed):\n%s", when, diff)
	}
	if diff := cmp.Diff(u.leavings, s.leavings()); diff != "" {
		t.Errorf("%s: left in the journal (-undisturbed +resumed):\n%s", when, diff)
	}
	for question, times := range m.counts() {
		if u.asked[question] != 1 || times > 3 {
			t.Errorf("%s: %q was asked %d times", when, question, times)
		}
		again += times - 1
	}
	if missing := len(u.asked) - len(m.counts()); missing != 0 {
		t.Errorf("%s: %d questions were never asked", when, missing)
	}
	return again
}

// TestMatrix kills the shipped binary in place of system calls that change files of the vault or the state, and in particular after
// each append to the journal. After the restart vault, journal and bill are those of a run that nobody disturbed. In the long tier it is
// every call.
func TestMatrix(t *testing.T) {
	t.Parallel()
	u := runAlone(t)
	t.Logf("%d calls, %d appends to the journal, %d questions", len(u.calls), len(u.appends), total(u.asked))
	places := u.places()
	const shards = 2
	for shard := range shards {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			again, where := map[int]int{}, map[string]bool{}
			for i := shard; i < len(places) && !t.Failed(); i += shards {
				c, n, killed := u.killAt(t, places[i])
				if !killed { // batches beside each other: one run makes a few calls more than another
					continue
				}
				if again[n]++; n > 0 {
					where[c.String()] = true
				}
				if i%100 == shard {
					t.Logf("place %d of %d; questions asked again so far: %v, when killed at %q", i+1, len(places), again, slices.Sorted(maps.Keys(where)))
				}
			}
			t.Logf("questions asked again: %v, when killed at %q", again, slices.Sorted(maps.Keys(where)))
		})
	}
}

// places are the numbers of the calls at which to kill: all of them in the long tier, in an order that looks everywhere from the beginning;
// else those behind every eighth append to the journal, and some between.
func (u undisturbed) places() []int {
	var places []int
	for at := range len(u.calls) {
		if long() || slices.Index(u.appends, at+1)%8 == 0 || at%499 == 498 {
			places = append(places, at+1)
		}
	}
	if long() {
		shuffled := rand.New(rand.NewPCG(1, 2))
		shuffled.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	}
	return places
}
