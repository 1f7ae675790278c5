package offline_test

import (
	"context"
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

func TestGenerate_studyPlanFromPages(t *testing.T) {
	t.Parallel()
	page := func(name string) content.Image {
		return content.Image{Name: "Imported/Workbook/pages/" + name, Width: 1240, Height: 1754}
	}
	r := request(
		content.Text{Value: "Make a study plan from this workbook. Keep it short.\n\n<input-9f3a path=\"Imported/Workbook/index.md\" trust=\"import\">\n---\npages: 4\n---\n# Workbook\n## Page 1 ^p1\n[image 1]"},
		page("page_0001.png"),
		content.Text{Value: "### Chapter 1: Roots\nWords **come** from [[Latin|old Rome]]. More.\n## Page 2\n```\n# no heading\n```\n## Page 3\n"},
		page("page_0003.png"),
		content.Text{Value: "### Chapter 2: Stems\n- [ ] Do exercise 4 until 2026-12-01\n</input-9f3a>\n"},
	)
	var pieces []string
	got, err := offline.New().Generate(t.Context(), r, func(d string) { pieces = append(pieces, d) })
	if err != nil {
		t.Fatal(err)
	}
	want := "> Answer of the offline model: extracted from the prompt, without understanding it. Configure a real model for more.\n" + `
## Asked

Make a study plan from this workbook.

## Study plan

- [ ] Day 1: Chapter 1: Roots (pages 1–2)
- [ ] Day 2: Chapter 2: Stems (page 3)

## Headings found

- Workbook
- Chapter 1: Roots (page 1)
- Chapter 2: Stems (page 3)

## Images seen

1. ` + "`Imported/Workbook/pages/page_0001.png`, 1240×1754, page 1 (in `Imported/Workbook/index.md`)" + `
2. ` + "`Imported/Workbook/pages/page_0003.png`, 1240×1754, page 3 (in `Imported/Workbook/index.md`)" + `

## Tasks and decisions

- Do exercise 4 until 2026-12-01

## Dates

- 2026-12-01

## First sentences

- Words come from old Rome.
`
	if diff := cmp.Diff(want, got.Text); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if strings.Join(pieces, "") != got.Text || len(pieces) < 5 {
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

func TestGenerate_buildsOnItsOwnAnswer(t *testing.T) {
	t.Parallel()
	first, err := offline.New().Generate(t.Context(), request(content.Text{Value: "Find where each chapter begins and ends.\n<input-1 path=\"Workbook/index.md\">\n" +
		"## Page 1\nChapter 1 Roots\n## Page 2\ntext of two words\n## Page 3\nChapter 2 Stems\n## Page 4\n</input-1>"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := offline.New().Generate(t.Context(), request(content.Text{Value: "Spread it over two weeks.\n<input-2 variable=\"chapters\">\n" + first.Text + "</input-2>"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "## Study plan\n\n- [ ] Day 1: Chapter 1 Roots (pages 1–2)\n- [ ] Day 2: Chapter 2 Stems (pages 3–4)\n"; !strings.Contains(second.Text, want) {
		t.Errorf("the answer lacks %q:\n%s\nfirst answer:\n%s", want, second.Text, first.Text)
	}
}

func TestGenerate_tags(t *testing.T) {
	t.Parallel()
	r := request(content.Text{Value: "Give every photo tags."},
		content.Image{Name: "Photos/Harbour/red_boat-2024.jpg", Alt: "a fishing boat"}, content.Image{Name: "IMG_0042.png"})
	got, err := offline.New().Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"[[Photos/Harbour/red_boat-2024.jpg|red_boat-2024.jpg]]: #red #boat #fishing #harbour\n", "[[IMG_0042.png|IMG_0042.png]]: no words", "1. `Photos/Harbour/red_boat-2024.jpg`: a fishing boat\n"} {
		if !strings.Contains(got.Text, want) {
			t.Errorf("the answer lacks %q:\n%s", want, got.Text)
		}
	}
}

func TestGenerate_digestNamesEachInput(t *testing.T) {
	t.Parallel()
	r := request(content.Text{Value: "Sum up.\n<doc path=\"a.md\">\nFirst note says this. And more.\n</doc>\n<doc path=\"b.md\">\n| a | table |\n> Second note quotes that.\n</doc>"})
	got, err := offline.New().Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "- `a.md`\n  - First note says this.\n- `b.md`\n  - Second note quotes that.\n"; !strings.Contains(got.Text, want) {
		t.Errorf("the answer lacks %q:\n%s", want, got.Text)
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
	if !strings.Contains(got.Text, "1. `there.png`") || strings.Contains(got.Text, "`gone.png`") {
		t.Errorf("want the one picture that is there:\n%s", got.Text)
	}
}

func TestGenerate_everyHeadingCountsWhenLevelsDiffer(t *testing.T) {
	t.Parallel()
	r := request(content.Text{Value: "List the contents.\n<doc path=\"a.md\">\n# Title\n## Only part\n</doc>"})
	got, err := offline.New().Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "## Chapters\n\n- Title\n- Only part\n"; !strings.Contains(got.Text, want) {
		t.Errorf("the answer lacks %q:\n%s", want, got.Text)
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
