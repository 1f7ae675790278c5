package step

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

// Run and preview send the same bytes; neither the answer nor a call keeps the code of the frames.
func TestNonce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.md": "Text"}, workflow.Step{Name: "one", Prompt: "Read", Set: directives.Set{Inputs: []directives.Input{{Target: fileTarget("a.md")}}}})
	w.Config.Prompt.Nonce = prompt.Keyed([]byte("secret"))
	stored := w.stored(w.assembled(w.ref()))
	shown, err := w.steps().Previewer.Preview(t.Context(), w.plan, 0, noon, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := content.MarshalBlocks(shown.Prompt.Blocks)
	if err != nil || string(blocks) != string(stored.Blocks) || shown.Prompt.System != stored.System || stored.Nonce == "" {
		t.Errorf("code %q, %v, preview:\n%s\n%s\nrun:\n%s\n%s", stored.Nonce, err, shown.Prompt.System, blocks, stored.System, stored.Blocks)
	}
	w.Reply = func(r llm.Request) (*llm.Response, error) {
		said := content.Join(r.Messages[0].Blocks)
		answer, err := steptest.Says(said)(r)
		answer.Blocks = append(answer.Blocks, content.ToolCall{ID: "1", Name: "write_file", Input: json.RawMessage(`{"content":"` + stored.Nonce + `"}`)})
		return answer, err
	}
	got, err := w.ask(w.ref())
	if err != nil {
		t.Fatal(err)
	}
	said := w.text(got.Answer)
	if !strings.Contains(said, `<input path="a.md"`) {
		t.Errorf("the answer is\n%s", said)
	}
	if kept, _, err := w.deps().Stored.Answer(t.Context(), got.Raw); err != nil || strings.Contains(said+content.Join(kept), stored.Nonce) {
		t.Errorf("%v, code %s kept in\n%s\n%s", err, stored.Nonce, said, content.Join(kept))
	}
}
