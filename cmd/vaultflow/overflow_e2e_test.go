package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// noise puts a picture into the vault whose file is about as large as its pixels.
func (b *bench) noise(name string, width, height int) []byte {
	b.t.Helper()
	random := rand.New(rand.NewPCG(uint64(len(name)), uint64(width)))
	picture := image.NewGray(image.Rect(0, 0, width, height))
	for i := range picture.Pix {
		picture.Pix[i] = uint8(random.Uint32())
	}
	picture.SetGray(0, 0, color.Gray{Y: 255})
	var data bytes.Buffer
	if err := png.Encode(&data, picture); err != nil {
		b.t.Fatal(err)
	}
	b.write(name, data.String())
	return data.Bytes()
}

// events are those of the newest run, as `show --events --json` prints them.
func (b *bench) events() (list []engine.Event, printed string) {
	b.t.Helper()
	out, _ := b.run(exitDone, "runs", "--json", "--limit", "1")
	var newest struct{ ID string }
	if err := json.Unmarshal([]byte(out), &newest); err != nil {
		b.t.Fatalf("runs --json: %v\n%s", err, out)
	}
	printed, _ = b.run(exitDone, "show", newest.ID, "--events", "--json")
	for line := range strings.Lines(printed) {
		var e struct {
			Type string
			engine.Event
		}
		if err := json.Unmarshal([]byte(line), &e); err == nil && e.Type == "event" {
			list = append(list, e.Event)
		}
	}
	return list, printed
}

// TestOverflow_endToEnd runs a step whose request the service refuses: it is made to fit, answered, and told of; what was lost
// is in the record and in the exit code; and neither events nor journal hold the note's words, the key or the pictures.
func TestOverflow_endToEnd(t *testing.T) {
	t.Parallel()
	const canary = "the note says heliotrope"
	for _, tt := range []struct {
		name          string
		limits        llmtest.Limits
		width, height int
		pictures      int
		class         string
		exit          int
		sent          int // pictures in the second request
	}{
		{"sides", llmtest.Limits{Side: 100}, 150, 60, 2, "image_dims", exitDone, 2},
		{"number", llmtest.Limits{Images: 2}, 60, 60, 5, "image_count", exitOmissions, 2},
		{"tokens", llmtest.Limits{Tokens: 1900}, 700, 700, 4, "context_tokens", exitOmissions, 2},
		{"request", llmtest.Limits{Body: 300_000}, 400, 400, 3, "request_bytes", exitDone, 3},
		{"unsupported", llmtest.Limits{Without: []string{"image"}}, 60, 60, 2, "unsupported_media", exitOmissions, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.exit == exitDone && os.Getenv("VAULTFLOW_WORKER") == "" {
				t.Skip("pictures are made smaller in the worker: VAULTFLOW_WORKER names none")
			}
			b := limitedBench(t, tt.limits, llmtest.Reply{Answer: llmtest.Answer{Text: "Seen.", Input: 5000, Output: 5}}) // enough to have seen all
			note, picture := canary+"\n\n", []byte(nil)
			for i := range tt.pictures {
				name := fmt.Sprintf("p%s.png", strings.Repeat("x", i))
				picture = b.noise(name, tt.width, tt.height)
				note += fmt.Sprintf("![[%s]]\n\n", name)
			}
			b.write("Note.md", note)
			b.write("Workflows/Look.md", lookAll)
			out, log := b.run(tt.exit, "run", "Look", "--verbose")
			requests := b.server.Requests()
			if len(requests) != 2 || images(requests[1].Parts) != tt.sent || bytes.Equal(requests[0].Body, requests[1].Body) {
				t.Fatalf("%d requests, the last with %d pictures, want 2 and %d\n%s", len(requests), images(requests[len(requests)-1].Parts), tt.sent, out)
			}
			if !strings.Contains(out, "the service refused the request ("+tt.class+"); it was sent again") || !strings.Contains(out, "the service counted 5000") {
				t.Errorf("the record does not tell of it:\n%s", out)
			}
			if left := strings.Count(out, "left out"); (left > 0) != (tt.exit == exitOmissions) {
				t.Errorf("%d lines tell what was left out:\n%s", left, out)
			}
			list, printed := b.events()
			var kinds []string
			for _, e := range list {
				switch e.Kind {
				case engine.EventBuilt, engine.EventOverflow, engine.EventRewrite, engine.EventOutcome:
					kinds = append(kinds, e.Kind)
				}
				if e.Kind == engine.EventRewrite && (e.Rewrite == nil || e.Rewrite.Class != tt.class || e.Rewrite.Before.Images != tt.pictures || e.Rewrite.After.Images != tt.sent) {
					t.Errorf("the rewrite is told as %+v", e.Rewrite)
				}
			}
			if got, want := strings.Join(kinds, " "), "request_built overflow_detected rewrite_applied request_built retry_outcome"; got != want {
				t.Errorf("events %s, want %s", got, want)
			}
			for _, secret := range []string{canary, llmtest.Key, base64.StdEncoding.EncodeToString(picture[60:120]), string(picture[60:90])} {
				if strings.Contains(printed+log, secret) {
					t.Errorf("an event or the log holds %.20q", secret)
				}
				b.notInJournal(secret)
			}
			b.holds("Out.md", "Seen.\n")
		})
	}
}

// notInJournal looks for a text in the state directory outside of the blobs.
func (b *bench) notInJournal(text string) {
	b.t.Helper()
	looked := 0
	eachFile(b.t, os.DirFS(filepath.Join(b.dir, "state")), func(name string, data []byte) {
		if strings.HasPrefix(name, "blobs/") {
			return
		}
		looked++
		if bytes.Contains(data, []byte(text)) {
			b.t.Errorf("%s holds %.20q", name, text)
		}
	})
	if looked == 0 {
		b.t.Error("there is no state to look into")
	}
}

// limitedBench is a vault whose model's service has limits.
func limitedBench(t *testing.T, limits llmtest.Limits, replies ...llmtest.Reply) *bench {
	t.Helper()
	b := newBench(t, adapter{kind: "openai_chat", path: "/v1", wire: llmtest.OpenAI{}}, seeing, replies...)
	limited := llmtest.NewLimited(t, llmtest.OpenAI{}, limits, replies...)
	data, err := os.ReadFile(filepath.Join(b.dir, "vault", "settings.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	b.write("settings.yaml", strings.ReplaceAll(string(data), b.server.URL, limited.URL))
	b.server, b.worker = limited, os.Getenv("VAULTFLOW_WORKER")
	return b
}

func TestOverflow_switchedOff(t *testing.T) {
	t.Parallel()
	b := limitedBench(t, llmtest.Limits{Side: 100}, says("Seen."))
	b.noise("p.png", 150, 60)
	b.write("Note.md", "![[p.png]]\n")
	b.write("Workflows/Look.md", lookAll)
	data, err := os.ReadFile(filepath.Join(b.dir, "vault", "settings.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	b.write("settings.yaml", string(data)+"llm: {overflow_fallback: false}\n")
	out, _ := b.run(exitProvider, "run", "Look")
	if n := len(b.server.Requests()); n != 1 || !strings.Contains(out, "image_dims") || !strings.Contains(out, "hint: ") || b.has("Out.md") {
		t.Errorf("%d requests:\n%s", n, out)
	}
}
