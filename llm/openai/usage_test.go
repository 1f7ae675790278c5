package openai

import (
	"encoding/json"
	"testing"

	"github.com/vaultflow/vaultflow/cost"
)

func TestUsage_byModality(t *testing.T) {
	t.Parallel()
	var u usage
	err := json.Unmarshal([]byte(`{"prompt_tokens":900,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":0,"text_tokens":100,"image_tokens":300,"audio_tokens":500,"video_tokens":-1}}`), &u)
	want := cost.Usage{InputTokens: 900, OutputTokens: 5, TextTokens: 100, ImageTokens: 300, AudioTokens: 500, CostUnknown: true}
	if got := u.total(); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}
