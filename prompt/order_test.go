package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
)

// ordered is the note of the acceptance criterion.
const ordered = "[fig]: <third.png> \"drawing\"\n\nBegin.\n\n![[Pasted image 1.png]]\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n![a](<my pic.png>)\n\n" +
	"```md\n![[x.png]]\n```\n\n![the figure][fig]\n\nAgain:\n\n![[Pasted image 1.png]]"

var orderedVault = vaultFiles{
	"note.md": ordered, "assets/Pasted image 1.png": "image 640x480 png 9000", "my pic.png": "image 640x480 png 9001",
	"third.png": "image 640x480 png 9002", "x.png": "image 640x480 png 9003",
}

func TestOrder_chunks(t *testing.T) {
	t.Parallel()
	var got []string
	for _, c := range chunking.Split([]byte(ordered)) {
		got = append(got, string(c.Kind))
	}
	want := strings.Fields("text image text image text image text image")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOrder_blocks(t *testing.T) {
	t.Parallel()
	p := build(t, orderedVault, spec(input(t, "file: note.md (images=auto)")))
	want := []string{
		"text [fig]: <third.png> \"drawing\"\n\nBegin.\n\n",
		"image assets/Pasted image 1.png",
		"text \n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n",
		"image my pic.png",
		"text \n\n```md\n![[x.png]]\n```\n\n",
		"image third.png",
		"text \n\nAgain:\n\n",
		"marker [image 4: same picture as image 1]",
	}
	if diff := cmp.Diff(want, shapes(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var fates []policy.Fate
	for _, l := range p.Receipt.Chunks {
		fates = append(fates, l.Fate)
	}
	sent := policy.Sent
	if diff := cmp.Diff([]policy.Fate{sent, sent, sent, sent, sent, sent, sent, policy.Deduplicated}, fates); diff != "" {
		t.Errorf("receipt (-want +got):\n%s", diff)
	}
}

func many(n int) (vaultFiles, string) {
	v := vaultFiles{}
	var b strings.Builder
	for i := 1; i <= n; i++ {
		v[fmt.Sprintf("p%02d.png", i)] = fmt.Sprintf("image 640x480 png %d", 1000+i)
		fmt.Fprintf(&b, "Page %d\n\n![[p%02d.png]]\n\n", i, i)
	}
	v["note.md"] = b.String()
	return v, b.String()
}

func TestBudget_25ImagesOf20(t *testing.T) {
	t.Parallel()
	v, _ := many(25)
	p := build(t, v, spec(input(t, "file: note.md")))
	attached, last := 0, ""
	for _, b := range p.Blocks {
		switch b := b.(type) {
		case content.Text:
			last = b.Value
		case content.Image:
			attached++
			if want := fmt.Sprintf("[image %d: p%02d.png, 640x480, %s, %s, sha256 %.12s]\n", attached, attached, b.MediaType, content.FormatSize(b.Size), b.SHA256); last != want || b.Name != fmt.Sprintf("p%02d.png", attached) {
				t.Errorf("image %s stands behind %q, want %q", b.Name, last, want)
			}
		}
	}
	if attached != 20 {
		t.Errorf("%d images attached, want 20", attached)
	}
	text := prompt.Text(p)
	for i := 21; i <= 25; i++ {
		want := fmt.Sprintf("Page %d\n\n[image %d: p%02d.png, 640x480, deferred as c%d: max_images 20 reached]\n", i, i, i, 2*i)
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the prompt", want)
		}
	}
	r := p.Receipt
	if n := references(r); n != 25 || r.Totals.References != 25 || r.Totals.Sent != 20 || r.Totals.Deferred != 5 || len(r.Left()) != 5 {
		t.Errorf("%d reference lines, totals %+v, %d left; want 25, 20 sent, 5 deferred", n, r.Totals, len(r.Left()))
	}
	if got := r.Limits[0]; got != (prompt.Limit{Key: "max_images", Value: 20, Used: 20, From: "default"}) {
		t.Errorf("limit: %+v", got)
	}
	if strings.Contains(text, "IMAGE_REFS") {
		t.Errorf("what is left is said twice:\n%s", text[len(text)-800:])
	}
}

func TestVision_textOnlyModel(t *testing.T) {
	t.Parallel()
	s := spec(input(t, "file: note.md"), input(t, "file: third.png"))
	s.Caps = blind
	b := orderedVault.builder()
	b.Fallbacks = func(name string) string {
		if name == "my pic.png" {
			return "TOTAL 12.50\n"
		}
		return ""
	}
	p, err := b.Build(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range p.Blocks {
		if block.Type() != content.TypeText {
			t.Errorf("a text-only model gets %s %s", block.Type(), block.Text())
		}
	}
	if len(p.Receipt.Warnings) != 1 || !strings.Contains(p.Receipt.Warnings[0].Message, "no vision") {
		t.Errorf("warnings %+v, want one about vision", p.Receipt.Warnings)
	}
	if text := prompt.Text(p); !strings.Contains(text, "[image 2: my pic.png, 640x480, alt \"a\"; this model cannot see images, the text in it is:]\nTOTAL 12.50\n[end of the text of image 2]\n") {
		t.Errorf("no recognised text:\n%s", text)
	}
}

func TestVision_ignoreAttachesNothing(t *testing.T) {
	t.Parallel()
	v := vaultFiles{"note.md": ordered + " and ![[gone.png]]\n", "my pic.png": "image 640x480 png 1"}
	p := build(t, v, spec(input(t, "file: note.md (images=ignore)"), input(t, "file: my pic.png (images=ignore)")))
	for _, block := range p.Blocks {
		if block.Type() == content.TypeImage {
			t.Errorf("attached %s", block.Text())
		}
	}
	if len(p.Receipt.Warnings) > 0 {
		t.Errorf("warnings %+v, want none", p.Receipt.Warnings)
	}
	if text := prompt.Text(p); !strings.Contains(text, "Begin.\n\n![[Pasted image 1.png]]\n\n| a | b |") {
		t.Errorf("references are not as written:\n%s", text)
	}
	if p.Receipt.Totals.References != 6 || p.Receipt.Totals.Sent != 0 {
		t.Errorf("totals %+v", p.Receipt.Totals)
	}
}

func TestVision_requiredIsAnErrorBeforeAnyCall(t *testing.T) {
	t.Parallel()
	s := spec(input(t, "file: note.md (images=required)"))
	s.Caps = blind
	if p, err := orderedVault.builder().Build(t.Context(), s); err == nil {
		t.Errorf("got %v, want an error", p)
	}
}

// White space between pictures and comments is kept too, though no block is made of it alone.
func TestOrder_blanksAreKept(t *testing.T) {
	t.Parallel()
	v := vaultFiles{"n.md": "x\n![[a.png]] %%c%%\n\n%%d%%\t![[b.png]]\n", "a.png": "image 640x480 png 1", "b.png": "image 640x480 png 2"}
	want := "x\n[image 1: a.png, 640x480, image/png, 1 byte, sha256 de3c675b4958]\n \n\n\t\n[image 2: b.png, 640x480, image/png, 2 bytes, sha256 9169cf1a110e]\n\n</input-f00d>\n"
	var all strings.Builder
	for _, b := range build(t, v, spec(input(t, "file: n.md"))).Blocks {
		if b.Type() == content.TypeText {
			all.WriteString(b.Text())
		}
	}
	if !strings.HasSuffix(all.String(), want) {
		t.Errorf("got %q, want it to end with %q", all.String(), want)
	}
}

// Lines of our own that are longer than was thought do not pass the budget either: the prompt is made again.
func TestBudget_longMarkers(t *testing.T) {
	t.Parallel()
	v := vaultFiles{}
	var note strings.Builder
	for i := range 40 {
		v["assets/"+strings.Repeat("ж", 150)+fmt.Sprint(i)+".png"] = "image 640x480 png 1"
		fmt.Fprintf(&note, "![[%s%d]] ![[жжж%d.png]]\n", strings.Repeat("ж", 140), i, i)
	}
	v["n.md"] = note.String()
	for tokens := 400; tokens < 9000; tokens += 123 {
		s := spec(input(t, "file: n.md"))
		s.Bounds.MaxPromptTokens = tokens
		p := build(t, v, s)
		if got := p.Receipt.Totals.Tokens; got > tokens {
			t.Errorf("%d tokens of %d", got, tokens)
		}
	}
}
