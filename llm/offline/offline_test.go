package offline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/llm/offline"
	"github.com/vaultflow/vaultflow/llm/rewrite"
	"github.com/vaultflow/vaultflow/policy"
)

func request(blocks ...content.Block) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Blocks: blocks}}}
}

func TestGenerate_quotesInOrder(t *testing.T) {
	t.Parallel()
	r := request(
		content.Text{Value: "Sum up.\n\n<input-9f3a path=\"Oak.md\">\n# Old oaks\n"},
		content.Image{Name: "Photos/oak.jpg", Width: 1240, Height: 1754, SHA256: strings.Repeat("ab", 32), Alt: "an\noak"},
		content.Text{Value: "It grows slowly.  \n\n\n"},
		content.Image{Name: "Scan.pdf", Source: content.SourcePage, Page: 7},
		content.Text{Value: "</input-9f3a>"},
	)
	r.System = "Not quoted."
	r.Messages = append(
		r.Messages, llm.Message{Role: llm.Assistant, Blocks: []content.Block{content.ToolCall{ID: "1", Name: "look", Input: json.RawMessage(`{}`)}}},
		llm.Message{Role: llm.User, Blocks: []content.Block{content.ToolResult{CallID: "1", Success: true, Blocks: []content.Block{content.Text{Value: "From a tool."}}}}},
	)
	var pieces []string
	got, err := offline.New().Generate(t.Context(), r, func(d string) { pieces = append(pieces, d) })
	if err != nil {
		t.Fatal(err)
	}
	want := "> Answer of the offline model: it quotes its prompt and understands none of it. Configure a real model for more.\n" + `
> Sum up.
>
> [input path="Oak.md"]
> # Old oaks
> [picture 1: ` + "`Photos/oak.jpg`" + `, 1240×1754, SHA-256 abababababab…, an oak]
> It grows slowly.
>
> [picture 2: ` + "`Scan.pdf`" + `, page 7]
> [/input]
> [tool result: look]
> From a tool.
`
	if diff := cmp.Diff(want, got.Text); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if strings.Join(pieces, "") != got.Text || len(pieces) != 8 {
		t.Errorf("%d pieces do not make the answer", len(pieces))
	}
	if got.Usage.InputTokens == 0 || got.Usage.CostUnknown || got.Stop != llm.StopEnd || got.Model != offline.Model {
		t.Errorf("got %+v", got)
	}
	again, err := offline.New().Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, again, cmpopts.IgnoreUnexported(llm.Response{})); diff != "" {
		t.Errorf("a second answer differs:\n%s", diff)
	}
}

func TestGenerate_quotesAreBounded(t *testing.T) {
	t.Parallel()
	got, err := offline.New().Generate(t.Context(), request(content.Text{Value: strings.Repeat("ä", 500) + "\n" + strings.Repeat("x\n", 500)}, content.Text{Value: "end"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "> " + strings.Repeat("ä", 400) + "…\n> x\n"; !strings.Contains(got.Text, want) {
		t.Errorf("the long line is not cut after 400 letters:\n%s", got.Text)
	}
	if n := strings.Count(got.Text, "\n"); n != 203 || strings.Contains(got.Text, "end") || !strings.HasSuffix(got.Text, "the rest is not quoted.\n") {
		t.Errorf("got %d lines, want 200 quoted ones and a notice:\n%s", n, got.Text)
	}
}

func TestGenerate_picturesAreLoaded(t *testing.T) {
	t.Parallel()
	album := &llmtest.Album{}
	r := request(album.Add(t, "there.png", "png", 20, 1), content.Image{Name: "gone.png"})
	r.Media = album
	got, err := offline.New().Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"gone.png"}, got.Omitted); diff != "" {
		t.Errorf("omitted (-want +got):\n%s", diff)
	}
	if !strings.Contains(got.Text, "[picture 1: `there.png`") || !strings.Contains(got.Text, "> [image: gone.png") {
		t.Errorf("want the label of one picture and the text that stands in for the other:\n%s", got.Text)
	}
}

func TestGenerate_bounds(t *testing.T) {
	t.Parallel()
	r := request(content.Text{Value: "hi"})
	r.MaxOutputTokens = 10
	got, err := offline.New().Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Stop != llm.StopLength || len([]rune(got.Text)) != 40 {
		t.Errorf("got %q, stop %q", got.Text, got.Stop)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := offline.New().Generate(ctx, r, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// What was looked at is counted: many pictures beside few words are not suspected to be unseen.
func TestGenerate_countsPictures(t *testing.T) {
	t.Parallel()
	d := policy.DeliveryOf("offline", "")
	request := llm.Request{Delivery: &d, Messages: []llm.Message{{Role: llm.User}}}
	for i := range 50 {
		request.Messages[0].Blocks = append(request.Messages[0].Blocks, content.Image{Name: fmt.Sprintf("%d.png", i), Width: 2000, Height: 2000})
	}
	got, err := offline.New().Generate(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	if unseen, suspected := rewrite.Sight(request, d, got.Usage, got.Omitted); suspected || got.Usage.InputTokens < 50*64 {
		t.Errorf("%d tokens for 50 pictures: %s", got.Usage.InputTokens, unseen)
	}
}

func TestProvider_contract(t *testing.T) {
	t.Parallel()
	llmtest.Contract(t, func(*testing.T) llm.Provider { return offline.New() }, llm.Request{
		Model: offline.Model, Messages: []llm.Message{{Role: llm.User, Blocks: []content.Block{content.Text{Value: "# Harbour\n\nThe ferry leaves at nine."}}}},
	})
}
