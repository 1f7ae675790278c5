package llm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// digestOf is a digest that begins as told.
func digestOf(start string) string { return start + strings.Repeat("0", 64-len(start)) }

// oneOf holds one of each kind, without words.
var oneOf = map[policy.Medium]content.Block{
	policy.Image:    content.Image{Name: "i.png", SHA256: digestOf("abc123")},
	policy.Document: content.Document{Name: "d.pdf", SHA256: digestOf("abc123"), Pages: 2},
	policy.Audio:    content.Audio{Name: "a.mp3", SHA256: digestOf("abc123")},
	policy.Video:    content.Video{Name: "v.mp4", SHA256: digestOf("abc123")},
}

// drawn is a plan in words: a line for each turn. Media are <name>, a page <name page n>.
func drawn(turns []Turn) string {
	name := func(b content.Block) string {
		if page, ok := b.(content.Image); ok && page.Page > 0 {
			return fmt.Sprintf("<%s page %d>", page.Name, page.Page)
		}
		if content.IsMedia(b) {
			return "<" + content.NameOf(b) + ">"
		}
		return b.Text()
	}
	list := func(blocks []content.Block) string {
		var names []string
		for _, b := range blocks {
			names = append(names, name(b))
		}
		return strings.Join(names, " | ")
	}
	var lines []string
	for _, turn := range turns {
		line := string(turn.Role)
		for _, r := range turn.Results {
			line += " " + r.CallID + "=" + r.Name + "{" + list(r.Parts) + "}"
		}
		if len(turn.Blocks) > 0 {
			line += " " + list(turn.Blocks)
		}
		if len(turn.Omitted) > 0 {
			line += " (omitted " + strings.Join(turn.Omitted, ", ") + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// withMedium is a conversation of parallel calls: the second one's result comes first, as it may.
func withMedium(b content.Block) Request {
	return Request{Model: "m", Tools: []Tool{{Name: "look"}, {Name: "list"}}, Messages: []Message{
		{User, []content.Block{content.Text{Value: "ask"}}, nil},
		{Assistant, []content.Block{content.Thinking{Value: "hm", Signature: "s"}, content.ToolCall{ID: "1", Name: "look"}, content.ToolCall{ID: "2", Name: "list"}}, nil},
		{User, []content.Block{
			content.Text{Value: "go on"},
			content.ToolResult{CallID: "2", Success: true, Output: "two", Blocks: []content.Block{b}},
			content.ToolResult{CallID: "1", Success: true, Blocks: []content.Block{content.Text{Value: "before"}, b, content.Text{Value: " \n"}, content.Text{Value: "after"}}},
		}, nil},
	}}
}

// shapes are what the third and later turns of withMedium become at each place. M is the medium.
var shapes = map[string]string{
	"in":           "user 1=look{before | M | after} 2=list{two | M} go on",
	"in, apart":    "user 1=look{before | See file abc123. | after | M} 2=list{two | See file abc123. | M}\nuser go on",
	"in, .":        "user 1=look{before | M | after} 2=list{two | M}\nassistant .\nuser go on",
	"in, json, .":  "user 1=look{before | See file abc123. | after | M} 2=list{two | See file abc123. | M}\nassistant .\nuser go on",
	"beside":       "user 1=look{before | See file abc123. | after} 2=list{two | See file abc123.} This is file abc123: | M | This is file abc123: | M | go on",
	"after":        "user 1=look{before | See file abc123. | after} 2=list{two | See file abc123.}\nuser This is file abc123: | M | This is file abc123: | M | go on",
	"after, .":     "user 1=look{before | See file abc123. | after} 2=list{two | See file abc123.}\nassistant .\nuser This is file abc123: | M | This is file abc123: | M | go on",
	"after, OK":    "user 1=look{before | See file abc123. | after} 2=list{two | See file abc123.}\nassistant OK\nuser This is file abc123: | M | This is file abc123: | M | go on",
	"words":        "user 1=look{before | [W] | after} 2=list{two | [W]} go on (omitted N, N)",
	"words, alone": "user 1=look{before | [W] | after} 2=list{two | [W]} (omitted N, N)\nuser go on",
	"pages":        "user 1=look{before | See file P1. | See file P2. | after} 2=list{two | See file P1. | See file P2.}\nuser This is file P1: | <d.pdf page 1> | This is file P2: | <d.pdf page 2> | This is file P1: | <d.pdf page 1> | This is file P2: | <d.pdf page 2> | go on",
	"pages, .":     "user 1=look{before | See file P1. | See file P2. | after} 2=list{two | See file P1. | See file P2.}\nassistant .\nuser This is file P1: | <d.pdf page 1> | This is file P2: | <d.pdf page 2> | This is file P1: | <d.pdf page 1> | This is file P2: | <d.pdf page 2> | go on",
	"pages in":     "user 1=look{before | <d.pdf page 1> | <d.pdf page 2> | after} 2=list{two | <d.pdf page 1> | <d.pdf page 2>} go on",
}

// TestPlan_matrix: every row of the matrix, four kinds, in results and in prompts.
func TestPlan_matrix(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider, model string
		shapes          [4]string // of image, document, audio, video; "": refused
	}{
		{"anthropic", "claude-sonnet-4-5", [4]string{"in", "in"}},
		{"bedrock", "anthropic.claude-sonnet-4-5", [4]string{"in", "beside"}},
		{"bedrock", "amazon.nova-pro-v1:0", [4]string{"in", "beside", "", "beside"}},
		{"bedrock", "meta.llama4-scout", [4]string{"in, .", "in, ."}},
		{"bedrock", "mistral.pixtral-large", [4]string{"after, .", "in, json, ."}},
		{"bedrock", "deepseek.v3", [4]string{"after, .", "pages, ."}},
		{"bedrock", "qwen.qwen3", [4]string{"after, .", "pages, ."}},
		{"google", "gemini-3-pro", [4]string{"in, apart", "in, apart", "after", "after"}},
		{"google", "gemini-2.5-pro", [4]string{"after", "after", "after", "after"}},
		{"vertex", "gemini-3-pro", [4]string{"in, apart", "in, apart", "after", "after"}},
		{"openai_responses", "gpt-5", [4]string{"in", "in"}},
		{"openai_chat", "gpt-4o", [4]string{"after", "after", "after"}},
		{"openrouter", "x/y", [4]string{"after", "after", "after", "after"}},
		{"xai", "grok-4", [4]string{"after", "pages"}},
		{"groq", "llama-4-scout", [4]string{"after"}},
		{"mistral", "mistral-medium", [4]string{"after, OK", "after, OK"}},
		{"ollama", "llava", [4]string{"after", "pages"}},
		{"offline", "", [4]string{"in", "pages in", "words", "words"}},
		{"lmstudio", "any", [4]string{"after", "pages"}},
	} {
		for i, kind := range policy.Media() {
			b := oneOf[kind]
			d := policy.DeliveryOf(c.provider, c.model)
			what := fmt.Sprintf("%s %s %s", c.provider, c.model, kind)
			turns, err := withMedium(b).Plan("home", d)
			prompt := Request{Messages: []Message{{User, []content.Block{content.Text{Value: "before"}, b, content.Text{Value: "after"}}, nil}}}
			asked, promptErr := prompt.Plan("home", d)
			if c.shapes[i] == "" {
				for _, err := range []error{err, promptErr} {
					if e, ok := AsError(err); !ok || e.Class != ClassUnsupportedMedia || !e.Unsent || e.Provider != "home" || !strings.Contains(e.Message, string(kind)) || !strings.Contains(e.Message, c.provider) {
						t.Errorf("%s: %v, want a refusal that names provider and kind", what, err)
					}
				}
				continue
			}
			if err != nil || promptErr != nil {
				t.Errorf("%s: %v, %v", what, err, promptErr)
				continue
			}
			fill := strings.NewReplacer("M", "<"+content.NameOf(b)+">", "[W]", b.Text(), "N", content.NameOf(b), "P1", pageID(1), "P2", pageID(2)).Replace
			want := "user ask\nassistant [tool call: look] | [tool call: list]\n" + fill(shapes[c.shapes[i]])
			if diff := cmp.Diff(want, drawn(turns)); diff != "" {
				t.Errorf("%s in results (-want +got):\n%s", what, diff)
			}
			want = "user before | " + map[string]string{"words": fill("[W]"), "pages": "<d.pdf page 1> | <d.pdf page 2>", "pages in": "<d.pdf page 1> | <d.pdf page 2>", "pages, .": "<d.pdf page 1> | <d.pdf page 2>"}[c.shapes[i]] + " | after"
			if !strings.HasPrefix(c.shapes[i], "words") && !strings.HasPrefix(c.shapes[i], "pages") {
				want = "user before | <" + content.NameOf(b) + "> | after"
			}
			if c.shapes[i] == "words" {
				want += " (omitted " + content.NameOf(b) + ")"
			}
			if diff := cmp.Diff(want, drawn(asked)); diff != "" {
				t.Errorf("%s in prompts (-want +got):\n%s", what, diff)
			}
		}
	}
}

// pageID names a page of the document of this test.
func pageID(n int) string {
	return MediaID(PagePictures(oneOf[policy.Document].(content.Document), n)[n-1]) //nolint:forcetypeassert // it is one
}

// What a model lacks is converted: words, else pictures of pages, else a line; refused is only what has no words.
func TestPlan_converts(t *testing.T) {
	t.Parallel()
	blind, err := policy.ExactOverride(nil)
	if err != nil {
		t.Fatal(err)
	}
	lacking := func(provider string) policy.Delivery {
		return policy.DeliveryOf(provider, "m").For(policy.Lookup(provider, "m", blind, nil))
	}
	long := content.Document{Name: "long.pdf", Pages: 400, SHA256: digestOf("ffff")}
	for name, c := range map[string]struct {
		delivery policy.Delivery
		block    content.Block
		want     string
	}{
		"a picture's words":          {lacking("openai"), content.Image{Name: "i.png", Fallback: "Total 12"}, "Total 12 (omitted i.png)"},
		"a picture without":          {lacking("openai"), oneOf[policy.Image], "[image: i.png] (omitted i.png)"},
		"a document for the blind":   {lacking("openai"), oneOf[policy.Document], "[document: d.pdf, 2 pages] (omitted d.pdf)"},
		"a document's words":         {policy.DeliveryOf("ollama", "m"), content.Document{Name: "d.pdf", Pages: 2, Extracted: "said"}, "said (omitted d.pdf)"},
		"a page range":               {policy.DeliveryOf("ollama", "m"), content.Document{Name: "d.pdf", Pages: 9, PageRange: "2,4-5"}, "<d.pdf page 2> | <d.pdf page 4> | <d.pdf page 5>"},
		"no pages known":             {policy.DeliveryOf("ollama", "m"), content.Document{Name: "d.pdf"}, "[document: d.pdf] (omitted d.pdf)"},
		"an odd range":               {policy.DeliveryOf("ollama", "m"), content.Document{Name: "d.pdf", PageRange: "x"}, "[document: d.pdf, pages x] (omitted d.pdf)"},
		"audio for the deaf":         {lacking("openai"), oneOf[policy.Audio], "[audio: a.mp3] (omitted a.mp3)"},
		"a transcript where refused": {policy.DeliveryOf("anthropic", "m"), content.Audio{Name: "a.mp3", Fallback: "hello"}, "hello (omitted a.mp3)"},
		"a text where refused":       {policy.DeliveryOf("groq", "m"), content.Document{Name: "d.pdf", Extracted: "said"}, "said (omitted d.pdf)"},
		"not seen":                   {policy.DeliveryOf("anthropic", "m").Without(policy.Document), oneOf[policy.Document], "<d.pdf page 1> | <d.pdf page 2>"},
	} {
		turns, err := Request{Messages: []Message{{User, []content.Block{c.block}, nil}}}.Plan("p", c.delivery)
		if got := strings.TrimPrefix(drawn(turns), "user "); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
	turns, err := Request{Messages: []Message{{User, []content.Block{long}, nil}}}.Plan("p", policy.DeliveryOf("ollama", "m"))
	if err != nil || len(turns[0].Blocks) != MaxPagePictures+1 || !strings.HasSuffix(drawn(turns), " | [document: long.pdf, pages 21-400] left out: too many for one request (omitted long.pdf)") {
		t.Errorf("a long document, %v: %s", err, drawn(turns))
	}
	few := policy.DeliveryOf("bedrock", "qwen.x")
	few.Places, few.MaxImages = map[policy.Medium]policy.Place{policy.Image: policy.In, policy.Document: policy.Convert}, 2
	if turns, err = (Request{Messages: []Message{{User, []content.Block{content.Document{Name: "d.pdf", PageRange: "2,4-6"}}, nil}}}).Plan("p", few); err != nil ||
		drawn(turns) != "user <d.pdf page 2> | <d.pdf page 4> | [document: d.pdf, pages 5-6] left out: too many for one request (omitted d.pdf)" {
		t.Errorf("where two pictures are taken, %v: %s", err, drawn(turns))
	}
}

func TestPlan_results(t *testing.T) {
	t.Parallel()
	one := func(start string) content.Image { return content.Image{Name: start, SHA256: digestOf(start)} }
	r := Request{Tools: []Tool{{Name: "look"}}, Messages: []Message{
		{Assistant, []content.Block{content.ToolCall{ID: "1", Name: "look"}, content.ToolCall{ID: "2", Name: "look"}, content.ToolCall{ID: "3", Name: "look"}}, nil},
		{User, []content.Block{
			content.ToolResult{CallID: "1", Success: true, Data: json.RawMessage(`{"n":[1,2]}`)},
			content.ToolResult{CallID: "2", Error: "no", Blocks: []content.Block{one("abcdef1"), content.Text{Value: "and\n"}, one("abcdef2"), one("abcdef1")}},
			content.ToolResult{CallID: "3", Success: true, Blocks: []content.Block{content.Text{Value: " \n"}}},
		}, nil},
		{Assistant, []content.Block{content.Thinking{Value: "hm"}, content.ToolCall{ID: "1", Name: "look"}}, nil},
		{User, []content.Block{content.ToolResult{CallID: "1", Success: true, Blocks: []content.Block{one("abcdef23"), one("abcdef1")}}}, nil},
	}}
	turns, err := r.Plan("p", policy.DeliveryOf("mistral", "m"))
	if err != nil {
		t.Fatal(err)
	}
	want := `assistant [tool call: look] | [tool call: look] | [tool call: look]
user 1=look{{"n":[1,2]}} 2=look{error: no | See file abcdef. | and
 | See file abcdef2. | See file abcdef.} 3=look{(no output)}
assistant OK
user This is file abcdef: | <abcdef1> | This is file abcdef2: | <abcdef2> | This is file abcdef: | <abcdef1>
assistant [tool call: look]
user 1=look{See file abcdef23. | See file abcdef.}
assistant OK
user This is file abcdef23: | <abcdef23> | This is file abcdef: | <abcdef1>`
	if diff := cmp.Diff(want, drawn(turns)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if got, want := turns[1].Results[1].Text(), "error: no\nSee file abcdef.\nand\nSee file abcdef2.\nSee file abcdef."; got != want || !turns[1].Results[1].Failed || turns[1].Results[0].Failed {
		t.Errorf("text %q, want %q", got, want)
	}
}

// A medium of an earlier assistant, which no service takes back, is its words; blank turns are none.
func TestPlan_assistants(t *testing.T) {
	t.Parallel()
	raw := json.RawMessage(`{"wire":"w","model":"m","turn":{}}`)
	turns, err := Request{Messages: []Message{
		{User, []content.Block{content.Text{Value: " \n"}}, nil},
		{Assistant, []content.Block{content.Thinking{Value: "hm"}}, nil},
		{Assistant, []content.Block{content.Thinking{Value: "hm"}}, raw},
		{Assistant, []content.Block{content.Text{Value: "look:"}, oneOf[policy.Image]}, nil},
	}}.Plan("p", policy.DeliveryOf("anthropic", "m"))
	if want := "assistant\nassistant look: | [image: i.png] (omitted i.png)"; err != nil || drawn(turns) != want {
		t.Errorf("%q, %v, want %q", drawn(turns), err, want)
	}
	if string(turns[0].Raw) != string(raw) {
		t.Errorf("raw %s", turns[0].Raw)
	}
}

func TestPlan_withoutTools(t *testing.T) {
	t.Parallel()
	r := withMedium(oneOf[policy.Image])
	r.Tools = nil
	turns, err := r.Plan("p", policy.DeliveryOf("openai", "m"))
	want := "user ask\nassistant [tool call: look] | [tool call: list]\nuser go on | [tool result: list]\n | two | <i.png> | [tool result: look]\n | before | <i.png> | after"
	if err != nil || drawn(turns) != want {
		t.Errorf("%q, %v, want %q", drawn(turns), err, want)
	}
}
