package wire

import (
	"testing"

	"github.com/vaultflow/vaultflow/policy"
)

func TestSniff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ head, mediaType, format string }{
		{"\x89PNG\r\n\x1a\n", "image/png", "png"},
		{"\xff\xd8\xff\xe0", "image/jpeg", "jpeg"},
		{"GIF89a", "image/gif", "gif"},
		{"RIFF\x24\x00\x00\x00WEBPVP8 ", "image/webp", "webp"},
		{"\x00\x00\x00\x18ftypheic", "image/heic", "heic"},
		{"%PDF-1.7", "application/pdf", "pdf"},
		{"RIFF\x24\x00\x00\x00WAVEfmt ", "audio/wav", "wav"},
		{"ID3\x04", "audio/mpeg", "mp3"},
		{"\xff\xfb\x90\x64", "audio/mpeg", "mp3"},
		{"\xff\xf1\x50\x80", "audio/aac", "aac"},
		{"fLaC\x00", "audio/flac", "flac"},
		{"OggS\x00\x02", "audio/ogg", "ogg"},
		{"FORM\x00\x00\x00\x00AIFF", "audio/aiff", "aiff"},
		{"\x00\x00\x00\x20ftypM4A ", "audio/mp4", "m4a"},
		{"\x00\x00\x00\x18ftypisom", "video/mp4", "mp4"},
		{"\x00\x00\x00\x14ftypqt  ", "video/quicktime", "mov"},
		{"\x00\x00\x00\x14ftyp3gp4", "video/3gpp", "3gp"},
		{"RIFF\x24\x00\x00\x00AVI LIST", "video/x-msvideo", "avi"},
		{"\x1a\x45\xdf\xa3\x93\x42\x82\x84webm", "video/webm", "webm"},
		{"\x1a\x45\xdf\xa3\x93\x42\x82\x88matroska", "video/x-matroska", "mkv"},
		{"FLV\x01\x05", "video/x-flv", "flv"},
		{"\x00\x00\x01\xba\x44", "video/mpeg", "mpeg"},
		{"\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9", "video/x-ms-wmv", "wmv"},
		{"plain words", "text/plain", ""},
		{"", "text/plain", ""},
		{"\x00\x01\x02", "application/octet-stream", ""},
	} {
		if mediaType, format := Sniff([]byte(c.head)); mediaType != c.mediaType || format != c.format {
			t.Errorf("%q: %s %q, want %s %q", c.head, mediaType, format, c.mediaType, c.format)
		}
	}
}

// Every format that the tables name is one that is told by its bytes.
func TestFormats_areThoseOfTheTables(t *testing.T) {
	t.Parallel()
	for _, model := range [][2]string{
		{"anthropic", "m"},
		{"bedrock", "claude"},
		{"bedrock", "nova"},
		{"bedrock", "llama"},
		{"bedrock", "mistral"},
		{"google", "gemini-2.5-pro"},
		{"google", "gemini-3"},
		{"openai_responses", "m"},
		{"openai", "m"},
		{"openrouter", "m"},
		{"xai", "m"},
		{"mistral", "m"},
		{"ollama", "m"},
		{"offline", "m"},
		{"nobody", "m"},
	} {
		for medium, names := range policy.DeliveryOf(model[0], model[1]).Formats {
			if types := mediaTypes(names); len(types) != len(names) {
				t.Errorf("%v %s: formats %v are the types %v", model, medium, names, types)
			}
		}
	}
}
