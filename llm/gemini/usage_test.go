package gemini

import (
	"encoding/json"
	"testing"

	"github.com/vaultflow/vaultflow/cost"
)

func TestUsage_byModality(t *testing.T) {
	t.Parallel()
	var u usage
	err := json.Unmarshal([]byte(`{"promptTokenCount":1700,"candidatesTokenCount":5,"promptTokensDetails":[
		{"modality":"TEXT","tokenCount":100},{"modality":"IMAGE","tokenCount":258},{"modality":"IMAGE","tokenCount":258},{"modality":"DOCUMENT","tokenCount":516},
		{"modality":"AUDIO","tokenCount":320},{"modality":"VIDEO","tokenCount":248},{"modality":"MODALITY_UNSPECIFIED","tokenCount":7},{"modality":"TEXT","tokenCount":-9}]}`), &u)
	want := cost.Usage{
		InputTokens: 1700, OutputTokens: 5, TextTokens: 100, ImageTokens: 516, DocumentTokens: 516, AudioTokens: 320, VideoTokens: 248, CostUnknown: true,
	}
	if got := u.total(); err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}
