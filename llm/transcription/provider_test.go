package transcription

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/ingestion/sound"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/wire"
)

const key = "sk-test-key"

type loader string

func (l loader) Load(context.Context, content.Block) ([]byte, string, error) {
	if l == "" {
		return nil, "", errors.New("gone")
	}
	return []byte("sound"), string(l), nil
}

func (loader) Fit(llm.PictureLimits) (llm.Loader, error) { return nil, errors.ErrUnsupported }

var recording = content.Audio{Name: "Journal/private talk.mp3", MediaType: "audio/mpeg"}

func asking(model string, media llm.Loader, blocks ...content.Block) llm.Request {
	return llm.Request{Model: model, Messages: []llm.Message{{Role: llm.User, Blocks: blocks}}, Media: media}
}

// strict is a server that takes nothing but what /audio/transcriptions takes, and what we mean to send.
func strict(t *testing.T, fields map[string]string, status int, answer string) *Provider {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, err := llmtest.ReadTranscription(r, key)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(fields, got.Fields); diff != "" {
			t.Errorf("fields (-want +got):\n%s", diff)
		}
		if got.Name != "recording.mp3" || string(got.Data) != "sound" || got.MediaType != "audio/mpeg" {
			t.Errorf("file %q of %s with %q", got.Name, got.MediaType, got.Data)
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return New(Config{Config: wire.Config{BaseURL: server.URL + "/v1", APIKey: key}, Language: fields["language"], PricePerMinute: 0.5})
}

var verbose = map[string]string{"model": "whisper-1", "response_format": "verbose_json", "language": "en"}

const whole = `{"task":"transcribe","language":"english","duration":"90.0","text":" Buy milk. Call Ann. ",
"segments":[{"id":0,"seek":0,"start":0,"end":2.5,"text":" Buy milk.","tokens":[1],"temperature":0},{"id":1,"start":61.2,"end":63,"text":" Call Ann."},{"id":2,"start":70,"end":71,"text":" "}],
"usage":{"type":"duration","seconds":90}}`

func TestGenerate(t *testing.T) {
	t.Parallel()
	got, err := strict(t, verbose, http.StatusOK, whole).Generate(t.Context(), asking("whisper-1", loader("audio/mpeg"), recording, content.Text{Value: "never sent"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != "Buy milk. Call Ann." || got.Stop != llm.StopEnd || got.Usage.CostUSD != 0.75 || got.Usage.CostUnknown {
		t.Errorf("got %+v", got)
	}
	segments, err := Segments(got, "whisper-1")
	if diff := cmp.Diff([]sound.Utterance{{Start: 0, End: 2.5, Text: "Buy milk."}, {Start: 61.2, End: 63, Text: "Call Ann."}}, segments); diff != "" || err != nil {
		t.Errorf("segments, %v (-want +got):\n%s", err, diff)
	}
	// A model without times, which bills tokens.
	plain := maps.Clone(verbose)
	plain["model"], plain["response_format"] = "gpt-4o-transcribe", "json"
	got, err = strict(t, plain, http.StatusOK, `{"text":"Buy milk.","usage":{"type":"tokens","input_tokens":14,"output_tokens":45,"total_tokens":59}}`).
		Generate(t.Context(), asking("gpt-4o-transcribe", loader("audio/mpeg"), recording), nil)
	if err != nil || got.Text != "Buy milk." || got.Usage.InputTokens != 14 || !got.Usage.CostUnknown {
		t.Errorf("got %+v, %v", got, err)
	}
	if segments, err := Segments(got, "gpt-4o-transcribe"); len(segments) > 0 || err != nil {
		t.Errorf("segments %v, %v", segments, err)
	}
}

func TestGenerate_failures(t *testing.T) {
	t.Parallel()
	llmtest.Failures(t, func(t *testing.T, status int, answer string) llm.Provider {
		return strict(t, verbose, status, answer)
	}, asking("whisper-1", loader("audio/mpeg"), recording), key, `{"segments":[]}`)
}

func TestGenerate_refusesBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	p := New(Config{Config: wire.Config{BaseURL: "http://127.0.0.1:1/v1"}})
	requests := map[string]llm.Request{
		"no recording":      asking("m", loader("audio/mpeg"), content.Text{Value: "x"}),
		"one recording":     asking("m", loader("audio/mpeg"), recording, recording),
		"could not be read": asking("m", loader(""), recording),
		"of this kind":      asking("m", loader("audio/midi"), recording),
		"to transcribe":     asking("m", nil, recording),
	}
	for _, want := range slices.Sorted(maps.Keys(requests)) {
		if _, err := p.Generate(t.Context(), requests[want], nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestProvider_contract(t *testing.T) {
	t.Parallel()
	llmtest.Contract(t, func(t *testing.T) llm.Provider { return strict(t, verbose, http.StatusOK, whole) }, asking("whisper-1", loader("audio/mpeg"), recording))
}
