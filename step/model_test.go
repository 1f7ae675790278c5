package step

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

func TestModel_places(t *testing.T) {
	t.Parallel()
	caps, err := policy.ExactOverride([]string{"text", "vision"})
	if err != nil {
		t.Fatal(err)
	}
	m := Model{Kind: "openai_chat", ID: "seer-1", Capabilities: policy.Lookup("openai_chat", "seer-1", caps, nil)}
	prompt, tools := m.places([]content.Block{
		content.Text{Value: "look"}, content.Image{Name: "p.png"}, content.Document{Name: "d.pdf"}, content.Audio{Name: "a.mp3"}, content.Video{Name: "v.mp4"},
	})
	const lacks, refuses = "the model has no ", "openai_chat takes no video"
	want := []MediumPlace{
		{"p.png", policy.Image, policy.In, "in place in the user's turn"},
		{"d.pdf", policy.Document, policy.Convert, lacks + "pdf (settings)"},
		{"a.mp3", policy.Audio, policy.Convert, lacks + "audio_input (settings)"},
		{"v.mp4", policy.Video, policy.Refuse, refuses},
	}
	if diff := cmp.Diff(want, prompt); diff != "" {
		t.Errorf("prompt (-want +got):\n%s", diff)
	}
	want = []MediumPlace{
		{"", policy.Image, policy.After, "in a turn of its own after all tool results"},
		{"", policy.Document, policy.Convert, lacks + "pdf (settings)"},
		{"", policy.Audio, policy.Convert, lacks + "audio_input (settings)"},
		{"", policy.Video, policy.Refuse, refuses},
	}
	if diff := cmp.Diff(want, tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}
