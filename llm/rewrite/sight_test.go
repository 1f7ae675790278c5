package rewrite_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/rewrite"
	"github.com/vaultflow/vaultflow/policy"
)

// sightRequest asks something short of media.
func sightRequest(provider string, blocks ...content.Block) llm.Request {
	d := policy.DeliveryOf(provider, "claude-or-gemini-3")
	return llm.Request{
		Model: "m", System: "be brief", Delivery: &d,
		Messages: []llm.Message{{Role: llm.User, Blocks: append([]content.Block{content.Text{Value: strings.Repeat("word ", 80)}}, blocks...)}},
	}
}

func TestSight(t *testing.T) {
	t.Parallel()
	photo := content.Image{Name: "p.png", Width: 1500, Height: 1000}
	paper := content.Document{Name: "d.pdf", Pages: 1}
	for name, c := range map[string]struct {
		provider string
		blocks   []content.Block
		usage    cost.Usage
		omitted  []string
		want     []policy.Medium
	}{
		"a photo that was seen":            {"anthropic", []content.Block{photo}, cost.Usage{InputTokens: 1700}, nil, nil},
		"one that was not":                 {"anthropic", []content.Block{photo}, cost.Usage{InputTokens: 105}, nil, []policy.Medium{policy.Image}},
		"one that was not, by its name":    {"anthropic", []content.Block{photo}, cost.Usage{InputTokens: 105}, []string{"p.png"}, nil},
		"a server that makes few of it":    {"openai_compatible", []content.Block{photo}, cost.Usage{InputTokens: 170}, nil, nil},
		"one that made none":               {"openai_compatible", []content.Block{photo}, cost.Usage{InputTokens: 100}, nil, []policy.Medium{policy.Image}},
		"nothing reported":                 {"anthropic", []content.Block{photo}, cost.Usage{}, nil, nil},
		"no media":                         {"anthropic", nil, cost.Usage{InputTokens: 3}, nil, nil},
		"a tiny picture says nothing":      {"anthropic", []content.Block{content.Image{Name: "i.png", Width: 16, Height: 16}}, cost.Usage{InputTokens: 52}, nil, nil},
		"a paper inside a Bedrock result":  {"bedrock", []content.Block{paper}, cost.Usage{InputTokens: 631}, nil, nil}, // 631 fits the text: not proven
		"a paper of many pages unseen":     {"anthropic", []content.Block{content.Document{Name: "d.pdf", Pages: 9}}, cost.Usage{InputTokens: 631}, nil, []policy.Medium{policy.Document}},
		"by modality: both seen":           {"google", []content.Block{photo, paper}, cost.Usage{InputTokens: 700, TextTokens: 100, ImageTokens: 600}, nil, nil},
		"by modality: text alone":          {"google", []content.Block{photo, paper}, cost.Usage{InputTokens: 5000, TextTokens: 5000}, nil, []policy.Medium{policy.Image, policy.Document}},
		"by modality: audio unseen":        {"google", []content.Block{photo, content.Audio{Name: "a.wav"}}, cost.Usage{InputTokens: 700, TextTokens: 100, ImageTokens: 600}, nil, []policy.Medium{policy.Audio}},
		"by modality: frames are pictures": {"google", []content.Block{content.Video{Name: "v.mp4", Seconds: 9}}, cost.Usage{InputTokens: 700, TextTokens: 100, ImageTokens: 600}, nil, nil},
	} {
		r := sightRequest(c.provider, c.blocks...)
		unseen, suspected := rewrite.Sight(r, *r.Delivery, c.usage, c.omitted)
		if diff := cmp.Diff(c.want, unseen.Media); suspected && diff != "" || suspected != (c.want != nil) {
			t.Errorf("%s: %v, %+v, want %v", name, suspected, unseen, c.want)
		}
	}
}

// A document in a result of a tool, counted as 631 tokens where it stood inside and was not seen (2242 beside): the recorded
// exchange that this check is for.
func TestSight_aDocumentThatWasTakenAndLeftOut(t *testing.T) {
	t.Parallel()
	d := policy.DeliveryOf("anthropic", "m")
	r := llm.Request{
		Tools: []llm.Tool{{Name: "read"}},
		Messages: []llm.Message{
			{Role: llm.User, Blocks: []content.Block{content.Text{Value: "What does the file say?"}}},
			{Role: llm.Assistant, Blocks: []content.Block{content.ToolCall{ID: "1", Name: "read"}}},
			{Role: llm.User, Blocks: []content.Block{content.ToolResult{CallID: "1", Success: true, Blocks: []content.Block{content.Document{Name: "d.pdf", Pages: 2}}}}},
		},
	}
	if unseen, suspected := rewrite.Sight(r, d, cost.Usage{InputTokens: 631}, nil); !suspected || unseen.Counted != 631 || !strings.Contains(unseen.String(), "suspected unseen: d.pdf (631 tokens") {
		t.Errorf("%v, %s", suspected, unseen)
	}
	if unseen, suspected := rewrite.Sight(r, d, cost.Usage{InputTokens: 3700}, nil); suspected {
		t.Errorf("seen: %s", unseen)
	}
}

// outside returns what a plan says outside tool results.
func outside(turns []llm.Turn) string {
	var all []content.Block
	for _, t := range turns {
		all = append(all, t.Blocks...)
	}
	return content.Join(all)
}

// counting is a provider that reports usages in turn.
type counting struct {
	usages []cost.Usage
	fails  int // which request fails, from 1
	seen   []llm.Request
}

func (a *counting) Generate(_ context.Context, r llm.Request, _ func(string)) (*llm.Response, error) {
	a.seen = append(a.seen, r)
	n := len(a.seen)
	if n == a.fails {
		return nil, &llm.Error{Class: llm.ClassOverloaded, Usage: cost.Usage{InputTokens: 7}}
	}
	return &llm.Response{Text: strings.Repeat("again ", n-1) + "seen", Usage: a.usages[min(n, len(a.usages))-1]}, nil
}

func TestSighted_sendsWordsOnce(t *testing.T) {
	t.Parallel()
	request := sightRequest("anthropic", content.Image{Name: "p.png", Width: 1500, Height: 1000, Fallback: "Total 12"})
	blind := cost.Usage{InputTokens: 60, OutputTokens: 5, CostUSD: 1}
	for name, c := range map[string]struct {
		fake     counting
		again    error
		text     string
		requests int
		input    int
		blind    bool // in the answer that stands
	}{
		"seen":            {counting{usages: []cost.Usage{{InputTokens: 1700}}}, nil, "seen", 1, 1700, false},
		"not seen":        {counting{usages: []cost.Usage{blind, blind}}, nil, "again seen", 2, 120, false},
		"no money for it": {counting{usages: []cost.Usage{blind}}, errors.New("too dear"), "seen", 1, 60, true},
		"the second fail": {counting{usages: []cost.Usage{blind}, fails: 2}, nil, "seen", 2, 67, true},
	} {
		var told []rewrite.Unseen
		p := rewrite.Sighted(&c.fake, rewrite.SightPolicy{
			Suspected: func(u rewrite.Unseen) { told = append(told, u) },
			Again: func(next llm.Request, spent cost.Usage) error {
				if turns, err := next.Plan("", *next.Delivery); err != nil || !strings.Contains(outside(turns), "Total 12") || spent != blind {
					t.Errorf("%s: the next request says %s (%v) after %+v", name, outside(turns), err, spent)
				}
				return c.again
			},
		})
		got, err := p.Generate(t.Context(), request, nil)
		if err != nil || got.Text != c.text || len(c.fake.seen) != c.requests || got.Usage.InputTokens != c.input {
			t.Errorf("%s: %+v, %v after %d requests", name, got, err, len(c.fake.seen))
		}
		if strings.Join(got.Unseen, ",") == "p.png" != c.blind {
			t.Errorf("%s: unseen %v, want %v", name, got.Unseen, c.blind)
		}
		if suspected := name != "seen"; len(told) > 0 != suspected || len(told) > 1 {
			t.Errorf("%s: told %v", name, told)
		}
	}
	if request.Delivery.Places[policy.Image] != policy.In {
		t.Error("the caller's delivery has changed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stopped := &counting{usages: []cost.Usage{blind}, fails: 2}
	if got, err := rewrite.Sighted(stopped, rewrite.SightPolicy{}).Generate(ctx, request, nil); got != nil || err == nil {
		t.Errorf("stopped: %+v, %v", got, err)
	}
}

// TestSighted_afterARewrite: what is sent once more is the request that was answered, not the one that was refused before.
func TestSighted_afterARewrite(t *testing.T) {
	t.Parallel()
	request := sightRequest("anthropic", content.Image{Name: "p.png", Width: 1500, Height: 1000, Fallback: "Total 12"})
	request.Media = llmtest.Studio{}
	p := &scripted{failures: []*llm.Error{{Class: llm.ClassImageDims, Limit: 900}}, answer: llm.Response{Text: "ok", Usage: cost.Usage{InputTokens: 60}}}
	if _, err := rewrite.Sighted(rewrite.Overflow(p, rewrite.OverflowPolicy{}), rewrite.SightPolicy{}).Generate(t.Context(), request, nil); err != nil || len(p.asked) != 3 {
		t.Fatalf("%d requests, %v", len(p.asked), err)
	}
	if got, want := p.asked[2].Media, (llmtest.Studio{Limits: llm.PictureLimits{MaxSide: 900}}); got != want {
		t.Errorf("the last request has pictures of %+v, want %+v", got, want)
	}
}
