package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/tools/allowance"
)

func textChunks(n, size int) []Chunk {
	var chunks []Chunk
	for i := range n {
		id := fmt.Sprintf("c%d", i+1)
		chunks = append(chunks, Chunk{ID: id, Blocks: []content.Block{content.Text{Value: strings.Repeat("x", size) + " end of " + id + "\n"}}})
	}
	return chunks
}

func run(t *testing.T, r *ChunkReader, input string) content.ToolResult {
	t.Helper()
	got := Registry{r.Tool()}.Run(t.Context(), content.ToolCall{ID: "id", Name: ReadChunks, Input: json.RawMessage(input)})
	if n := len(got.Text()); n > content.MaxToolText {
		t.Errorf("%s: a result of %d bytes, above %d", input, n, content.MaxToolText)
	}
	if got.CallID != "id" || got.Success != (got.Error == "") {
		t.Errorf("%s: %+v", input, got)
	}
	return got
}

func TestReadChunks_input(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"ids":["c3","c1"]}`: "c1 c3", `{"range":"c2-c4"}`: "c2 c3 c4", `{"ids":"c5"}`: "c5", `{"ids":["c1-c2","C4"]}`: "c1 c2 c4",
		`{"ids":["2"]}`: "c2", `{"ids":["c1, c2"]}`: "c1 c2", `{"ids":["c2","c2"]}`: "c2", `{"range":"c4–c9"}`: "c4 c5", `{"ids":["c1","c99"]}`: "c1",
	} {
		r := &ChunkReader{Chunks: textChunks(5, 10), Media: &allowance.Allowance{Result: 1, Step: 1}}
		got := run(t, r, input)
		if strings.Join(r.Shown(), " ") != want || !got.Success {
			t.Errorf("%s shows %v, want %s (%s)", input, r.Shown(), want, got.Error)
		}
		if strings.Contains(input, "c99") && !strings.Contains(got.Text(), "[not deferred: c99]") {
			t.Errorf("%s: %s", input, got.Text())
		}
	}
	for input, want := range map[string]string{
		`{}`: "name chunks", ``: "name chunks", `{"ids":[]}`: "name chunks", `{"ids":["c9"]}`: "there are: c1-c5", `{"ids":{}}`: "list of chunk ids", `{"range":5}`: "for example: {",
		`[1]`: "must be a JSON object", `{"ids":["c1","c2"],"from":5}`: "single chunk id", `{"ids":["c1"],"from":-1}`: "not be negative", `null`: "must be a JSON object",
		`{"range":"c4-c2"}`: "no deferred chunk matches",
	} {
		r := &ChunkReader{Chunks: textChunks(5, 10)}
		if got := run(t, r, input); !strings.Contains(got.Error, want) || len(r.Shown()) > 0 {
			t.Errorf("%s: %q, want an error with %q", input, got.Error, want)
		}
	}
}

// TestReadChunks_everythingCanBeRead asks on for what did not fit until everything was shown: no chunk is lost, none comes
// twice, each result keeps to its bounds.
func TestReadChunks_everythingCanBeRead(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 5000, 29000, 31000, 100000} {
		chunks := textChunks(12, size)
		var shown []string
		var all strings.Builder
		ask := `{"range":"c1-c12"}`
		for round := 0; len(shown) < len(chunks); round++ {
			if round > 100 {
				t.Fatalf("size %d: only %v after 100 rounds", size, shown)
			}
			r := &ChunkReader{Chunks: chunks, Media: &allowance.Allowance{Result: 1, Step: 1}}
			got := run(t, r, ask)
			text := got.Text()
			shown = append(shown, r.Shown()...)
			all.WriteString(text)
			if _, after, goesOn := strings.Cut(text, ": call again with from="); goesOn {
				from, _, _ := strings.Cut(after, ",")
				ask = fmt.Sprintf(`{"ids":["c%d"],"from":%s}`, len(shown)+1, from)
				continue
			}
			ask = fmt.Sprintf(`{"range":"c%d-c12"}`, len(shown)+1)
		}
		for i := range chunks {
			if n := strings.Count(all.String(), fmt.Sprintf(" end of c%d\n", i+1)); n != 1 {
				t.Errorf("size %d: the end of c%d was read %d times", size, i+1, n)
			}
		}
		if n := strings.Count(all.String(), "x"); n != size*len(chunks) {
			t.Errorf("size %d: %d characters were read, want %d", size, n, size*len(chunks))
		}
	}
}

func TestReadChunks_pictures(t *testing.T) {
	t.Parallel()
	var chunks []Chunk
	for i := range 10 {
		chunks = append(chunks, Chunk{ID: fmt.Sprintf("c%d", i+1), Blocks: []content.Block{content.Text{Value: fmt.Sprintf("[image %d]\n", i+1)}, content.Image{Name: fmt.Sprintf("%d.png", i)}}})
	}
	r := &ChunkReader{Chunks: chunks, Media: &allowance.Allowance{Result: 4, Step: 6}}
	got := run(t, r, `{"range":"c1-c10"}`)
	if r.Media.Given() != 4 || !strings.Contains(got.Text(), "no room in this result for c5-c10") {
		t.Errorf("%d pictures, %s", r.Media.Given(), got.Text())
	}
	got = run(t, r, `{"range":"c5-c10"}`)
	if r.Media.Given() != 6 || !strings.Contains(got.Text(), "c7 is not shown") || !slices.Equal(r.Shown(), []string{"c1", "c2", "c3", "c4", "c5", "c6"}) {
		t.Errorf("%d pictures, shown %v, %s", r.Media.Given(), r.Shown(), got.Text())
	}
	// The order of text and pictures is the prompt's.
	var order []string
	for _, b := range got.Blocks {
		if image, ok := b.(content.Image); ok {
			order = append(order, image.Name)
		} else if strings.HasPrefix(b.Text(), "[image") {
			order = append(order, strings.TrimSpace(b.Text()))
		}
	}
	if want := []string{"[image 5]", "4.png", "[image 6]", "5.png"}; !slices.Equal(order, want) {
		t.Errorf("blocks %v, want %v", order, want)
	}
}

func TestRanges(t *testing.T) {
	t.Parallel()
	for want, ids := range map[string][]string{
		"": nil, "c1": {"c1"}, "c1, c2": {"c1", "c2"}, "c1-c3, c5": {"c1", "c2", "c3", "c5"}, "x, y": {"x", "y"},
	} {
		if got := Ranges(ids); got != want {
			t.Errorf("Ranges(%v) = %q, want %q", ids, got, want)
		}
	}
}

func FuzzReadChunks(f *testing.F) {
	for _, seed := range []string{`{"ids":["c3"]}`, `{"range":"c2-c4"}`, `{"from":-1,"ids":"c1"}`, `{"range":"c-"}`, `{"ids":["c1"],"from":9999999999}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		r := &ChunkReader{Chunks: append(textChunks(3, 20), textChunks(1, 40000)...), Media: &allowance.Allowance{Result: 1, Step: 1}}
		run(t, r, input)
	})
}
