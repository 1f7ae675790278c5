package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// recordingMarks are the beginnings of the recordings of an Album, by the place where they stand, with the names that services
// have for them.
var recordingMarks = []struct {
	at    int
	mark  string
	kinds []string
}{
	{8, "WAVE", []string{"audio/wav", "wav"}},
	{0, "ID3", []string{"audio/mp3", "mp3"}},
	{4, "ftyp", []string{"video/mp4", "mp4"}},
}

// recording decodes base64 and checks that the bytes are what their type says.
func recording(encoded, kind string) (Part, error) {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return Part{}, fmt.Errorf("illegal base64: %w", err)
	}
	for _, m := range recordingMarks {
		if len(data) > m.at && strings.HasPrefix(string(data[m.at:]), m.mark) {
			if !slices.Contains(m.kinds, kind) {
				return Part{}, fmt.Errorf("%s holds %s", kind, m.kinds[0])
			}
			return Part{MediaType: m.kinds[0], Data: data}, nil
		}
	}
	return Part{}, fmt.Errorf("%s is not supported", kind)
}

// recordingPart reads audio and video of a user's message: OpenAI's audio, and OpenRouter's video.
func (o OpenAI) recordingPart(raw json.RawMessage) (Part, error) {
	var r struct {
		Type  string `json:"type"`
		Audio *struct {
			Data   string `json:"data"`
			Format string `json:"format"`
		} `json:"input_audio"`
		Video *struct {
			URL string `json:"url"`
		} `json:"video_url"`
	}
	if err := strict(raw, &r); err != nil {
		return Part{}, err
	}
	switch {
	case r.Type == "input_audio" && r.Audio != nil && r.Video == nil && slices.Contains([]string{"wav", "mp3"}, r.Audio.Format):
		return recording(r.Audio.Data, r.Audio.Format)
	case r.Type == "video_url" && r.Video != nil && r.Audio == nil && o.Kind == "openrouter":
		head, encoded, ok := strings.Cut(r.Video.URL, ";base64,")
		kind, isData := strings.CutPrefix(head, "data:")
		if !ok || !isData {
			return Part{}, errors.New("not a data URI")
		}
		return recording(encoded, kind)
	}
	return Part{}, fmt.Errorf("%s is not supported here", r.Type)
}
