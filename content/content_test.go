package content_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
)

func TestText_everyBlockHasAFallback(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		block content.Block
		want  string
	}{
		{"text", content.Text{Value: " as\nwritten "}, " as\nwritten "},
		{"image", content.Image{Name: "a/b.png", MediaType: "image/png", Width: 640, Height: 480, Size: 25 << 10}, "[image: a/b.png, 640x480, 25 KB, png]"},
		{"image of unknown size", content.Image{Name: "b.png"}, "[image: b.png]"},
		{"image with words", content.Image{Name: "b.png", Fallback: "Total 12"}, "Total 12"},
		{"a name cannot add a line", content.Image{Name: "b\n]\u2028x.png"}, "[image: b ] x.png]"},
		{"document", content.Document{Name: "q3.pdf", Pages: 12, Size: 1_258_291}, "[document: q3.pdf, 12 pages, 1.2 MB]"},
		{"one page", content.Document{Name: "q3.pdf", Pages: 1}, "[document: q3.pdf, 1 page]"},
		{"range", content.Document{Name: "q3.pdf", Pages: 12, PageRange: "2-4"}, "[document: q3.pdf, pages 2-4]"},
		{"document that was read", content.Document{Name: "q3.pdf", Extracted: "words"}, "words"},
		{"words of blanks alone", content.Document{Name: "q3.pdf", Pages: 1, Extracted: " \n"}, "[document: q3.pdf, 1 page]"},
		{"a fallback of blanks alone", content.Image{Name: "b.png", Fallback: "\n"}, "[image: b.png]"},
		{"audio", content.Audio{Name: "a.mp3", MediaType: "audio/mpeg", Size: 2_411_725}, "[audio: a.mp3, 2.3 MB, mp3]"},
		{"audio with a length", content.Audio{Name: "a.wav", MediaType: "audio/wav", Seconds: 3725.4}, "[audio: a.wav, 1:02:05, wav]"},
		{"audio with words", content.Audio{Name: "a.mp3", Fallback: "what is said"}, "what is said"},
		{"video", content.Video{Name: "v\n.mov", MediaType: "video/quicktime", Seconds: 61, Size: 25 << 10}, "[video: v .mov, 1:01, 25 KB, mov]"},
		{"video with blanks", content.Video{Name: "v.mp4", Fallback: " "}, "[video: v.mp4]"},
		{"thinking", content.Thinking{Value: "hm"}, ""},
		{"tool call", content.ToolCall{Name: "read", Input: json.RawMessage(`{"a":1}`)}, `[tool call: read {"a":1}]`},
		{"tool result", content.ToolResult{Output: "out", Blocks: []content.Block{content.Image{Name: "p.png"}}, Error: "late"}, "error: late\n\nout\n\n[image: p.png]"},
		{"tool result of data alone", content.ToolResult{Success: true, Data: json.RawMessage(`{"n":1}`)}, `{"n":1}`},
		{"data beside an output", content.ToolResult{Success: true, Output: "one", Data: json.RawMessage(`{"n":1}`)}, "one"},
	} {
		if got := c.block.Text(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestBlocks_roundTrip(t *testing.T) {
	t.Parallel()
	blocks := []content.Block{
		content.Text{Value: "a <b> & \"c\""},
		content.Image{Name: "a.png", MediaType: "image/png", Width: 3, Height: 4, Size: 5, SHA256: "ab", Source: content.SourceBlob, Alt: "x", Fallback: "y"},
		content.Document{Name: "d.pdf", MediaType: "application/pdf", Pages: 2, PageRange: "1", Size: 9, SHA256: "cd", Extracted: "t"},
		content.Audio{Name: "a.mp3", MediaType: "audio/mpeg", Seconds: 1.5, Size: 7, SHA256: "ef", Source: content.SourceBlob, Fallback: "f"},
		content.Video{Name: "v.mp4", MediaType: "video/mp4", Seconds: 2, Size: 8, SHA256: "01", Fallback: "g"},
		content.Thinking{Value: "v", Signature: "s", Redacted: "r"},
		content.ToolCall{ID: "1", Name: "n", Input: json.RawMessage(`{"big":12345678901234567890}`)},
		content.ToolResult{
			CallID: "1", Success: true, Output: "o", Data: json.RawMessage(`{"n":12345678901234567890}`),
			Blocks: []content.Block{content.Text{Value: "in"}, content.Image{Name: "z.png"}}, FilesChanged: []string{"a.md"}, Error: "e",
		},
		content.ToolResult{CallID: "2"},
	}
	data, err := content.MarshalBlocks(blocks)
	if err != nil {
		t.Fatal(err)
	}
	got, err := content.UnmarshalBlocks(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(blocks, got); diff != "" {
		t.Errorf("round trip (-want +got):\n%s", diff)
	}
	if want := `[{"type":"text","text":"a`; !strings.HasPrefix(string(data), want) {
		t.Errorf("stored form starts %.60s, want %s", data, want)
	}
}

func TestUnmarshalBlocks_unknownTypeBecomesText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{`{"type":"model","fallback":"a chair","name":"v.stl"}`, "a chair"},
		{`{"type":"citation","text":"quoted"}`, "quoted"},
		{`{"type":"model","name":"v.stl"}`, "[model: v.stl]"},
		{`{"type":"sound","text":7}`, "[sound]"},
	} {
		got, err := content.UnmarshalBlocks([]byte("[" + c.in + "]"))
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if diff := cmp.Diff([]content.Block{content.Text{Value: c.want}}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.in, diff)
		}
	}
}

func TestUnmarshalBlocks_refusesWhatIsNoBlock(t *testing.T) {
	t.Parallel()
	for _, in := range []string{``, `{}`, `[1]`, `[{}]`, `[{"type":"image","width":"x"}]`, `[{"type":"tool_result","blocks":[{}]}]`} {
		if got, err := content.UnmarshalBlocks([]byte(in)); err == nil {
			t.Errorf("%s: got %v, want an error", in, got)
		}
	}
}

func TestMarshalBlocks_holdsNoBase64(t *testing.T) {
	t.Parallel()
	picture := base64.StdEncoding.EncodeToString(make([]byte, 3<<20))
	data, err := content.MarshalBlocks([]content.Block{content.ToolResult{
		CallID: "1", Success: true,
		Data:   json.RawMessage(fmt.Sprintf(`{"keep":[1.50,"word"],"uri":"data:image/png;base64,%s","raw":[{"bytes":%q}]}`, picture, picture)),
		Blocks: []content.Block{content.Image{Name: "p.png", Size: 3 << 20, SHA256: strings.Repeat("a", 64)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > 10<<10 {
		t.Errorf("stored form has %d bytes, want below 10 KB", len(data))
	}
	if !strings.Contains(string(data), `"keep":[1.50,"word"]`) {
		t.Errorf("other data changed: %s", data)
	}
}

func TestToolResult_textIsCut(t *testing.T) {
	t.Parallel()
	got := content.ToolResult{Output: strings.Repeat("é", 40_000)}.Text()
	if len(got) > content.MaxToolText || !utf8.ValidString(got) || !strings.HasSuffix(got, "[cut: 78 KB in all]") {
		t.Errorf("got %d bytes, valid %v, end %q", len(got), utf8.ValidString(got), got[len(got)-30:])
	}
}

func TestFormatSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1 KB", 1<<20 - 1: "1023 KB", 1 << 20: "1.0 MB", 3 << 30: "3.0 GB"} {
		if got := content.FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %q, want %q", n, got, want)
		}
	}
}

func Example() {
	stored, _ := content.MarshalBlocks([]content.Block{ // the error is impossible here
		content.Text{Value: "Look:"},
		content.Image{Name: "photos/tree.png", MediaType: "image/png", Width: 640, Height: 480, Size: 25_600},
	})
	blocks, _ := content.UnmarshalBlocks(stored)
	fmt.Println(content.Join(blocks))
	// Output:
	// Look:
	//
	// [image: photos/tree.png, 640x480, 25 KB, png]
}
