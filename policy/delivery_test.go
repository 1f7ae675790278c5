package policy

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// matrix is where media of tool results go, cell by cell: image, document, audio, video.
var matrix = []struct{ provider, model, places string }{
	{"anthropic", "claude-sonnet-4-5", "in in refuse refuse"},
	{"bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "in beside refuse refuse"},
	{"bedrock", "us.amazon.nova-pro-v1:0", "in beside refuse beside"},
	{"bedrock", "us.meta.llama4-maverick-17b-instruct-v1:0", "in in refuse refuse"},
	{"bedrock", "mistral.pixtral-large-2502-v1:0", "after in refuse refuse"},
	{"bedrock", "qwen.qwen3-32b-v1:0", "after convert refuse refuse"},
	{"bedrock", "deepseek.v3-v1:0", "after convert refuse refuse"},
	{"google", "gemini-3-pro-preview", "in in after after"},
	{"google", "gemini-flash-latest", "in in after after"},
	{"vertex", "gemini-3-pro-preview", "in in after after"},
	{"google", "gemini-2.5-flash", "after after after after"},
	{"google", "models/gemini-1.5-pro", "after after after after"},
	{"google", "gemini-10-pro", "in in after after"},
	{"vertex", "gemini-2.0-flash-001", "after after after after"},
	{"vertex", "claude-sonnet-4@20250514", "in in refuse refuse"},
	{"openai_responses", "gpt-5", "in in refuse refuse"},
	{"openai", "gpt-4o", "after after after refuse"},
	{"openai_chat", "gpt-4o-audio-preview", "after after after refuse"},
	{"openai_compatible", "anything", "after after after refuse"},
	{"openrouter", "google/gemini-2.5-pro", "after after after after"},
	{"xai", "grok-4", "after after refuse refuse"},
	{"groq", "meta-llama/llama-4-maverick", "after refuse refuse refuse"},
	{"mistral", "mistral-medium-latest", "after after refuse refuse"},
	{"ollama", "qwen2.5vl:7b", "after convert refuse refuse"},
	{"offline", "", "in convert convert convert"},
	{"lmstudio", "gemma", "after convert refuse refuse"},
	{"nobody", "knows", "after convert refuse refuse"},
}

func TestDelivery_isTheMatrix(t *testing.T) {
	t.Parallel()
	for _, c := range matrix {
		d := DeliveryOf(c.provider, c.model)
		var got []string
		for _, m := range Media() {
			got = append(got, string(d.Places[m]))
		}
		if strings.Join(got, " ") != c.places {
			t.Errorf("%s %s: %v, want %s", c.provider, c.model, got, c.places)
		}
	}
}

func TestDelivery_tableIsWhole(t *testing.T) {
	t.Parallel()
	places := []Place{In, Beside, After, Convert, Refuse}
	rows := deliveryRows()
	for i, row := range rows {
		if err := row.check(); err != nil {
			t.Errorf("row %d: %v", i, err)
		}
		if _, err := time.Parse("2006-01", row.Checked); err != nil {
			t.Errorf("row %d: checked: %v", i, err)
		}
		for _, m := range Media() {
			if p := map[Medium]Place{Image: row.Image, Document: row.Document, Audio: row.Audio, Video: row.Video}[m]; !slices.Contains(places, p) {
				t.Errorf("row %d %v: %s goes %q", i, row.Provider, m, p)
			} else if (p == Refuse || p == Convert) && len(row.Formats[m]) > 0 {
				t.Errorf("row %d %v: %s goes %s and has formats", i, row.Provider, m, p)
			}
		}
		if row.Apart && !row.Alone && !row.JSON || row.JSON && !row.Apart {
			t.Errorf("row %d %v: media stand apart from the text where results are alone, or a JSON value", i, row.Provider)
		}
		if _, said := row.Formats[Image]; said {
			t.Errorf("row %d %v: formats of images stand in limits.yaml", i, row.Provider)
		}
	}
	if last := rows[len(rows)-1]; !slices.Equal(last.Provider, words{"any"}) || !slices.Equal(last.Model, words{"*"}) {
		t.Errorf("the last row is for %v %v, want everything", last.Provider, last.Model)
	}
}

// documented are models of the services of docs/providers.md, by the first cell of the row.
var documented = map[string][][2]string{
	"`anthropic`, Claude on `vertex`":        {{"anthropic", "claude-opus-4-7"}, {"vertex", "claude-opus-4@20250514"}},
	"`bedrock`, Claude":                      {{"bedrock", "anthropic.claude-opus-4"}},
	"`bedrock`, Nova":                        {{"bedrock", "amazon.nova-lite-v1:0"}},
	"`bedrock`, Llama":                       {{"bedrock", "meta.llama3-2-90b"}},
	"`bedrock`, Mistral":                     {{"bedrock", "mistral.mistral-large"}, {"bedrock", "mistral.pixtral-large"}},
	"`bedrock`, others":                      {{"bedrock", "deepseek.r1"}, {"bedrock", "qwen.qwen3"}, {"bedrock", "openai.gpt-5"}, {"bedrock", "writer.palmyra-x5"}},
	"`google`, `vertex`: Gemini 3 and later": {{"google", "gemini-3-flash"}, {"vertex", "gemini-4-pro"}},
	"`google`, `vertex`: Gemini before 3":    {{"google", "gemini-2.5-flash"}, {"vertex", "gemini-1.5-pro-002"}},
	"`openai_responses`":                     {{"openai_responses", "gpt-5"}},
	"`openai_chat`, `openai_compatible`":     {{"openai", "gpt-4o"}, {"openai_chat", "x"}, {"openai_compatible", "x"}},
	"`openrouter`":                           {{"openrouter", "anthropic/claude-sonnet-4.5"}},
	"`xai`":                                  {{"xai", "grok-4"}},
	"`groq`":                                 {{"groq", "llama-4"}},
	"`mistral`":                              {{"mistral", "pixtral-12b"}},
	"`ollama`":                               {{"ollama", "llava"}},
	"`lmstudio`, `llamacpp`, `vllm`, `deepseek` and unknown ones": {{"lmstudio", "x"}, {"llamacpp", "x"}, {"vllm", "x"}, {"deepseek", "x"}, {"nobody", "x"}},
}

// TestDelivery_isDocumented holds the page to the table.
func TestDelivery_isDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n## Where media go\n")
	if !found {
		t.Fatal("docs/providers.md has no section about where media go")
	}
	seen := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		models, known := documented[cells[0]]
		if !known {
			if cells[0] != "service" && cells[0] != "---" {
				t.Errorf("the row %q is not looked at", cells[0])
			}
			continue
		}
		seen++
		for _, m := range models {
			for i, medium := range Media() {
				if got := DeliveryOf(m[0], m[1]).Places[medium]; string(got) != cells[i+1] {
					t.Errorf("%s %s: the page says that %s goes %q, the table %q", m[0], m[1], medium, cells[i+1], got)
				}
			}
		}
	}
	if seen != len(documented) {
		t.Errorf("the page has %d of %d rows", seen, len(documented))
	}
}

func TestDelivery_prompts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider, model string
		medium          Medium
		want            Place
		why             string
	}{
		{"openai", "gpt-4o", Image, In, "in place"},
		{"bedrock", "amazon.nova-pro-v1:0", Video, In, "in place"},
		{"google", "gemini-3-pro", Audio, In, "in place"},
		{"ollama", "llava", Document, Convert, "ollama takes no document as a file"},
		{"groq", "llama-4-scout", Document, Refuse, "groq takes no document"},
		{"xai", "grok-4", Document, Convert, "within a request"},
	} {
		got, why := DeliveryOf(c.provider, c.model).Place(c.medium, false)
		if got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s %s: %s (%s), want %s (%s)", c.provider, c.medium, got, why, c.want, c.why)
		}
	}
}

func TestDelivery_forAModelThatLacksSomething(t *testing.T) {
	t.Parallel()
	whole := DeliveryOf("openai", "gpt-3.5-turbo")
	d := whole.For(Lookup("openai", "gpt-3.5-turbo", nil, nil))
	want := map[Medium]Place{Image: Convert, Document: Convert, Audio: Convert, Video: Refuse}
	if diff := cmp.Diff(want, d.Places); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	if _, why := d.Place(Image, true); why != "the model has no vision (table)" {
		t.Errorf("why: %q", why)
	}
	if whole.Places[Image] != After {
		t.Error("the delivery it was made from has changed")
	}
	seen := DeliveryOf("anthropic", "claude-sonnet-4-5").Without(Document)
	if p, why := seen.Place(Document, false); p != Convert || !strings.Contains(why, "not to have seen") {
		t.Errorf("%s, %q", p, why)
	}
	if seen.Places[Image] != In || seen.Places[Audio] != Refuse {
		t.Errorf("places %v", seen.Places)
	}
}

func TestDelivery_formats(t *testing.T) {
	t.Parallel()
	for provider, want := range map[string]map[Medium][]string{
		"google":    {Image: {"png", "jpeg", "webp"}, Document: {"pdf"}, Audio: {"wav", "mp3", "aiff", "aac", "ogg", "flac"}},
		"openai":    {Image: {"png", "jpeg", "gif", "webp"}, Document: {"pdf"}, Audio: {"wav", "mp3"}},
		"xai":       {Image: {"png", "jpeg"}, Document: nil},
		"nobody":    {Image: {"png", "jpeg"}, Document: nil},
		"anthropic": {Image: {"png", "jpeg", "gif", "webp"}, Document: {"pdf"}, Audio: nil, Video: nil},
	} {
		got := DeliveryOf(provider, "model").Formats
		for m, formats := range want {
			if !slices.Equal(got[m], formats) {
				t.Errorf("%s %s: %v, want %v", provider, m, got[m], formats)
			}
		}
	}
}

// A prompt and its request agree on the pictures that a service takes as they are, also of one that publishes none.
func TestLimits_formats(t *testing.T) {
	t.Parallel()
	for _, service := range []string{"openai_compatible", "ollama", "anthropic", "google", "unheard-of"} {
		want := Limits(service, "some-1").Formats
		if got := DeliveryOf(service, "some-1").Formats[Image]; len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: requests take %q, prompts %q", service, got, want)
		}
	}
}
