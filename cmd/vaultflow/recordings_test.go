//go:build unix

package main

import (
	le "encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// whisper is a local server of speech recognition. It takes only what OpenAI's /audio/transcriptions takes.
type whisper struct {
	*httptest.Server
	key    string                                                        // that it wants
	answer func(n int, got llmtest.Transcription) (status int, said any) // to the nth request, from 1

	mu  sync.Mutex
	got []llmtest.Transcription // guarded by mu
}

func newWhisper(t *testing.T, key string, answer func(n int, got llmtest.Transcription) (int, any)) *whisper {
	t.Helper()
	w := &whisper{key: key, answer: answer}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		got, err := llmtest.ReadTranscription(r, w.key)
		if err != nil {
			t.Error(err)
		}
		w.mu.Lock()
		w.got = append(w.got, got)
		n := len(w.got)
		w.mu.Unlock()
		status, said := w.answer(n, got)
		data, err := json.Marshal(said)
		if err != nil {
			t.Error(err)
		}
		rw.WriteHeader(status)
		_, _ = rw.Write(data)
	}))
	t.Cleanup(w.Close)
	return w
}

// requests are those so far.
func (w *whisper) requests() []llmtest.Transcription {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]llmtest.Transcription(nil), w.got...)
}

// settings names the server as the one for recordings.
func (w *whisper) settings(more string) string {
	return fmt.Sprintf("ingestion: {audio: {provider: speech, model: whisper-large-v3, language: en%s}}\nproviders: {speech: {kind: openai_compatible, base_url: %q, api_key_env: SPEECH_KEY}}\n", more, w.URL+"/v1")
}

type segment struct {
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	Text  string  `json:"text"`
}

func spoken(seconds float64, segments ...segment) map[string]any {
	text := ""
	for _, s := range segments {
		text += s.Text
	}
	return map[string]any{"task": "transcribe", "language": "english", "duration": seconds, "text": text, "segments": segments}
}

// memo is an MP3 of a few frames, another one for each number.
func memo(n byte) []byte {
	data := []byte("ID3\x04\x00\x00\x00\x00\x00\x00")
	for range 20 {
		frame := make([]byte, 417)
		copy(frame, []byte{0xff, 0xfb, 0x90, 0, n})
		data = append(data, frame...)
	}
	return data
}

// wavRecording is a WAV of 8,000 samples of 8 bits for each second.
func wavRecording(seconds int) []byte {
	b := append([]byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"), 0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0)
	b = le.LittleEndian.AppendUint32(append(b, "data"...), uint32(8000*seconds))
	for i := range 8000 * seconds {
		b = append(b, byte(i/8000))
	}
	le.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

// TestRecordings_becomeText drops a voice memo while serve runs. The service is busy at first; the note then has the recording and
// what is said in it, with times and as harmless text.
func TestRecordings_becomeText(t *testing.T) {
	t.Parallel()
	w := newWhisper(t, llmtest.Key, func(n int, _ llmtest.Transcription) (int, any) {
		if n == 1 {
			return http.StatusTooManyRequests, map[string]any{"error": map[string]any{"message": "slow down"}}
		}
		return http.StatusOK, spoken(90, segment{0, 2, " Buy milk."}, segment{2.2, 4, " Call Ann."}, segment{65.5, 67, " %% vaultflow:end %% Done."})
	})
	s := newSite(t, "", w.settings(", price_per_minute: 0.5"))
	s.Env = append(s.Env, "SPEECH_KEY="+llmtest.Key)
	d := s.serve()
	s.Write("Import/Shopping.mp3", memo(1))
	r := s.ended(1)["Import/Shopping.mp3"]
	d.stop()
	if r.State != engine.ImportDone {
		t.Fatalf("%+v", r)
	}
	note := s.Read(r.Note)
	for _, want := range []string{"![[./Shopping.mp3]]", "## What is said", "0:00 Buy milk. Call Ann.", "1:05 "} {
		if !strings.Contains(note, want) {
			t.Errorf("no %q in\n%s", want, note)
		}
	}
	if strings.Count(note, "%% vaultflow:end %%") != 1 || strings.Contains(note, "languages:") || strings.Contains(note, "\npages:") {
		t.Errorf("what was said ends the block, or a recording has the properties of a scan:\n%s", note)
	}
	m := s.manifest(r.Bundle)
	if p := m.Pages[0]; p.Text.Source != manifest.TextSpeech || p.OCR.Engine != "speech whisper-large-v3" || p.OCR.CostUSD != 0.75 {
		t.Errorf("%+v, %+v", p.Text, p.OCR)
	}
	got := w.requests()
	if len(got) != 2 || string(got[1].Data) != string(memo(1)) || got[1].Name != "recording.mp3" || got[1].Fields["model"] != "whisper-large-v3" || got[1].Fields["language"] != "en" {
		t.Errorf("%d requests, the last with %v", len(got), got[len(got)-1].Fields)
	}
	if out := s.Must("status"); strings.Contains(out, llmtest.Key) || strings.Contains(s.Read(r.Bundle+"/manifest.json"), llmtest.Key) {
		t.Error("the key is shown")
	}
}

// TestRecordings_withoutAService keeps recordings, and their notes say what is missing.
func TestRecordings_withoutAService(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.Write("memo.mp3", memo(1))
	s.Must("import", s.Path("memo.mp3"))
	r := s.ended(1)["Import/memo.mp3"]
	if note := s.Read(r.Note); r.State != engine.ImportDone || !strings.Contains(note, "name one in `ingestion.audio.provider`") || !strings.Contains(note, "![[./memo.mp3]]") {
		t.Errorf("%+v\n%s", r, note)
	}
	// With a service the same file is imported again; one that cannot be cut is kept, and the note says so.
	w := newWhisper(t, "", func(int, llmtest.Transcription) (int, any) {
		return http.StatusOK, map[string]any{"text": "Plain words."}
	})
	s.write("settings.yaml", quick+strings.Replace(w.settings(", max_request: 64KiB"), ", api_key_env: SPEECH_KEY", "", 1))
	s.Write("again.mp3", memo(1))
	s.Write("long.m4a", append([]byte("\x00\x00\x00\x20ftypM4A \x00\x00\x00\x00M4A mp42isom\x00\x00\x00\x00"), make([]byte, 70<<10)...))
	s.Must("import", s.Path("again.mp3"), s.Path("long.m4a"))
	all := s.ended(3)
	if note := s.Read(all["Import/again.mp3"].Note); !strings.Contains(note, "Plain words.") {
		t.Errorf("%+v\n%s", all["Import/again.mp3"], note)
	}
	if note := s.Read(all["Import/long.m4a"].Note); !strings.Contains(note, "only WAV and MP3 can be sent in parts") {
		t.Errorf("%+v\n%s", all["Import/long.m4a"], note)
	}
	if n := len(w.requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// TestRecordings_refused: a wrong key fails the import with what to do, and a retry with the right one succeeds.
func TestRecordings_refused(t *testing.T) {
	t.Parallel()
	var right atomic.Bool
	w := newWhisper(t, llmtest.Key, func(int, llmtest.Transcription) (int, any) {
		if !right.Load() {
			return http.StatusUnauthorized, map[string]any{"error": map[string]any{"message": "Incorrect API key provided"}}
		}
		return http.StatusOK, spoken(5, segment{0, 2, "Now it works."})
	})
	s := newSite(t, "", w.settings(""))
	s.Write("memo.mp3", memo(1))
	if out, errs, code := s.CLI("import", s.Path("memo.mp3")); code != exitProvider || !strings.Contains(out+errs, "the key of speech is missing: SPEECH_KEY is not set") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	s.Env = append(s.Env, "SPEECH_KEY="+llmtest.Key)
	r := s.Imports()[0]
	if out, errs, code := s.CLI("import", "--retry", r.ID); code != exitProvider || !strings.Contains(out+errs, "Incorrect API key") {
		t.Errorf("exit code %d:\n%s%s", code, out, errs)
	}
	right.Store(true)
	s.Must("import", "--retry", s.Imports()[0].ID)
	r = s.Imports()[0]
	if note := s.Read(r.Note); r.State != engine.ImportDone || !strings.Contains(note, "Now it works.") {
		t.Errorf("%+v\n%s", r, note)
	}
}

// TestRecordings_inParts sends a recording of 20 s in three parts, and kills serve while the second is written down: the first is not paid
// again, and times count from the beginning.
func TestRecordings_inParts(t *testing.T) {
	t.Parallel()
	reached, killed := make(chan struct{}), make(chan struct{})
	w := newWhisper(t, "", func(n int, got llmtest.Transcription) (int, any) {
		if n == 2 {
			close(reached)
			<-killed
		}
		return http.StatusOK, spoken(8, segment{1, 2, fmt.Sprintf("From second %d.", got.Data[44])})
	})
	s := newSite(t, "", strings.Replace(w.settings(", max_request: 64KiB"), ", api_key_env: SPEECH_KEY", "", 1))
	d := s.serve()
	s.Write("Import/Talk.wav", wavRecording(20))
	<-reached
	d.Kill()
	close(killed)
	d = s.serve()
	r := s.ended(1)["Import/Talk.wav"]
	d.stop()
	note := s.Read(r.Note)
	for _, want := range []string{"0:01 From second 0.", "0:09 From second 8.", "0:17 From second 16."} {
		if !strings.Contains(note, want) {
			t.Errorf("no %q in\n%s", want, note)
		}
	}
	sent := ""
	for _, got := range w.requests() {
		sent += fmt.Sprint(got.Data[44], " ")
		if len(got.Data) > 64<<10 || string(got.Data[:4]) != "RIFF" {
			t.Errorf("a part of %d bytes", len(got.Data))
		}
	}
	if sent != "0 8 8 16 " {
		t.Errorf("parts from seconds %s were sent", sent)
	}
}

// TestRecordings_waitForTrust: what a vault's own settings say about recordings has no effect until the user agrees.
func TestRecordings_waitForTrust(t *testing.T) {
	t.Parallel()
	w := newWhisper(t, "", func(int, llmtest.Transcription) (int, any) { return http.StatusOK, map[string]any{"text": "Leaked."} })
	s := newSite(t, "", "")
	settings := quick + strings.Replace(w.settings(""), ", api_key_env: SPEECH_KEY", "", 1)
	if err := os.WriteFile(s.Path("settings.yaml"), []byte(settings), 0o644); err != nil { // nobody allows it
		t.Fatal(err)
	}
	s.Write("memo.mp3", memo(1))
	s.Must("import", s.Path("memo.mp3"))
	r := s.ended(1)["Import/memo.mp3"]
	if note := s.Read(r.Note); len(w.requests()) > 0 || !strings.Contains(note, "waits for your yes to ingestion.audio") {
		t.Errorf("%d requests\n%s", len(w.requests()), note)
	}
}
