package prompt_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/vault"
)

// bigNote is 20 MB of text with 2,000 images in it.
func bigNote() string {
	var b strings.Builder
	line := "A line of prose in a very large note, with a [[link]] and some *emphasis* in it.\n"
	for i := range 2000 {
		fmt.Fprintf(&b, "## Part %d\n\n![[p%d.png|the page]]\n\n", i, i)
		for range 130 {
			b.WriteString(line)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// bigBuilder counts how many pictures are looked at.
func bigBuilder(looks *int) prompt.Builder {
	v := vaultFiles{"n.md": bigNote()}
	b := v.builder()
	b.Links = vault.LinksFunc(func(target, _ string) vault.Location { return vault.Location{Name: "assets/" + target, Found: true} })
	b.Probe = func(name string) (prompt.Picture, error) {
		*looks++
		return prompt.Picture{MediaType: "image/png", Width: 800, Height: 600, Size: 90000, SHA256: name}, nil
	}
	return b
}

func TestBig_aNoteOf20MB(t *testing.T) {
	t.Parallel()
	looks := 0
	p, err := bigBuilder(&looks).Build(t.Context(), spec(input(t, "file: n.md")))
	if err != nil {
		t.Fatal(err)
	}
	r := p.Receipt
	if r.Totals.References != 2000 || references(r) != 2000 {
		t.Errorf("%d references, want 2000", r.Totals.References)
	}
	if r.Totals.Sent == 0 || r.Totals.Sent > 20 || r.Totals.Tokens > 160000 || r.Totals.Tokens < 150000 {
		t.Errorf("%d images and %d tokens are sent", r.Totals.Sent, r.Totals.Tokens)
	}
	if looks > 256 {
		t.Errorf("%d pictures were looked at", looks)
	}
	size := 0
	for _, l := range r.Chunks {
		size += l.Source.Bytes[1] - l.Source.Bytes[0]
	}
	if size < 20<<20 || len(p.Chunks) < 3000 {
		t.Errorf("lines cover %d bytes, %d chunks are deferred", size, len(p.Chunks))
	}
	for _, b := range p.Blocks {
		if len(b.Text()) > 64<<10 {
			t.Errorf("a block of %d bytes", len(b.Text()))
		}
	}
}

// One large file of plain text becomes many chunks, never one block.
func TestBig_plainText(t *testing.T) {
	t.Parallel()
	v := vaultFiles{"big.log": strings.Repeat("2026-11-21 12:00:00 something happened again\n", 100000)}
	s := spec(input(t, "file: big.log"))
	s.Bounds.MaxPromptTokens = 0
	p := build(t, v, s)
	if n := len(p.Receipt.Chunks); n < 60 {
		t.Errorf("%d chunks", n)
	}
	s.Bounds.MaxPromptTokens = 100000
	p = build(t, v, s)
	if p.Receipt.Totals.Tokens > 100000 || len(p.Chunks) < 100 {
		t.Errorf("%d tokens, %d deferred", p.Receipt.Totals.Tokens, len(p.Chunks))
	}
	if last := p.Receipt.Chunks[len(p.Receipt.Chunks)-1]; last.Fate != policy.Deferred || last.Source.Bytes[1] != len(v["big.log"]) {
		t.Errorf("last line %+v", last)
	}
}

func BenchmarkBuild_20MB(b *testing.B) {
	looks := 0
	builder := bigBuilder(&looks)
	s := spec(input(b, "file: n.md"))
	b.ReportAllocs()
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		p, err := builder.Build(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/(1<<20), "MB-allocated")
		runtime.KeepAlive(p)
	}
}

func BenchmarkBuild_100notes(b *testing.B) {
	v := vaultFiles{"a.png": "image 640x480 png 9000"}
	var inputs []prompt.Input
	for i := range 100 {
		name := fmt.Sprintf("n%d.md", i)
		v[name] = strings.Repeat("# Heading\n\nSome words and ![[a.png]] more.\n\n", 20)
		inputs = append(inputs, input(b, "file: "+name))
	}
	builder, s := v.builder(), spec(inputs...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := builder.Build(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
}
