package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/anthropic"
	"github.com/vaultflow/vaultflow/llm/gemini"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/openai"
	"github.com/vaultflow/vaultflow/llm/wire"
	"github.com/vaultflow/vaultflow/media"
)

const (
	manyPictures  = 100
	pictureMemory = 64 << 20 // bytes over what a prompt of as many tiny pictures takes
)

// noise is a picture that no encoder makes smaller: w*h*3 bytes and a few.
func noise(t *testing.T, w, h int, seed uint64) []byte {
	t.Helper()
	picture := image.NewNRGBA(image.Rect(0, 0, w, h))
	source := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	_, _ = source.Read(picture.Pix) // never fails
	for i := 3; i < len(picture.Pix); i += 4 {
		picture.Pix[i] = 0xFF
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// scales is a model service that reads what it is sent, keeps none of it, and weighs the process that sent it.
type scales struct {
	*httptest.Server
	pid          atomic.Int64
	bytes, peak  atomic.Int64
	countedParts atomic.Int64
}

// newScales answers in a wire's form. mark stands before each picture in a body.
func newScales(t *testing.T, spoken llmtest.Wire, mark string) *scales {
	t.Helper()
	s := &scales{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if aside, ok := spoken.(interface {
			Aside(http.ResponseWriter, *http.Request) bool
		}); ok && aside.Aside(w, r) {
			return
		}
		buf, kept := make([]byte, 64<<10), 0
		for {
			n, err := r.Body.Read(buf[kept:])
			s.bytes.Add(int64(n))
			seen := buf[:kept+n]
			s.countedParts.Add(int64(bytes.Count(seen, []byte(mark))))
			kept = copy(buf, seen[max(0, len(seen)-len(mark)+1):])
			if err != nil {
				if err != io.EOF {
					t.Errorf("read the request: %v", err)
				}
				break
			}
		}
		s.peak.Store(peakOf(t, int(s.pid.Load())))
		spoken.Answer(w, llmtest.Answer{Text: "seen", Input: 1_000_000, Output: 1})
	}))
	t.Cleanup(s.Close)
	return s
}

// peakOf is the most that a process had resident so far, in bytes.
func peakOf(t *testing.T, pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Error(err)
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Error(err)
			}
			return kb << 10
		}
	}
	t.Error("the system does not tell the peak of a process")
	return 0
}

// sendPictures is a command of this test's binary: it sends all pictures of a folder in one request, through the real
// adapter and loader. Its arguments are the kind, the service's address and the folder.
func sendPictures() {
	if err := sendAll(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func sendAll() error {
	kind, address, folder := os.Args[1], os.Args[2], os.Args[3]
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var blocks []content.Block
	for _, f := range files {
		digest, err := digestOf(filepath.Join(folder, f.Name()))
		if err != nil {
			return err
		}
		blocks = append(blocks, content.Image{Name: f.Name(), MediaType: "image/png", SHA256: digest})
	}
	c := wire.Config{BaseURL: address, APIKey: llmtest.Key, Kind: kind}
	providers := map[string]func() llm.Provider{
		"anthropic":        func() llm.Provider { return anthropic.New(c) },
		"google":           func() llm.Provider { return gemini.New(c) },
		"openai_chat":      func() llm.Provider { return openai.New(c) },
		"openai_responses": func() llm.Provider { return openai.NewResponses(c) },
	}
	loader := media.Source{FS: os.DirFS(folder), Cache: media.NewCache(daemon.KeptPictures)}.Loader(imaging.Limits{MaxSide: 2000})
	response, err := providers[kind]().Generate(context.Background(), llm.Request{
		Model: "test-model", Media: loader, Messages: []llm.Message{{Role: llm.User, Blocks: blocks}},
	}, nil)
	if err == nil && (len(response.Omitted) > 0 || response.Text != "seen") {
		err = fmt.Errorf("omitted %v, answered %q", response.Omitted, response.Text)
	}
	return err
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// weigh runs a command of this test's binary to its end and returns its peak when the request had been read.
func (s *scales) weigh(t *testing.T, dir string, wantBytes int64, name string, args ...string) int64 {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Args[0] = name
	cmd.Dir = dir
	cmd.Env = []string{"LAB_KEY=" + llmtest.Key, "PATH=" + os.Getenv("PATH")}
	for key, value := range environment(dir) {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	s.bytes.Store(0)
	s.countedParts.Store(0)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.pid.Store(int64(cmd.Process.Pid))
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out.String())
	}
	if s.bytes.Load() < wantBytes || s.countedParts.Load() != manyPictures {
		t.Fatalf("%d bytes with %d pictures arrived, want %d with %d\n%s", s.bytes.Load(), s.countedParts.Load(), wantBytes, manyPictures, out.String())
	}
	return s.peak.Load()
}

// underRace tells whether the race detector, which keeps notes of all memory, is built in.
func underRace() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "-race" && s.Value == "true" {
			return true
		}
	}
	return false
}

// gallery is a folder with a vault in which a note shows 100 pictures of a size, and a workflow that has a model look.
func gallery(t *testing.T, w, h int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	put := func(name string, data []byte) {
		path := filepath.Join(dir, "vault", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var note strings.Builder
	for i := range manyPictures {
		name := fmt.Sprintf("p%03d.png", i)
		put("pictures/"+name, noise(t, w, h, uint64(i)))
		fmt.Fprintf(&note, "![[%s]]\n\n", name)
	}
	put("Note.md", []byte(note.String()))
	put("Workflows/Look.md", []byte("---\nbudget: {max_images: 100, max_total_mb: 500, max_prompt_tokens: 9000000}\n---\n"+lookAll))
	return dir
}

// TestPictures_memory sends a prompt of 100 pictures, 150 MB of base64, and one of 100 tiny pictures: the first may take
// 64 MiB more. Once from the command line, with everything that a run does before; and, as the services that take so much
// have limits of their own, through the adapters alone. The long tier has more of these.
func TestPictures_memory(t *testing.T) {
	if underRace() {
		t.Skip("the race detector takes several times the memory of what it watches")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the peak of another process is read from Linux's /proc")
	}
	t.Parallel()
	tiny, large := gallery(t, 24, 24), gallery(t, 640, 600) // of 1.15 MB each, 1.54 MB of base64
	for _, c := range []struct {
		kind, path, mark string
		wire             llmtest.Wire
		run, always      bool
	}{
		{"ollama", "", `"images":[`, llmtest.Ollama{}, true, true},
		{"anthropic", "", `"type":"base64"`, llmtest.Anthropic{}, false, true},
		{"google", "", `"inlineData"`, llmtest.Gemini{}, false, long()},
		{"openai_chat", "/v1", `"image_url":{`, llmtest.OpenAI{}, false, long()},
		{"openai_responses", "/v1", `"input_image"`, llmtest.Responses{}, false, long()},
	} {
		if !c.always {
			t.Logf("%s: in the long tier only (VAULTFLOW_LONG=1)", c.kind)
			continue
		}
		s := newScales(t, c.wire, c.mark)
		weigh := func(dir string, wantBytes int64) int64 {
			if !c.run {
				return s.weigh(t, dir, wantBytes, "send-pictures", c.kind, s.URL+c.path, filepath.Join(dir, "vault", "pictures"))
			}
			text := fmt.Sprintf("models: {default: seer, aliases: {seer: {provider: lab, model: test-model, capabilities: [text, vision], context_window: 10000000}}}\n"+
				"providers: {lab: {kind: %s, base_url: %q, api_key_env: LAB_KEY}}\n", c.kind, s.URL+c.path)
			if err := os.WriteFile(filepath.Join(dir, "vault", "settings.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			allowSettings(t, filepath.Join(dir, "vault"), filepath.Join(dir, "state"))
			return s.weigh(t, dir, wantBytes, "vaultflow", "run", "Look")
		}
		least := weigh(tiny, 0)
		most := weigh(large, 150_000_000)
		t.Logf("%s: %.1f MiB with tiny pictures, %.1f MiB with %.1f MB of base64: %+.1f MiB", c.kind, mib(least), mib(most), float64(s.bytes.Load())/1e6, mib(most-least))
		if most-least > pictureMemory {
			t.Errorf("%s: %.1f MiB over the baseline, want at most %.0f", c.kind, mib(most-least), mib(pictureMemory))
		}
	}
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
