package rewrite_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/rewrite"
	"github.com/vaultflow/vaultflow/policy"
)

// randomTalk is a request of any shape that the engine makes: a prompt, exchanges with tools, repairs of an answer.
func randomTalk(r *rand.Rand) llm.Request {
	request := prompt(album(r.IntN(3), 300, 300)...)
	request.Tools = []llm.Tool{{Name: "look"}, {Name: "read_file"}}
	for i := range r.IntN(9) {
		if r.IntN(6) == 0 {
			request.Messages = append(
				request.Messages, llm.Message{Role: llm.Assistant, Blocks: []content.Block{words(strings.Repeat("said ", r.IntN(300)))}},
				llm.Message{Role: llm.User, Blocks: []content.Block{words("again")}},
			)
			continue
		}
		result := content.ToolResult{Output: strings.Repeat("words ", r.IntN(600))}
		for j := range r.IntN(3) {
			result.Blocks = append(result.Blocks, picture(i*10+j, 1+r.IntN(1200), 1+r.IntN(1200)), words(strings.Repeat("label ", r.IntN(20))))
		}
		if r.IntN(4) == 0 {
			result.Data = json.RawMessage(fmt.Sprintf(`{"artifact_ref":"art_%d","source_url":"https://e.org/a\nb"}`, i))
		}
		request.Messages = append(request.Messages, exchange(i, result)...)
	}
	return request
}

// TestWithin_properties: what is left fits or holds nothing more that may go; things go in their order, the oldest first;
// calls keep their results; what must stay is as it was; and doing it again changes nothing.
func TestWithin_properties(t *testing.T) {
	t.Parallel()
	meter := llm.Meter{Formula: policy.FormulaAnthropic}
	shapes := map[string]int{}
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 7))
		request := randomTalk(r)
		before, err := json.Marshal(request.Messages)
		if err != nil {
			t.Fatal(err)
		}
		size := meter.Measure(request).Tokens
		bound := r.IntN(size + 100)
		got, evicted := rewrite.Within(request, bound, meter)
		after := meter.Measure(got).Tokens
		if again, more := rewrite.Within(got, bound, meter); more.Any() || !reflect.DeepEqual(got.Messages, again.Messages) {
			t.Fatalf("seed %d: done again it leaves out %+v", seed, more)
		}
		if same, _ := json.Marshal(request.Messages); string(same) != string(before) {
			t.Fatalf("seed %d: the request itself was changed", seed)
		}
		if size <= bound && evicted.Any() || after > size {
			t.Fatalf("seed %d: %d tokens within %d became %d, %v", seed, size, bound, after, evicted)
		}
		if _, err := got.Plan("anthropic", policy.DeliveryOf("anthropic", "claude-sonnet-4-5")); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		protected(t, seed, request, got)
		inOrder(t, seed, got, evicted, after > bound)
		for name, happened := range map[string]bool{"fits": after <= bound, "media": evicted.Media > 0, "texts": evicted.Texts > 0, "turns": evicted.Turns > 0, "too large": after > bound} {
			if happened {
				shapes[name]++
			}
		}
	}
	for _, shape := range []string{"fits", "media", "texts", "turns", "too large"} {
		if shapes[shape] < 5 {
			t.Errorf("%s happened %d times: the test proves little", shape, shapes[shape])
		}
	}
}

// protected compares what must stay: the first message, but for a note, and the last two exchanges.
func protected(t *testing.T, seed uint64, before, after llm.Request) {
	t.Helper()
	n := len(before.Messages[0].Blocks)
	if !reflect.DeepEqual(before.Messages[0].Blocks, after.Messages[0].Blocks[:n]) {
		t.Fatalf("seed %d: the prompt was changed: %v", seed, after.Messages[0])
	}
	last := min(4, len(before.Messages)-1)
	if !reflect.DeepEqual(before.Messages[len(before.Messages)-last:], after.Messages[len(after.Messages)-last:]) {
		t.Fatalf("seed %d: the last exchanges were changed: %v", seed, after.Messages)
	}
}

// inOrder looks at the old exchanges: no text result goes before the last medium in them, no turn before the last text; and
// of each kind the oldest go first. What is shorter than its stub stays, and is not looked at.
func inOrder(t *testing.T, seed uint64, got llm.Request, evicted rewrite.Evicted, over bool) {
	t.Helper()
	const mark = "[left out to fit; "
	media, texts := 0, 0 // that stay
	for _, m := range got.Messages[1:max(len(got.Messages)-4, 1)] {
		for _, b := range m.Blocks {
			result, ok := b.(content.ToolResult)
			if !ok {
				continue
			}
			for _, inner := range result.Blocks {
				if p, ok := inner.(content.Image); ok && p.Width*p.Height > 60_000 {
					media++
				} else if strings.Contains(inner.Text(), "\n"+mark) && media > 0 {
					t.Fatalf("seed %d: a newer medium went first", seed)
				}
			}
			if strings.HasPrefix(result.Output, mark) && texts > 0 {
				t.Fatalf("seed %d: a newer result went first", seed)
			} else if !strings.HasPrefix(result.Output, mark) && len(result.Text()) > 1200 {
				texts++
			}
		}
	}
	if media > 0 && (evicted.Texts > 0 || evicted.Turns > 0 || over) || texts > 0 && (evicted.Turns > 0 || over) {
		t.Fatalf("seed %d: %d media and %d texts of old results stay although %+v went", seed, media, texts, evicted)
	}
}

func TestWithin_oldestFirst(t *testing.T) {
	t.Parallel()
	request := talk(6, func(n int) content.ToolResult {
		return content.ToolResult{Output: fmt.Sprintf("result %d %s", n, strings.Repeat("words ", 200)), Blocks: []content.Block{picture(n, 600, 600)}}
	})
	meter := llm.Meter{Formula: policy.FormulaAnthropic}
	size := meter.Measure(request).Tokens
	for _, tt := range []struct {
		bound               int
		media, texts, turns int
	}{
		{size, 0, 0, 0},
		{size - 1, 1, 0, 0},
		{size - 500, 2, 0, 0},
		{size - 1600, 4, 0, 0},
		{size - 1900, 4, 1, 0},
		{size - 2900, 4, 4, 1},
		{0, 4, 4, 4},
	} {
		got, evicted := rewrite.Within(request, tt.bound, meter)
		if evicted.Media != tt.media || evicted.Texts != tt.texts || evicted.Turns != tt.turns {
			t.Errorf("within %d of %d: %+v, want %d media, %d texts, %d turns", tt.bound, size, evicted, tt.media, tt.texts, tt.turns)
		}
		if n := len(evicted.Names); n != tt.media || n > 0 && evicted.Names[0] != "p01.png" {
			t.Errorf("names %q", evicted.Names)
		}
		if tt.turns > 0 && !strings.Contains(content.Join(got.Messages[0].Blocks), "earlier turns of this conversation were left out") {
			t.Errorf("within %d: the prompt does not say that turns are missing", tt.bound)
		}
	}
}

func TestWithin_references(t *testing.T) {
	t.Parallel()
	request := talk(4, func(n int) content.ToolResult {
		return content.ToolResult{
			Output: strings.Repeat("words ", 400), Blocks: []content.Block{picture(n, 900, 900)},
			Data: json.RawMessage(`{"artifact_ref":"art_1","content_kind":"text","size_bytes":2400,"source_url":"https://e.org/\n]x","secret":"no"}`),
		}
	})
	got, _ := rewrite.Within(request, 0, llm.Meter{})
	if len(got.Messages) != 5 {
		t.Fatalf("%d messages", len(got.Messages))
	}
	request.Messages = append(request.Messages[:3:3], request.Messages[5:]...)
	request.Messages = append(request.Messages, exchange(9, content.ToolResult{Output: strings.Repeat("words ", 4000)})...)
	size := llm.Meter{}.Measure(request).Tokens
	got, evicted := rewrite.Within(request, size-2400, llm.Meter{})
	if evicted.Media != 2 || evicted.Texts != 1 {
		t.Fatalf("evicted %+v", evicted)
	}
	text := content.Join(got.Messages[2].Blocks)
	for _, want := range []string{
		`artifact_ref: "art_1"; content_kind: "text"; size_bytes: 2400; source_url: "https://e.org/\n]x". To read it again, call look as before.]`,
		`artifact_ref: "p01.png"; content_kind: "image"; media_type: "image/png"; size_bytes: 9. To read it again, call look as before.]`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "secret") {
		t.Errorf("other data is told: %s", text)
	}
}

// Reasoning that belongs to what was before it must not go back after a change: the request says where the first one is.
func TestWithin_saysWhereItChanged(t *testing.T) {
	t.Parallel()
	request := talk(5, func(int) content.ToolResult { return content.ToolResult{Output: strings.Repeat("words ", 400)} })
	size := llm.Meter{}.Measure(request).Tokens
	for name, c := range map[string]struct{ tokens, place int }{
		"nothing left out": {size, 0}, "the first result": {size - 10, 3}, "turns": {0, 1},
	} {
		if got, _ := rewrite.Within(request, c.tokens, llm.Meter{}); got.Changed != c.place {
			t.Errorf("%s: message %d, want %d", name, got.Changed, c.place)
		}
	}
}

func TestOverflow_forgetsReasoningOfAnotherConversation(t *testing.T) {
	t.Parallel()
	request := talk(2, func(int) content.ToolResult { return content.ToolResult{Output: "x"} })
	refused := &llm.Error{Class: llm.ClassBoundThinking}
	for name, c := range map[string]struct {
		raw      string
		requests int
	}{"with reasoning": {`{"wire":"anthropic"}`, 2}, "without": {"", 1}} {
		r := request
		r.Messages = slices.Clone(r.Messages)
		r.Messages[1].Raw = json.RawMessage(c.raw)
		p := &scripted{failures: []*llm.Error{refused}, answer: llm.Response{Text: "ok"}}
		_, err := rewrite.Overflow(p, rewrite.OverflowPolicy{}).Generate(t.Context(), r, nil)
		if len(p.asked) != c.requests || (err == nil) != (c.requests == 2) || err == nil && p.asked[1].Changed != 1 {
			t.Errorf("%s: %d requests, %v", name, len(p.asked), err)
		}
	}
}
