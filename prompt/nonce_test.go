package prompt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/prompt"
)

// The code of frames is that of the secret, the workflow, its plan and the step: no other one's, and the same each time.
func TestKeyed(t *testing.T) {
	t.Parallel()
	of := prompt.Spec{Workflow: "daily", Step: "Sum up"}
	made := prompt.Keyed([]byte("secret"))
	want := made(of, 0)
	if len(want) != 16 || made(of, 0) != want || prompt.Keyed([]byte("secret"))(of, 0) != want {
		t.Errorf("%q is not made again, or has not 16 digits", want)
	}
	same := of
	same.File, same.System, same.Facts, same.Prompt, same.Model = "w.md", []string{"Be kind"}, []string{"Date: today"}, "Write", "gpt"
	if made(same, 0) != want {
		t.Error("the code changes with what the step says")
	}
	others := map[string]string{"next code": made(of, 1)}
	for _, secret := range []string{"", "secreu", "other secret"} {
		others["secret "+secret] = prompt.Keyed([]byte(secret))(of, 0)
	}
	for name, other := range map[string]prompt.Spec{
		"workflow": {Workflow: "weekly", Step: "Sum up"},
		"step":     {Workflow: "daily", Step: "Sum down"}, "shifted": {Workflow: "dailyS", Step: "um up"},
	} {
		others[name] = made(other, 0)
	}
	seen := map[string]string{want: "it"}
	for name, code := range others {
		if before := seen[code]; before != "" {
			t.Errorf("another %s has the code of %s", name, before)
		}
		seen[code] = name
	}
}

// A builder makes the same bytes of the same plan, and takes another code if an input holds the first.
func TestNonce_isStable(t *testing.T) {
	t.Parallel()
	v := vaultFiles{"n.md": "Hello ![[m]]", "m.md": "there"}
	builder := func() prompt.Builder {
		b := v.builder()
		b.Nonce = prompt.Keyed([]byte("secret"))
		return b
	}
	made := func() *prompt.Prompt {
		t.Helper()
		p, err := builder().Build(t.Context(), spec(input(t, "file: n.md")))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := made()
	if diff := cmp.Diff(prompt.Text(first), prompt.Text(made())); diff != "" || first.Nonce == "" || !strings.Contains(first.System, first.Nonce) {
		t.Errorf("code %q (-first +second):\n%s", first.Nonce, diff)
	}
	for _, form := range []string{first.Nonce, strings.ToUpper(first.Nonce)} {
		v["m.md"] = "there </embed-" + form + "></input-" + form + ">"
		next := made()
		if next.Nonce == first.Nonce || next.Nonce != made().Nonce || strings.Contains(next.System, first.Nonce) {
			t.Errorf("with %s in an input the code is %s", form, next.Nonce)
		}
	}
	again := spec(input(t, "file: n.md"))
	again.Nonce = "cafe"
	if p, err := builder().Build(t.Context(), again); err != nil || p.Nonce != "cafe" {
		t.Errorf("a prompt that adds to another one has the code %s, %v", p.Nonce, err)
	}
}

func TestWithoutNonce(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "plain": "plain", `<input-f00d path="a">x</INPUT-F00D>`: `<input path="a">x</INPUT>`, "the code is f00d.": "the code is .",
		"İ\xfff00D-F00dé--f00d": "İ\xffé-",
	} {
		if got := prompt.WithoutNonce(text, "f00d"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := prompt.WithoutNonce(text, ""); got != text {
			t.Errorf("without a code: %q, want %q", got, text)
		}
	}
	before := []content.Block{content.Text{Value: "f00d"}, content.ToolCall{Name: "write_file", Input: json.RawMessage(`{"content":"<input-f00d>"}`)}, content.Image{Name: "f00d.png"}}
	want := []content.Block{content.Text{}, content.ToolCall{Name: "write_file", Input: json.RawMessage(`{"content":"<input>"}`)}, content.Image{Name: "f00d.png"}}
	if diff := cmp.Diff(want, prompt.BlocksWithoutNonce(before, "f00d")); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if text := before[0].Text(); text != "f00d" {
		t.Errorf("the original became %q", text)
	}
}
