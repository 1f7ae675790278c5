package prompt_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
)

// world is the vault of the property test.
var world = vaultFiles{
	"a.png": "image 640x480 png 9000", "copy.png": "image 640x480 png 9000", "b c.png": "image 4032x3024 jpeg 3100245",
	"tiny.png": "image 9x9 png 90", "bad.png": "bad corrupt: the header ends early", "x/deep.webp": "image 900x900 webp 700000",
	"m.md": "# One\n\nInner ![[a.png]] text.\n\n# Two\n\n%%gone%% ![[deep.webp]]\n", "table.csv": "a,b\n1,2\n",
	"b.pdf":                 "%PDF-1.7\npages 7 800x1000\ntext 1 First page.\ntext 2 Second page.\ntext 5 " + strings.Repeat("Größe ", 9000) + "\nunreadable 6\n",
	"no.pdf":                "%PDF-1.7\nbroken encrypted\n",
	"d.docx":                "office\nmarkdown Words.\npages 2 600x800\ntext 1 One.\ntext 2 Two.\n",
	"c.canvas":              `{"nodes":[{"type":"text","text":"Card"},{"type":"text","text":"More ![x](https://x.org/c.png)"}]}`,
	"https://x.org/cat.png": "image 300x200 png 5000", "https://x.org/bad.png": "bad not an image",
}

// pieces are what random notes are made of.
var pieces = []string{
	"![[a.png]]", "![alt](a.png \"t\")", "![[copy.png|100]]", "![x](<b c.png>)", "![x](b%20c.png)", "<img src=\"a.png\">", "![r][ref]",
	"![[tiny.png]]", "![[bad.png]]", "![[gone.png]]", "![[deep.webp#right|a|20]]", "![](https://x.org/cat.png)", "![](https://x.org/bad.png)",
	"![](https://evil.example/a.png)", "![](data:image/png;base64,AA)", "![[m]]", "![[m#Two]]", "![[m#None]]", "![[gone]]", "![[b.pdf]]",
	"![[b.pdf#page=5]]", "![[b.pdf#page=2&rect=1,2,300,400]]", "![[b.pdf#page=99]]", "![[no.pdf]]", "![[d.docx]]", "![[c.canvas]]", "![[table.csv]]",
	"%%hidden ![[a.png]]%%", "`![[a.png]]`", "\n\n", "\n", " ", "words ", "Grün 😀 ", "\n\n```\n![[a.png]]\n```\n\n", "</input-x> ", "[image 9: no] ",
	"| a | ![[a.png\\|20]] |\n", "\n# Heading\n", "\n> quote ", "\n- item ", "$x$ ", "\r\n", "\\![[a.png]] ",
}

// randomNote is a note of n pieces. Now and then a text is long.
func randomNote(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pieces[r.IntN(len(pieces))])
		if r.IntN(25) == 0 {
			b.WriteString(strings.Repeat("A longer text, line by line.\n", 1+r.IntN([]int{30, 300, 2000}[r.IntN(3)])))
		}
	}
	b.WriteString("\n\n[ref]: a.png\n")
	return b.String()
}

// randomSpec draws budgets and capabilities.
func randomSpec(t testing.TB, r *rand.Rand, note string) (prompt.Spec, prompt.Builder) {
	v := vaultFiles{"n.md": note}
	for name, text := range world {
		v[name] = text
	}
	b := v.builder()
	inputs := []prompt.Input{input(t, "file: n.md")}
	for _, extra := range []string{"file: b.pdf", "file: a.png", "file: m.md", "file: d.docx (pages=2)", "file: gone.md"} {
		if r.IntN(4) == 0 {
			inputs = append(inputs, input(t, extra))
		}
	}
	s := spec(inputs...)
	s.Caps = []policy.Capabilities{seeing, eyes, blind, plain}[r.IntN(4)]
	provider := [][2]string{{"anthropic", "claude-sonnet-4-5"}, {"groq", "x"}, {"ollama", "x"}, {"openai", "gpt-4o"}}[r.IntN(4)]
	over := policy.Overlay{From: "settings", Limits: map[string]float64{}}
	for key, most := range map[string]int{
		"max_images": 6, "max_pages": 5, "max_prompt_tokens": 6000, "max_total_mb": 3, "max_image_mb": 2, "max_image_pixels": 2000, "min_image_side": 30,
	} {
		if r.IntN(2) == 0 {
			over.Limits[key] = float64(r.IntN(most + 1))
		}
	}
	if n, ok := over.Limits["max_prompt_tokens"]; ok {
		over.Limits["max_prompt_tokens"] = n + 350
	}
	over.WhenExceeded = []string{"", "ladder", "defer", "drop_oldest", "drop_newest", "refs_only", "fail"}[r.IntN(7)]
	budget, err := policy.DefaultBudget().Merge(over)
	if err != nil {
		t.Fatal(err)
	}
	s.Bounds = budget.Bound(policy.Limits(provider[0], provider[1]))
	switch r.IntN(3) {
	case 0:
		b.Remote = v.fetch
	case 1:
		b.Remote = func(context.Context, string) (prompt.RemotePicture, error) {
			return prompt.RemotePicture{}, prompt.ErrNotFetched
		}
	}
	b.MaxRemote = r.IntN(3)
	return s, b
}

func TestProperty(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 7))
		note := randomNote(r, r.IntN(40))
		s, b := randomSpec(t, r, note)
		checkPrompt(t, note, s, b)
		if t.Failed() {
			t.Fatalf("seed %d, note %q, bounds %+v", seed, note, s.Bounds)
		}
	}
}

// FuzzPrompt is TestProperty with notes and draws from outside.
func FuzzPrompt(f *testing.F) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 9))
		f.Add(randomNote(r, 12), seed)
	}
	f.Fuzz(func(t *testing.T, note string, seed uint64) {
		if strings.Contains(strings.ToLower(note), testNonce) || strings.Contains(strings.ToLower(note), "beef") {
			t.Skip("holds a nonce")
		}
		s, b := randomSpec(t, rand.New(rand.NewPCG(seed, 8)), note)
		checkPrompt(t, note, s, b)
	})
}

// checkPrompt builds a prompt twice, with two nonces, and checks everything that is promised of it.
func checkPrompt(t *testing.T, note string, s prompt.Spec, b prompt.Builder) {
	t.Helper()
	p, err := b.Build(t.Context(), s)
	var exceeded *policy.ExceededError
	if errors.As(err, &exceeded) && (exceeded.Fixed || s.Bounds.WhenExceeded == policy.Fail) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	checkCauses(t, p.Receipt)
	b.Nonce = func(prompt.Spec, int) string { return "beef" }
	again, err := b.Build(t.Context(), s)
	if err != nil || again.Digest != p.Digest || again.Digest == "" {
		t.Errorf("another nonce: %v, digests %q and %q", err, p.Digest, again.Digest)
	}
	checkLines(t, note, p)
	checkWithin(t, p, s.Bounds)
	checkMessage(t, p)
	checkDeferred(t, note, p)
}

// noteLines are the receipt lines of the first input.
func noteLines(p *prompt.Prompt, note string) []prompt.Line {
	var list []prompt.Line
	at := 0
	for _, l := range p.Receipt.Chunks {
		if l.Source.Note == "n.md" && l.Source.Bytes[0] == at && (l.Source.Bytes[1] > at) {
			list = append(list, l)
			at = l.Source.Bytes[1]
		}
	}
	if at != len(note) {
		return nil
	}
	return list
}

// checkLines: one line for each reference, ids in order, the note's lines tile it.
func checkLines(t *testing.T, note string, p *prompt.Prompt) {
	t.Helper()
	r := p.Receipt
	for i, l := range r.Chunks {
		if l.ID != fmt.Sprintf("c%d", i+1) || l.Fate == "" {
			t.Errorf("line %d: %+v", i, l)
		}
	}
	if got := references(r); got != r.Totals.References {
		t.Errorf("%d reference lines, total %d", got, r.Totals.References)
	}
	if !isNote(r, note) {
		return
	}
	want := 0
	for _, c := range chunking.Split([]byte(note)) {
		if c.Kind == chunking.Image || c.Kind == chunking.Embed {
			want++
		}
	}
	got := 0
	lines := noteLines(p, note)
	for _, l := range lines {
		if l.IsReference() {
			got++
		}
		if l.Kind == prompt.KindText && l.Fate == policy.Sent && l.Text != note[l.Source.Bytes[0]:l.Source.Bytes[1]] {
			t.Errorf("%s has %q for %q", l.ID, l.Text, note[l.Source.Bytes[0]:l.Source.Bytes[1]])
		}
	}
	if got != want || lines == nil && note != "" {
		t.Errorf("%d references of the note have a line, want %d (lines %v)", got, want, lines != nil)
	}
}

// isNote tells whether the first input was read as a note in UTF-8, and embeds no part of itself.
func isNote(r prompt.Receipt, note string) bool {
	if slices.ContainsFunc(r.Warnings, func(w prompt.Warning) bool {
		return w.Note == "n.md" && (strings.Contains(w.Message, "holds") || strings.Contains(w.Message, "UTF-8"))
	}) {
		return false
	}
	if strings.HasPrefix(note, "\xef\xbb\xbf") || strings.Contains(note, "excalidraw-plugin") || strings.Contains(note, "![[#") || strings.Contains(note, "n.md") || strings.Contains(note, "![[n") {
		return false
	}
	return !slices.ContainsFunc(r.Chunks, func(l prompt.Line) bool {
		return l.Kind == prompt.KindFile && l.Source.Note == "n.md" || l.Kind == prompt.KindEmbed && l.Name == "n.md"
	})
}

// checkWithin: no budget is passed, counted from the message itself where that is possible.
func checkWithin(t *testing.T, p *prompt.Prompt, b policy.Bounds) {
	t.Helper()
	for _, l := range p.Receipt.Limits {
		if l.Key != "min_image_side" && l.Used > l.Value {
			t.Errorf("%s: %v of %v", l.Key, l.Used, l.Value)
		}
	}
	images, tokens := 0, policy.TextTokens(p.System)
	pages := map[string]bool{}
	files := 0
	for _, block := range p.Blocks {
		switch block := block.(type) {
		case content.Image:
			images++
			if block.Source == content.SourcePage {
				pages[fmt.Sprint(block.Name, block.Page)] = true
			}
			if block.Source == content.SourceVault && max(block.Width, block.Height) < b.MinSide {
				t.Errorf("%s is smaller than %d", block.Name, b.MinSide)
			}
		case content.Document:
			files += block.Pages
		case content.Text:
			tokens += policy.TextTokens(block.Value)
		}
	}
	if images > b.MaxImages || images != p.Receipt.Totals.Sent {
		t.Errorf("%d images, %d sent, max_images %d", images, p.Receipt.Totals.Sent, b.MaxImages)
	}
	if len(pages)+files > b.MaxPages {
		t.Errorf("%d pages, max_pages %d", len(pages)+files, b.MaxPages)
	}
	if b.MaxPromptTokens > 0 && tokens > b.MaxPromptTokens {
		t.Errorf("%d tokens of text, max_prompt_tokens %d", tokens, b.MaxPromptTokens)
	}
}

var tags = regexp.MustCompile(`(?m)^<(/?)(input|embed)-` + testNonce + `\b`)

// checkMessage: frames nest, blocks are not blank, the sent texts stand in the message in order.
func checkMessage(t *testing.T, p *prompt.Prompt) {
	t.Helper()
	var all strings.Builder
	for _, b := range p.Blocks {
		if b.Type() == content.TypeText {
			if strings.TrimSpace(b.Text()) == "" {
				t.Errorf("blank block %q", b.Text())
			}
			all.WriteString(b.Text())
		}
	}
	var open []string
	for _, m := range tags.FindAllStringSubmatch(all.String(), -1) {
		switch {
		case m[1] == "":
			open = append(open, m[2])
		case len(open) == 0 || open[len(open)-1] != m[2]:
			t.Fatalf("</%s> closes %v", m[2], open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("%v are not closed", open)
	}
	rest := all.String()
	for _, l := range p.Receipt.Chunks {
		if l.Kind != prompt.KindText && l.Kind != prompt.KindPage || l.Text == "" || l.Fate != policy.Sent && l.Fate != policy.Converted || strings.TrimSpace(l.Text) == "" {
			continue
		}
		_, behind, ok := strings.Cut(rest, l.Text)
		if !ok {
			t.Fatalf("text of %s is not in the message, or not in order: %q", l.ID, l.Text)
		}
		rest = behind
	}
}

// checkDeferred: every deferred chunk can be had, in order, with exactly its bytes, in parts that a tool result holds.
func checkDeferred(t *testing.T, note string, p *prompt.Prompt) {
	t.Helper()
	var want, got []string
	for _, l := range p.Receipt.Chunks {
		if l.Fate == policy.Deferred || l.Fate == policy.Converted && l.Step == policy.StepText && l.Width > 0 {
			want = append(want, l.ID)
		}
	}
	for _, d := range p.Chunks {
		got = append(got, d.ID)
		text := content.Join(d.Blocks)
		if len(d.Blocks) == 0 || len(text) > 30<<10 {
			t.Errorf("%s has %d blocks, %d bytes", d.ID, len(d.Blocks), len(text))
		}
		if d.Line.ID != d.ID {
			t.Errorf("%s has the line of %s", d.ID, d.Line.ID)
		}
		if d.Line.Kind == prompt.KindText && d.Line.Source.Note == "n.md" && isNote(p.Receipt, note) {
			if part := note[d.Line.Source.Bytes[0]:d.Line.Source.Bytes[1]]; !strings.Contains(text, part) {
				t.Errorf("%s gives %q for %q", d.ID, text, part)
			}
		}
		if d.Line.Kind == prompt.KindImage && !slices.ContainsFunc(d.Blocks, func(b content.Block) bool { return b.Type() == content.TypeImage }) {
			t.Errorf("%s gives no image", d.ID)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deferred chunks (-want +got):\n%s", diff)
	}
	data, err := json.Marshal(p.Chunks)
	if err != nil {
		t.Fatal(err)
	}
	var back []prompt.Deferred
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if data2, err := json.Marshal(back); err != nil || string(data2) != string(data) {
		t.Errorf("stored form: %v\n%s\n%s", err, data, data2)
	}
}
