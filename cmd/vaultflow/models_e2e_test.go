package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/settings"
)

// adapter is a model service as settings name it.
type adapter struct {
	kind, path string // path is what the address needs after host and port
	wire       llmtest.Wire
	noRefusal  bool
}

func adapters() []adapter {
	return []adapter{
		{kind: "anthropic", wire: llmtest.Anthropic{}},
		{kind: "openai_chat", path: "/v1", wire: llmtest.OpenAI{}},
		{kind: "ollama", wire: llmtest.Ollama{}, noRefusal: true},
	}
}

// forAdapters runs a test against each service.
func forAdapters(t *testing.T, test func(t *testing.T, a adapter)) {
	t.Parallel()
	for _, a := range adapters() {
		t.Run(a.kind, func(t *testing.T) {
			t.Parallel()
			test(t, a)
		})
	}
}

// bench is a vault with a model service beside it, driven by the real command line in a process of its own.
type bench struct {
	t      *testing.T
	dir    string // holds vault and state
	worker string // path of the worker; empty: there is none
	server *llmtest.Server
}

// withWorker lets the bench decode pictures, or skips the test where there is no worker.
func (b *bench) withWorker() *bench {
	b.t.Helper()
	if b.worker = os.Getenv("VAULTFLOW_WORKER"); b.worker == "" {
		b.t.Skip("pictures of imports are decoded in the worker: VAULTFLOW_WORKER names none")
	}
	return b
}

// newBench makes a vault whose default model is the service. More is put below the model's alias.
func newBench(t *testing.T, a adapter, more string, replies ...llmtest.Reply) *bench {
	t.Helper()
	spoken := a.wire
	if a.kind == "ollama" {
		spoken = described{a.wire}
	}
	b := &bench{t: t, dir: t.TempDir(), server: llmtest.NewServer(t, spoken, replies...)}
	b.write("settings.yaml", fmt.Sprintf("models:\n  default: seer\n  aliases:\n    seer:\n      provider: lab\n      model: test-model\n%s"+
		"providers:\n  lab: {kind: %s, base_url: %q, api_key_env: LAB_KEY}\n", more, a.kind, b.server.URL+a.path))
	return b
}

// described is an Ollama service that answers what only the real one knows: what its model is. The settings' word on capabilities goes before it.
type described struct{ llmtest.Wire }

func (described) Aside(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Path != "/api/show" {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"capabilities":["completion"],"model_info":{"test.context_length":131072}}`)
	return true
}

// seeing is an alias's line for models that no table knows.
const seeing = "      capabilities: [text, vision]\n"

func (b *bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, "vault", filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	if name == settings.FileName {
		allowSettings(b.t, filepath.Join(b.dir, "vault"), filepath.Join(b.dir, "state"))
	}
}

// paint puts a picture of one colour into the vault; each shade is another file.
func (b *bench) paint(name string, shade uint8) {
	b.t.Helper()
	picture := image.NewGray(image.Rect(0, 0, 40+int(shade), 32))
	for i := range picture.Pix {
		picture.Pix[i] = shade
	}
	picture.SetGray(0, 0, color.Gray{Y: 255})
	var data bytes.Buffer
	if err := png.Encode(&data, picture); err != nil {
		b.t.Fatal(err)
	}
	b.write(name, data.String())
}

// run starts vaultflow and returns what it said; it must end with the code. The key must not be in what it said.
func (b *bench) run(code int, args ...string) (stdout, stderr string) {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.CommandContext(b.t.Context(), self, args...)
	cmd.Args[0] = "vaultflow"
	cmd.Dir = b.dir
	cmd.Env = []string{"LAB_KEY=" + llmtest.Key, "PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "VAULTFLOW_WORKER=" + b.worker}
	for key, value := range environment(b.dir) {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if exited, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		b.t.Fatal(err)
	} else if got := cmd.ProcessState.ExitCode(); got != code {
		b.t.Fatalf("vaultflow %s: exit code %d, want %d (%v)\n%s%s", strings.Join(args, " "), got, code, exited, out.String(), errs.String())
	}
	for name, text := range map[string]string{"standard output": out.String(), "standard error": errs.String()} {
		if strings.Contains(text, llmtest.Key) {
			b.t.Errorf("vaultflow %s: the key is on %s", strings.Join(args, " "), name)
		}
	}
	return out.String(), errs.String()
}

// receipt is the one of the newest run, as `show --receipt --json` prints it.
func (b *bench) receipt() prompt.Receipt {
	b.t.Helper()
	out, _ := b.run(exitDone, "runs", "--json", "--limit", "1")
	var newest struct{ ID string }
	if err := json.Unmarshal([]byte(out), &newest); err != nil {
		b.t.Fatalf("runs --json: %v\n%s", err, out)
	}
	out, _ = b.run(exitDone, "show", newest.ID, "--receipt", "--json")
	lines := bufio.NewScanner(strings.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r prompt.Receipt
		if err := json.Unmarshal(lines.Bytes(), &r); err == nil && r.Type == "receipt" {
			return r
		}
	}
	b.t.Fatalf("show %s --receipt --json printed no receipt:\n%s", newest.ID, out)
	return prompt.Receipt{}
}

// onlyRequest is what the service got; one request is wanted.
func (b *bench) onlyRequest() []llmtest.Part {
	b.t.Helper()
	requests := b.server.Requests()
	if len(requests) != 1 {
		b.t.Fatalf("the service got %d requests, want 1", len(requests))
	}
	return requests[0].Parts
}

// finish looks for the key in everything that was kept: journal, blobs and vault.
func (b *bench) finish() {
	b.t.Helper()
	prompts := 0 // kept in the state as readable text, or this test would find nothing
	eachFile(b.t, os.DirFS(b.dir), func(name string, data []byte) {
		if bytes.Contains(data, []byte(llmtest.Key)) {
			b.t.Errorf("the key is in %s", name)
		}
		if strings.HasPrefix(name, "state/") && bytes.Contains(data, []byte("What is there?")) {
			prompts++
		}
	})
	if prompts == 0 {
		b.t.Error("no file holds the prompt")
	}
}

// has tells whether a file is in the vault.
func (b *bench) has(name string) bool {
	_, err := os.Stat(filepath.Join(b.dir, "vault", filepath.FromSlash(name)))
	return err == nil
}

// holds compares a note of the vault with a text.
func (b *bench) holds(name, want string) {
	b.t.Helper()
	got, err := os.ReadFile(filepath.Join(b.dir, "vault", filepath.FromSlash(name)))
	if err != nil || string(got) != want {
		b.t.Errorf("%s holds %q, %v, want %q", name, got, err, want)
	}
}

// says is a whole answer.
func says(text string) llmtest.Reply {
	return llmtest.Reply{Answer: llmtest.Answer{Deltas: []string{text}, Input: 5000, Output: 5}} // enough to have seen what was sent
}

func images(parts []llmtest.Part) int {
	n := 0
	for _, p := range parts {
		if p.Kind() == "image" {
			n++
		}
	}
	return n
}

func texts(parts []llmtest.Part) string {
	var all []string
	for _, p := range parts {
		all = append(all, p.Text)
	}
	return strings.Join(all, "")
}

const acceptance = "Before the picture.\n\n![[Pasted image 1.png]]\n\n| a | b |\n|---|---|\n| 1 | table |\n\n![a](<my pic.png>)\n\n" +
	"```\n![[x.png]]\n```\n\n![third][ref]\n\nAfter the pictures.\n\n![[Pasted image 1.png]]\n\n[ref]: reference.png\n"

const lookAll = "## Look\n@input file: Note (images=auto)\n@output file: Out\n@write_mode replace\n\nWhat is there?\n"

// TestModels_acceptanceOrder sends the acceptance note of the house through the real command line: its parts arrive in
// the author's order as text, image, text, image, text, image, text, marker. Labels stand in the texts.
func TestModels_acceptanceOrder(t *testing.T) {
	forAdapters(t, func(t *testing.T, a adapter) {
		b := newBench(t, a, seeing, says("Seen."))
		b.write("Note.md", acceptance)
		b.write("Workflows/Look.md", lookAll)
		for i, name := range []string{"Pasted image 1.png", "my pic.png", "reference.png", "x.png"} {
			b.paint(name, uint8(i))
		}
		b.run(exitDone, "run", "Look")
		var got []string
		marks := []string{
			"Before the picture.", "| 1 | table |", "```\n![[x.png]]\n```", "After the pictures.", "same picture as image 1",
		}
		for _, p := range b.onlyRequest() {
			if p.Kind() == "image" {
				config, err := png.DecodeConfig(bytes.NewReader(p.Data))
				if err != nil {
					t.Fatalf("picture: %v", err)
				}
				got = append(got, fmt.Sprintf("image %d", config.Width-40))
				continue
			}
			for _, mark := range marks {
				if strings.Contains(p.Text, mark) {
					got = append(got, mark)
				}
			}
		}
		want := []string{"Before the picture.", "image 0", "| 1 | table |", "image 1", "```\n![[x.png]]\n```", "image 2", "After the pictures.", "same picture as image 1"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("parts on the wire (-want +got):\n%s\n%s", diff, texts(b.onlyRequest()))
		}
		var kinds []string
		for _, p := range b.onlyRequest() {
			kinds = append(kinds, p.Kind())
		}
		if got := strings.Join(slices.Compact(kinds), " "); got != "text image text image text image text" {
			t.Errorf("runs of parts on the wire: %s", got)
		}
		b.holds("Out.md", "Seen.\n")
		b.finish()
	})
}

// TestModels_budget sends twenty of twenty-five pictures at their places; five are named in their places.
func TestModels_budget(t *testing.T) {
	forAdapters(t, func(t *testing.T, a adapter) {
		b := newBench(t, a, seeing, says("Seen."))
		var note strings.Builder
		for i := range 25 {
			name := fmt.Sprintf("p%02d.png", i+1)
			b.paint(name, uint8(i))
			fmt.Fprintf(&note, "Text %d.\n\n![[%s]]\n\n", i+1, name)
		}
		b.write("Note.md", note.String())
		b.write("Workflows/Look.md", "---\nbudget: {max_images: 20}\n---\n"+lookAll)
		b.run(exitOmissions, "run", "Look")
		parts := b.onlyRequest()
		if got := images(parts); got != 20 {
			t.Errorf("%d pictures in the request, want 20", got)
		}
		receipt, sent, references, deferred := b.receipt(), 0, 0, []string(nil)
		for _, line := range receipt.Chunks {
			if !line.IsReference() {
				continue
			}
			references++
			switch line.Fate {
			case "sent":
				sent++
			case "deferred":
				deferred = append(deferred, line.Name)
				if want := line.Name + ", " + fmt.Sprintf("%dx%d", line.Width, line.Height) + ", not shown: max_images 20 reached]"; !strings.Contains(texts(parts), want) {
					t.Errorf("the prompt does not say %q", want)
				}
			}
		}
		if sent != 20 || references != 25 || receipt.Totals.References != 25 || receipt.Totals.Deferred != 5 {
			t.Errorf("%d sent of %d references, totals %+v; want 20 of 25", sent, references, receipt.Totals)
		}
		if want := []string{"p21.png", "p22.png", "p23.png", "p24.png", "p25.png"}; !slices.Equal(deferred, want) {
			t.Errorf("deferred %v, want %v", deferred, want)
		}
		b.finish()
	})
}

// TestModels_textOnly gives a model without vision text alone, with one warning; pictures without text are omissions.
func TestModels_textOnly(t *testing.T) {
	forAdapters(t, func(t *testing.T, a adapter) {
		b := newBench(t, a, "      capabilities: [text]\n", says("Read."))
		b.paint("one.png", 1)
		b.paint("two.png", 2)
		b.write("Note.md", "First.\n\n![[one.png]]\n\nSecond.\n\n![[two.png]]\n")
		b.write("Workflows/Look.md", lookAll)
		out, _ := b.run(exitOmissions, "run", "Look")
		if n := strings.Count(out, "warning:"); n != 1 || !strings.Contains(out, "vision") && !strings.Contains(out, "see") {
			t.Errorf("want one warning that the model does not see, got:\n%s", out)
		}
		parts := b.onlyRequest()
		if got := images(parts); got != 0 {
			t.Errorf("%d pictures in the request, want none", got)
		}
		for _, word := range []string{"First.", "one.png", "Second.", "two.png"} {
			if !strings.Contains(texts(parts), word) {
				t.Errorf("%q is missing in the prompt:\n%s", word, texts(parts))
			}
		}
		b.holds("Out.md", "Read.\n")
		b.finish()
	})
}

// TestModels_required refuses, before any call, a model that cannot see for a step that must be seen.
func TestModels_required(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[0], "      capabilities: [text]\n", says("Read."))
	b.paint("one.png", 1)
	b.write("Note.md", "![[one.png]]\n")
	b.write("Workflows/Look.md", strings.Replace(lookAll, "images=auto", "images=required", 1))
	b.run(exitRefused, "run", "Look")
	if n := len(b.server.Requests()); n != 0 || b.has("Out.md") {
		t.Errorf("%d requests, output %t; want neither", n, b.has("Out.md"))
	}
}

// TestModels_ignored attaches nothing with images=ignore, and leaves the references as written.
func TestModels_ignored(t *testing.T) {
	forAdapters(t, func(t *testing.T, a adapter) {
		b := newBench(t, a, seeing, says("Read."))
		b.paint("one.png", 1)
		b.write("Note.md", "First.\n\n![[one.png|alt]]\n\nSecond.\n")
		b.write("Workflows/Look.md", strings.Replace(lookAll, "images=auto", "images=ignore", 1))
		out, _ := b.run(exitDone, "run", "Look")
		if strings.Contains(out, "warning") {
			t.Errorf("want no warning:\n%s", out)
		}
		if parts := b.onlyRequest(); images(parts) != 0 || !strings.Contains(texts(parts), "First.\n\n![[one.png|alt]]\n\nSecond.\n") {
			t.Errorf("got %d pictures and:\n%s", images(parts), texts(parts))
		}
		b.finish()
	})
}

// TestModels_busy waits as long as the service asks and repeats: one run, done.
func TestModels_busy(t *testing.T) {
	forAdapters(t, func(t *testing.T, a adapter) {
		busy := llmtest.Reply{Status: 429, Header: map[string]string{"Retry-After": "1"}, Code: "rate_limit_error", Message: "slow down, " + llmtest.Key}
		b := newBench(t, a, seeing, busy, says("At last."))
		b.write("Note.md", "Text.\n")
		b.write("Workflows/Look.md", lookAll)
		_, log := b.run(exitDone, "run", "Look", "--verbose")
		if !strings.Contains(log, "request repeated") {
			t.Errorf("the log does not say that the request was repeated:\n%s", log)
		}
		if n := len(b.server.Requests()); n != 2 {
			t.Errorf("%d requests, want 2", n)
		}
		out, _ := b.run(exitDone, "runs", "--json")
		if strings.Count(out, "\n") != 1 || !strings.Contains(out, `"status":"done"`) {
			t.Errorf("want one run that is done:\n%s", out)
		}
		b.holds("Out.md", "At last.\n")
		b.finish()
	})
}

// TestModels_noAnswer ends with the provider's exit code when the model refuses, says nothing, stops too early or
// fails; no file appears, and what was there stays.
func TestModels_noAnswer(t *testing.T) {
	cases := []struct {
		name, code string
		exit       int
		status     engine.Status
		reply      llmtest.Reply
	}{
		{"refusal", "refusal", exitModelRefused, engine.Refused, llmtest.Reply{Answer: llmtest.Answer{Refusal: "I will not.", Stop: llm.StopRefusal}}},
		{"empty", "empty_answer", exitEmpty, engine.Empty, llmtest.Reply{}},
		{"blank", "empty_answer", exitEmpty, engine.Empty, says(" \n\n ")},
		{"cut off", "cut_off", exitTruncated, engine.Truncated, llmtest.Reply{Answer: llmtest.Answer{Deltas: []string{"Half an ans"}, Stop: llm.StopLength}}},
		{"key refused", "provider", exitProvider, engine.Failed, llmtest.Reply{Status: 401, Code: "authentication_error", Message: "bad key " + llmtest.Key}},
		{"bad request", "provider", exitProvider, engine.Failed, llmtest.Reply{Status: 400, Code: "invalid_request_error", Message: "no " + llmtest.Key}},
	}
	forAdapters(t, func(t *testing.T, a adapter) {
		for _, c := range cases {
			if c.name == "refusal" && a.noRefusal {
				continue // its format has no way to say so
			}
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, a, seeing, c.reply)
				b.write("Note.md", "Text.\n")
				b.write("Kept.md", "Before.\n")
				b.write("Workflows/Look.md", strings.Replace(lookAll, "@output file: Out\n", "@output file: Out\n@output file: Kept\n", 1)+
					"\n## After\n@model none\n@output file: After\n\nMore.\n")
				out, _ := b.run(c.exit, "run", "Look", "--json")
				if !strings.Contains(out, `"code":"`+c.code+`"`) || !strings.Contains(out, fmt.Sprintf(`"workflow":"Look","status":%q`, c.status)) {
					t.Errorf("want the code %s and the status %s:\n%s", c.code, c.status, out)
				}
				if b.has("Out.md") || b.has("After.md") {
					t.Error("a file was written")
				}
				b.holds("Kept.md", "Before.\n")
				b.finish()
			})
		}
	})
}
