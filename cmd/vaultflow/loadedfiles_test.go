//go:build unix

package main

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/settings"
)

// put writes a file of settings as an editor does, and allows nothing.
func (s *site) put(path, text string) {
	s.T.Helper()
	temp := filepath.Join(s.State, "edited")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.T.Fatal(err)
	}
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		s.T.Fatal(err)
	}
	if err := os.Rename(temp, path); err != nil {
		s.T.Fatal(err)
	}
}

// background is a command that others run beside.
type background struct {
	*exec.Cmd
	out bytes.Buffer
}

func (s *site) background(args ...string) *background {
	s.T.Helper()
	b := &background{Cmd: s.Command(args...)}
	b.Stdout, b.Stderr = &b.out, &b.out
	if err := b.Start(); err != nil {
		s.T.Fatal(err)
	}
	return b
}

// ended waits for the command, which has to succeed, and returns what it said.
func (b *background) ended(t *testing.T) string {
	t.Helper()
	if err := b.Wait(); err != nil {
		t.Errorf("%v: %v\n%s", b.Args[1:], err, b.out.String())
	}
	return b.out.String()
}

// What starts after settings have changed starts with them, also while serve works. A call that is under way then ends, is paid once, and
// its answer is kept; its run goes on with the new settings. Nothing is sent to the service that they left.
func TestServe_usesChangedSettings(t *testing.T) {
	t.Parallel()
	wire := llmtest.OpenAI{Kind: "openai_compatible"}
	var asked atomic.Int32
	answer := make(chan struct{})
	server := httptest.NewServer(llmtest.Whole(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-answer:
		case <-r.Context().Done():
			t.Error("a call was cut")
		}
		wire.Answer(w, llmtest.Answer{Deltas: []string{"Bought."}, Input: 20, Output: 8})
	}))
	t.Cleanup(server.Close)
	s := newSite(t, "", "models: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1}}}\n"+
		"providers: {lab: {kind: openai_compatible, base_url: \""+server.URL+"/v1\", api_key_env: LAB_KEY}}\n")
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	s.write("Workflows/Slow.md", "## Buy\n@output file: Bought\n\nSay something.\n\n## Then\n@output file: Then\n\nSay more.\n")
	s.write("Workflows/Next.md", "## Ask\n@output file: Next\n\nSay something.\n")
	d := s.serve()

	was := s.Read(settings.FileName)
	s.put(s.Path(settings.FileName), "# why\n"+was)
	s.put(s.Path(".env"), "UNUSED=x\n")
	if out := s.Must("status"); strings.Contains(out, "changed") {
		t.Errorf("after a comment: %s", out)
	}
	slow := s.background("run", "Slow")
	s.Wait(patience, "a call under way", func() (bool, string) { return asked.Load() == 1, "" })
	s.put(s.Path(settings.FileName), strings.Replace(was, "default: fake", "default: offline", 1))
	s.put(s.Path("Import/a.txt"), "Dropped.\n")
	next := s.background("run", "Next")
	const waits = "settings.yaml: changed; serve starts over once this has ended its present call: run "
	s.Wait(patience, "status to say what serve waits for", func() (bool, string) {
		out := s.Must("status")
		return strings.Contains(out, waits), out
	})
	s.background("cancel", "nothing").Wait() // orders are answered
	close(answer)
	slow.ended(t)
	if out := next.ended(t); strings.Count(out, waits) != 1 {
		t.Errorf("the next run does not say once that it waits:\n%s", out)
	}
	if got := s.Read("Bought.md"); got != "Bought.\n" || strings.Contains(s.Read("Then.md")+s.Read("Next.md"), "Bought") {
		t.Errorf("wrote %q, %q, %q", got, s.Read("Then.md"), s.Read("Next.md"))
	}
	for _, workflow := range []string{"Slow", "Next"} {
		s.ran(workflow, 1)
	}
	s.Wait(patience, "a dropped file to be imported", func() (bool, string) { return s.there("Imported/a/a.md"), "" })
	if n := asked.Load(); n != 1 {
		t.Errorf("the service was asked %d times, want once", n)
	}
	if n := strings.Count(d.said(), "watching "); n != 2 {
		t.Errorf("serve has started %d times, want twice", n)
	}
}

// Values that only one of two processes was given by its environment are named: a command does not show one thing while serve does
// another.
func TestServe_valuesOfOneProcess(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("Workflows/Hand.md", "## A\n@model none\n@output file: Out.md\n@write_mode replace\nsome text\n")
	env := s.Env
	s.Env = append(slices.Clone(env), "VAULTFLOW_ENGINE_MAX_PARALLEL_RUNS=3")
	s.serve()
	s.Must("run", "Hand")
	s.Env = env
	const serves = "the running serve was started with other values, which count for what it does: engine.max_parallel_runs (environment VAULTFLOW_ENGINE_MAX_PARALLEL_RUNS)"
	for _, command := range [][]string{{"run", "Hand"}, {"check"}, {"config"}, {"models"}, {"preview", "Hand"}} {
		if _, errs, code := s.CLI(command...); code != exitDone || strings.Count(errs, serves) != 1 {
			t.Errorf("%v: exit code %d, %s", command, code, errs)
		}
	}
	if out, _, _ := s.CLI("doctor"); !strings.Contains(out, serves) {
		t.Errorf("doctor: %s", out)
	}
	s.Env = append(slices.Clone(env), "VAULTFLOW_ENGINE_TIMEZONE=Europe/Oslo", "VAULTFLOW_LOGGING_LEVEL=info")
	_, errs, code := s.CLI("run", "Hand")
	if code != exitInvalid || !strings.Contains(errs, "the running serve has other values for what this command was given: engine.timezone (environment VAULTFLOW_ENGINE_TIMEZONE)\n") {
		t.Errorf("a value that serve does not have: exit code %d, %s", code, errs)
	}
	s.ran("Hand", 2)
}

// Settings with faults leave a running serve with those it had. Its log, status, doctor, the dashboard and commands say so. SIGHUP only
// makes serve look.
func TestServe_outlivesFaultySettings(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("Workflows/Hand.md", "## A\n@model none\n@output file: Out.md\n@write_mode replace\nsome text\n")
	own := filepath.Join(filepath.Dir(s.Vault), "config", "vaultflow", settings.FileName) // while the vault's address waits for trust
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	s.put(own, "web: {listen: \"127.0.0.1:0\"}\n")
	d := s.serve()
	was := s.Read(settings.FileName)
	s.put(s.Path(settings.FileName), was+"x: [\n")
	d.Signal(syscall.SIGHUP)
	d.logged("the settings have faults; serve continues with the former ones")
	s.Must("trust", "--revoke")
	const says = "settings.yaml: changed, and serve continues with the former settings: "
	s.put(s.Path("Import/a.txt"), "Some text.\n")
	s.Wait(patience, "a dropped file to be imported", func() (bool, string) { return s.there("Imported/a/a.md"), "" })
	out, page := s.Must("status"), s.page("/")
	examined, _, _ := s.CLI("doctor")
	for name, text := range map[string]string{"status": out, "the dashboard": page, "doctor": examined} {
		if !strings.Contains(text, says) {
			t.Errorf("%s lacks %q:\n%s", name, says, text)
		}
	}
	if !strings.Contains(out, "running") || !strings.Contains(out, "not trusted") {
		t.Error(out)
	}
	if _, errs, code := s.CLI("run", "Hand"); code != exitInvalid || !strings.Contains(errs, "settings.yaml:") {
		t.Errorf("run: exit code %d, %s", code, errs)
	}
	s.put(s.Path(settings.FileName), was)
	s.Must("trust", "--own")
	if out := s.Must("status"); !strings.Contains(out, "running") || strings.Contains(out, "former settings") {
		t.Error(out)
	}
	if _, errs, code := s.CLI("run", "Hand"); code != exitDone || strings.Contains(errs, "former settings") {
		t.Errorf("run after the change back: exit code %d, %s", code, errs)
	}

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.write(settings.FileName, strings.Replace(was, "127.0.0.1:0", taken.Addr().String(), 1))
	d.logged("serve cannot start with the changed settings; it goes back to the former ones")
	s.Wait(patience, "status to say why", func() (bool, string) {
		out := s.Must("status")
		return strings.Contains(out, says+"dashboard: listen on "+taken.Addr().String()), out
	})
	taken.Close()
	d.Signal(syscall.SIGHUP)
	s.Wait(patience, "the dashboard at its new address", func() (bool, string) {
		url, errs, _ := s.CLI("serve", "--url")
		return strings.HasPrefix(url, "http://"+taken.Addr().String()), url + errs
	})
	if r := s.ran("Hand", 1)[0]; r.Status != engine.Done {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
}

// An import that is at work when its settings change ends as one import: its file, which is still there, is no second arrival.
func TestServe_importsOnceWhenSettingsChange(t *testing.T) {
	t.Parallel()
	s := newSite(t, worker(t), slowPages)
	s.serve()
	s.put(s.Path("Import/Report.pdf"), string(longText(60)))
	s.Wait(patience, "pages to be made", func() (bool, string) {
		all := s.Imports()
		return len(all) == 1 && all[0].Page > 5, describe(all)
	})
	s.put(s.Path(settings.FileName), strings.Replace(s.Read(settings.FileName), "dpi: 400", "dpi: 390", 1))
	if got := s.ended(1)["Import/Report.pdf"]; got.State != engine.ImportDone || got.Page != 60 {
		t.Errorf("%s, page %d of %d", got.State, got.Page, got.Pages)
	}
	s.emptied()
	if all := s.Imports(); len(all) != 1 {
		t.Errorf("more than one import:\n%s", describe(all))
	}
}
